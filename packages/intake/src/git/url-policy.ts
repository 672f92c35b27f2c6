import { toPrintable } from '@kervyxa/core';
import ipaddr from 'ipaddr.js';

/** A URL that may be handed to git, once its host's addresses are checked too. */
export interface RepositoryUrl {
  /** The only form that git sees: built again from the parsed parts, so git can't read another host in it (G01). */
  readonly href: string;
  readonly protocol: 'https' | 'http';
  /** Without the brackets of a v6 address. */
  readonly host: string;
  readonly port: number;
  /** The operator opened this origin: its address is not checked. */
  readonly isAllowedOrigin: boolean;
}

export type UrlProblem =
  | 'too_long'
  | 'unsafe_character'
  | 'malformed'
  | 'not_https'
  | 'credentials'
  | 'query_or_fragment'
  | 'no_path'
  | 'encoded_control'
  | 'host_with_dot';

export type ParsedUrl =
  | { readonly kind: 'ok'; readonly url: RepositoryUrl }
  | { readonly kind: 'refused'; readonly problem: UrlProblem; readonly message: string };

const URL_CHARACTERS_MAX = 2_000;

const MESSAGES: Readonly<Record<UrlProblem, string>> = {
  too_long: `at most ${URL_CHARACTERS_MAX} characters`,
  unsafe_character: 'no spaces, control or invisible characters or backslashes',
  malformed: 'a URL',
  not_https: 'https',
  credentials: 'no user name or password',
  query_or_fragment: 'no query and no fragment',
  no_path: 'a path that names a repository',
  encoded_control: 'no encoded control characters, slashes or backslashes in the path',
  host_with_dot: 'a host without a dot at its end',
};

/** Parses a repository URL once, for everyone. `allowedOrigins` are exact, like `http://127.0.0.1:8080`. */
export function parseRepositoryUrl(text: string, allowedOrigins: readonly string[]): ParsedUrl {
  const refuse = (problem: UrlProblem): ParsedUrl => ({
    kind: 'refused',
    problem,
    message: `expected a repository URL with ${MESSAGES[problem]}, got "${toPrintable(withoutSecrets(text), 200)}"`,
  });
  if (text.length > URL_CHARACTERS_MAX) return refuse('too_long');
  // The URL parser drops or rewrites these without a word, so they are looked for in the text itself.
  const isPrintable = toPrintable(text, text.length) === text;
  if (!isPrintable || /[\s\u00a0\\]/.test(text)) return refuse('unsafe_character');
  const url = URL.parse(text);
  if (url === null) return refuse('malformed');
  const isAllowedOrigin = allowedOrigins.includes(url.origin);
  const protocol = url.protocol.slice(0, -1);
  if (protocol !== 'https' && !(protocol === 'http' && isAllowedOrigin)) return refuse('not_https');
  // `https:host` and `https:///host` parse too, but another reader would see a path in them.
  if (!/^https?:\/\/[^/]/i.test(text)) return refuse('malformed');
  if (url.username !== '' || url.password !== '' || authorityOf(text).includes('@')) {
    return refuse('credentials');
  }
  if (/[?#]/.test(text)) return refuse('query_or_fragment');
  if (/^\/*$/.test(url.pathname)) return refuse('no_path');
  if (/%(?:[01][0-9a-f]|7f|2f|5c)/i.test(url.pathname)) return refuse('encoded_control');
  // One host under two names.
  if (url.hostname.endsWith('.')) return refuse('host_with_dot');
  const port = Number(url.port === '' ? (protocol === 'https' ? 443 : 80) : url.port);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return { kind: 'ok', url: { href: url.href, protocol, host, port, isAllowedOrigin } };
}

function authorityOf(text: string): string {
  return text.split('/')[2] ?? '';
}

/** For messages, which are logged: up to the last `@` may be a password, wherever it ends, and a query may be a token. */
function withoutSecrets(text: string): string {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*:\/\/)?([^]*)$/i.exec(text) ?? [];
  const shown = rest
    .slice(rest.lastIndexOf('@') + 1)
    .replace(/[?#][^]+$/, (query) => `${query.charAt(0)}…`);
  return `${scheme}${rest.includes('@') ? '…@' : ''}${shown}`;
}

/** True for the text of an IPv4 or IPv6 address. */
export function isAddress(host: string): boolean {
  return ipaddr.isValid(host);
}

/**
 * True where an address belongs to the public internet. An address that carries another one in it (mapped, NAT64,
 * 6to4) is judged by what it carries, because that is where packets go.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (address.kind() === 'ipv4') {
    return address.range() === 'unicast' && address.toString() !== CLOUD_HOST_V4;
  }
  const bytes = address.toByteArray();
  const range = address.range();
  if (range === 'rfc6052') return isPublicV4(bytes.slice(12, 16));
  if (range === '6to4') return isPublicV4(bytes.slice(2, 6));
  // Global unicast is 2000::/3; the rest, like fec0::/10 and ::/96, is not routed but may be inside somebody's network.
  return range === 'unicast' && ((bytes[0] ?? 0) & 0xe0) === 0x20;
}

/** In the public range by number, but inside of Azure's network: every machine there reaches its host under it. */
const CLOUD_HOST_V4 = '168.63.129.16';

function isPublicV4(bytes: number[]): boolean {
  return isPublicAddress(bytes.join('.'));
}
