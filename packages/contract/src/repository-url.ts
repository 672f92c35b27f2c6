import { toPrintable } from '@kervyxa/core';

const LOCAL_NAME = /^(localhost|.*\.(localhost|local|internal|home|lan|intranet|corp|arpa|onion))$/;

/**
 * What keeps a text from being a repository's public address, as the end of "got …", or null. Static: what the name
 * resolves to is asked at every fetch. An origin of `allowedOrigins` may be http, local and on any port.
 */
export function repositoryUrlProblem(
  text: string,
  allowedOrigins: readonly string[],
): string | null {
  // Programs disagree about these (THREATS G01), so they are refused before anything parses the text.
  if (/[ \u00a0\\]/.test(text) || toPrintable(text, text.length) !== text) {
    return 'one with a blank, backslash, control or invisible character';
  }
  if (!/^https?:\/\/[^/]/.test(text)) return 'another scheme or no URL';
  const url = URL.parse(text);
  if (url === null) return 'no URL';
  if (url.username !== '' || url.password !== '' || authorityOf(text).includes('@')) {
    return 'one with credentials';
  }
  if (text.includes('?')) return 'one with a query';
  if (text.includes('#')) return 'one with a fragment';
  if (allowedOrigins.includes(url.origin)) return null;
  return publicProblem(url);
}

function authorityOf(text: string): string {
  return text.split('/')[2] ?? '';
}

function publicProblem({ protocol, port, hostname, pathname }: URL): string | null {
  if (protocol !== 'https:') return 'http without TLS';
  if (port !== '') return `port ${port}`;
  // The URL parser has already turned every odd spelling of an IPv4 address into four numbers (THREATS G02).
  if (hostname.startsWith('[') || /^\d+(\.\d+){3}$/.test(hostname)) {
    return 'an address instead of a name';
  }
  if (hostname.endsWith('.')) return 'a host with a dot at its end';
  if (!hostname.includes('.') || LOCAL_NAME.test(hostname)) return 'a local name';
  return pathname === '/' ? 'a host without a repository' : null;
}
