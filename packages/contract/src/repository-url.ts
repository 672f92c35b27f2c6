import { toPrintable } from '@kervyxa/core';

const LOCAL_NAME = /^(localhost|.*\.(localhost|local|internal|home|lan|intranet|corp|arpa|onion))$/;
/** As intake has it. */
const URL_CHARACTERS_MAX = 2_000;

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
  if (text.length > URL_CHARACTERS_MAX) return `one of more than ${URL_CHARACTERS_MAX} characters`;
  if (url.username !== '' || url.password !== '' || authorityOf(text).includes('@')) {
    return 'one with credentials';
  }
  if (text.includes('?')) return 'one with a query';
  if (text.includes('#')) return 'one with a fragment';
  if (/%(?:[01][0-9a-f]|7f|2f|5c)/i.test(url.pathname)) {
    return 'one with an encoded control character, slash or backslash';
  }
  if (/^\/*$/.test(url.pathname)) return 'a host without a repository';
  if (allowedOrigins.includes(url.origin)) return null;
  return publicProblem(url);
}

function authorityOf(text: string): string {
  return text.split('/')[2] ?? '';
}

function publicProblem({ protocol, port, hostname }: URL): string | null {
  if (protocol !== 'https:') return 'http without TLS';
  if (port !== '') return `port ${port}`;
  // The URL parser has already turned every odd spelling of an IPv4 address into four numbers (THREATS G02).
  if (hostname.startsWith('[') || /^\d+(\.\d+){3}$/.test(hostname)) {
    return 'an address instead of a name';
  }
  if (hostname.endsWith('.')) return 'a host with a dot at its end';
  return !hostname.includes('.') || LOCAL_NAME.test(hostname) ? 'a local name' : null;
}
