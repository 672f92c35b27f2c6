import { describe, expect, it } from 'vitest';
import { isPublicAddress, parseRepositoryUrl } from './url-policy.ts';

const LOCAL = 'http://127.0.0.1:8080';

describe('the URL policy', () => {
  it('hands on the URL as the parser understood it', () => {
    expect(parseRepositoryUrl('https://GitHub.com:443/a/../b/c.git', [])).toEqual({
      kind: 'ok',
      url: {
        href: 'https://github.com/b/c.git',
        protocol: 'https',
        host: 'github.com',
        port: 443,
        isAllowedOrigin: false,
      },
    });
  });

  it.each([
    ['a host behind a backslash and an at sign', 'https://github.com\\@169.254.169.254/r.git'],
    ['a newline that the parser would drop', 'https://exa\nmple.com/r.git'],
    ['a blank in front', ' https://example.com/r.git'],
    ['a zero-width blank', 'https://example.com/\u00a0r.git'],
  ])('G01 hides %s: refused as unsafe', (_attack, text) => {
    expect(parseRepositoryUrl(text, [])).toMatchObject({ problem: 'unsafe_character' });
  });

  it.each([
    ['ext::sh -c id', 'unsafe_character'],
    ['ext::id', 'not_https'],
    ['fd::3', 'not_https'],
    ['file:///etc/passwd', 'not_https'],
    ['git://example.com/r.git', 'not_https'],
    ['ssh://git@example.com/r.git', 'not_https'],
    ['git@example.com:r.git', 'malformed'],
    ['/srv/r.git', 'malformed'],
    ['--upload-pack=touch /tmp/x;', 'unsafe_character'],
    ['--upload-pack=id', 'malformed'],
    ['http::http://example.com/r.git', 'malformed'],
    ['http://example.com/r.git', 'not_https'],
    ['http://127.0.0.1:8081/r.git', 'not_https'],
    ['https:example.com/r.git', 'malformed'],
    ['https:///example.com/r.git', 'malformed'],
    ['https://user@example.com/r.git', 'credentials'],
    ['https://user:secret@example.com/r.git', 'credentials'],
    ['https://example.com/r.git?service=x', 'query_or_fragment'],
    ['https://example.com/r.git?', 'query_or_fragment'],
    ['https://example.com/r.git#x', 'query_or_fragment'],
    ['https://example.com', 'no_path'],
    ['https://example.com//', 'no_path'],
    ['https://example.com/r%0a.git', 'encoded_control'],
    ['https://example.com/a%2fb.git', 'encoded_control'],
    ['https://example.com./r.git', 'host_with_dot'],
    [`https://example.com/${'a'.repeat(2_000)}`, 'too_long'],
  ])('G07 G08 refuses %s as %s', (text, problem) => {
    expect(parseRepositoryUrl(text, [LOCAL])).toMatchObject({ kind: 'refused', problem });
  });

  it.each([
    'https://user:s3cret@example.com/r.git',
    'https://s3cret@example.com/r.git',
    'https://user:pass/s3cret@example.com/r.git',
    'https://user:s3cret@@example.com/r.git',
    'https://example.com/r.git?token=s3cret',
    'https://example.com/r.git#s3cret',
    'https://user:s3cret@example.com /r.git',
    'ssh://user:s3cret@example.com/r.git',
    'user:s3cret@example.com:r.git',
    `https://user:s3cret@example.com/${'a'.repeat(2_000)}`,
  ])('carries a secret in %s: no message repeats it', (text) => {
    const refused = parseRepositoryUrl(text, []);
    expect(refused).toMatchObject({ message: expect.stringContaining('example.com') });
    expect(JSON.stringify(refused)).not.toContain('s3cret');
  });

  it('has an at sign in its path, where it is no credential', () => {
    expect(parseRepositoryUrl('https://example.com/@scope/r.git', [])).toMatchObject({
      kind: 'ok',
      url: { href: 'https://example.com/@scope/r.git' },
    });
  });

  it('shows no escape sequence of the URL in its message', () => {
    const refused = parseRepositoryUrl('https://example.com/\u001b[2J', []);
    expect(refused).toMatchObject({ message: expect.stringContaining('\\u{1b}[2J') });
  });

  it('opens exactly the origins that the operator named', () => {
    expect(parseRepositoryUrl(`${LOCAL}/r.git`, [LOCAL])).toMatchObject({
      url: { isAllowedOrigin: true, protocol: 'http', port: 8080 },
    });
    expect(parseRepositoryUrl('http://127.0.0.1.example.com:8080/r.git', [LOCAL])).toMatchObject({
      problem: 'not_https',
    });
  });

  it.each([
    'https://2130706433/r.git',
    'https://0x7f.1/r.git',
    'https://127.1/r.git',
    'https://①②⑦.0.0.1/r.git',
    'https://[::ffff:127.0.0.1]/r.git',
    'https://[::1]/r.git',
  ])('G02 spells a loopback address as %s: its address is not public', (text) => {
    const parsed = parseRepositoryUrl(text, []);
    if (parsed.kind !== 'ok') throw new Error(parsed.message);
    expect(isPublicAddress(parsed.url.host)).toBe(false);
  });
});

describe('an address', () => {
  it.each([
    '8.8.8.8',
    '140.82.112.3',
    '2606:50c0:8000::153',
    '64:ff9b::8.8.8.8',
    '2002:808:808::1',
    '::ffff:8.8.8.8',
  ])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '192.0.2.1',
    '168.63.129.16',
    '192.168.1.1',
    '192.0.0.8',
    '192.88.99.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '240.0.0.1',
    '2002:a83f:8110::1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '2002:7f00:1::1',
    '2001:db8::1',
    '2001::1',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
    '3fff::1',
    '5f00::1',
    '100::1',
    '::ffff:0:127.0.0.1',
    '2002:c0a8:101::1',
    '64:ff9b::a9fe:a9fe',
    '400::1',
    'fc00::1',
    'fd12::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    'localhost',
    '',
  ])('G02 %s is not', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
