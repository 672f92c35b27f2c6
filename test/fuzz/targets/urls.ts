import { deepEqual, ok } from 'node:assert/strict';
import { BlockList } from 'node:net';
import { domainToASCII } from 'node:url';
import { repositoryUrlProblem } from '@kervyxa/contract';
import * as fc from 'fast-check';
import {
  isPublicAddress,
  parseRepositoryUrl,
} from '../../../packages/intake/src/git/url-policy.ts';
import { soup } from '../arbitraries.ts';
import { defineTarget } from '../target.ts';

const WORDS = [
  'https://',
  'http://',
  'https:',
  '//',
  'ext::',
  'git.example.org',
  'github.com',
  '127.0.0.1',
  '2130706433',
  '0x7f.1',
  '[::1]',
  '[::ffff:7f00:1]',
  '①②⑦.0.0.1',
  'localhost',
  ':443',
  ':80',
  '/',
  '/a.git',
  '/b',
  '@',
  'user:pw@',
  '\\',
  '?q',
  '#f',
  '%2f',
  '%00',
  '%40',
  '..',
  '.',
  ' ',
  '\t',
  '\n',
  '\u00a0',
  '\u3002',
  '\u200b',
  'é.example',
  'ẞ',
  'HTTPS://',
  ';',
  '|',
  '-',
  '`id`',
  '$(id)',
];
const url = fc.oneof(
  soup(WORDS, 7),
  soup(WORDS, 5).map((text) => `https://${text}`),
  fc.webUrl({ validSchemes: ['https'], withQueryParameters: true }),
  fc.string({ unit: 'binary', maxLength: 20 }).map((text) => `https://git.example.org/${text}`),
);

export const urlTarget = defineTarget('repository URL', {
  input: url,
  holds(text) {
    const parsed = parseRepositoryUrl(text, []);
    const problem = repositoryUrlProblem(text, []);
    if (parsed.kind === 'refused') return;
    const { href, host, port, protocol } = parsed.url;
    deepEqual(protocol, 'https');
    const wanted = splitNaively(text);
    ok(wanted !== null, `took ${JSON.stringify(text)}`);
    deepEqual({ host, port }, { host: wanted.host, port: wanted.port });
    // What git sees says the same to whoever splits it at its slashes, and to us once more.
    deepEqual(splitNaively(href), { ...wanted, path: splitNaively(href)?.path });
    deepEqual(parseRepositoryUrl(href, []), parsed);
    if (problem === null) ok(host.includes('.') && port === 443 && !/^[\d.]+$/.test(host));
  },
});

export const addressTarget = defineTarget('address of a host', {
  input: fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.ipV4().map((four) => `::ffff:${four}`),
  ),
  holds(address) {
    if (isPublicAddress(address)) ok(!isInside(address), `${address} is taken for public`);
  },
});

/** Scheme, host and path as somebody reads them who knows no rule but where the slashes are. */
function splitNaively(text: string): { host: string; port: number; path: string } | null {
  if (!text.toLowerCase().startsWith('https://')) return null;
  const rest = text.slice('https://'.length);
  const slash = rest.indexOf('/');
  if (slash < 1) return null;
  const authority = rest.slice(0, slash);
  const path = rest.slice(slash);
  const odd = /[@\\?#\s\u0000-\u001f\u007f]/;
  if (odd.test(authority) || /[\\?#\s\u0000-\u001f\u007f]/.test(path)) return null;
  const [, name = '', digits] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(authority) ?? [];
  const host = domainToASCII(name).replace(/^\[(.*)\]$/, '$1');
  return host === '' ? null : { host, port: Number(digits || '443'), path };
}

const INSIDE = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  INSIDE.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
  ['2001:db8::', 32],
] as const) {
  INSIDE.addSubnet(network, prefix, 'ipv6');
}

function isInside(address: string): boolean {
  return INSIDE.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
}
