import { createServer } from 'node:http';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CommitShaSchema } from '@kervyxa/core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openAttackBench, type AttackBench } from './attack-bench.ts';

let bench: AttackBench;
let ids: { readonly base: string; readonly fix: string };
beforeAll(async () => {
  bench = await openAttackBench();
  ids = await bench.build('main', [
    { name: 'base', files: { 'check.sh': 'sh hello.sh\n', 'hello.sh': 'exit 1\n' } },
    { name: 'fix', parents: ['base'], files: { 'hello.sh': 'exit 0\n' } },
  ]);
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

const submit = (repository: string, more: object = {}) =>
  bench.attack('main', ids.base, { repository, commit: ids.fix, ...more });

it.each([
  ['G01', 'https://github.com\\@169.254.169.254/r.git', 'unsafe_character'],
  ['G01', 'https://github.com@169.254.169.254/r.git', 'credentials'],
  ['G01', 'https://github.com:443@127.0.0.1/r.git', 'credentials'],
  ['G01', 'https://github.com\t@127.0.0.1/r.git', 'unsafe_character'],
  ['G01', 'https://127.0.0.1\u0000.github.com/r.git', 'unsafe_character'],
  ['G01', 'https://github.com#@127.0.0.1/r.git', 'credentials'],
  ['G01', 'https://127.0.0.1?.github.com/r.git', 'query_or_fragment'],
  ['G01', 'https://[::1]%00.github.com/r.git', 'malformed'],
  ['G01', 'https://github.com/r.git%0d%0aHost:%20x', 'encoded_control'],
  ['G01', 'https://github.com/\u202er.git', 'unsafe_character'],
  ['G02', 'https://2130706433/r.git', 'private_address'],
  ['G02', 'https://017700000001/r.git', 'private_address'],
  ['G02', 'https://0x7f.1/r.git', 'private_address'],
  ['G02', 'https://127.1/r.git', 'private_address'],
  ['G02', 'https://①②⑦.0.0.1/r.git', 'private_address'],
  ['G02', 'https://127。0。0。1/r.git', 'private_address'],
  ['G02', 'https://%31%32%37.0.0.1/r.git', 'private_address'],
  ['G02', 'https://0/r.git', 'private_address'],
  ['G02', 'https://127.0.0.1./r.git', 'private_address'],
  ['G02', 'https://[::]/r.git', 'private_address'],
  ['G02', 'https://[::ffff:127.0.0.1]/r.git', 'private_address'],
  ['G02', 'https://[64:ff9b::7f00:1]/r.git', 'private_address'],
  ['G02', 'https://[2002:7f00:1::]/r.git', 'private_address'],
  ['G02', 'https://[2001:0:5ef5:79fd::1]/r.git', 'private_address'],
  ['G02', 'https://[fe80::1]:22/r.git', 'private_address'],
  ['G02', 'https://[fe80::1%25eth0]/r.git', 'malformed'],
  ['G02', 'https://[ff02::1]/r.git', 'private_address'],
  ['G02', 'https://255.255.255.255/r.git', 'private_address'],
  ['G02', 'https://224.0.0.1/r.git', 'private_address'],
  ['G02', 'https://168.63.129.16/r.git', 'private_address'],
  ['G02', 'https://example.org./r.git', 'host_with_dot'],
  ['G07', 'ext::touch${IFS}CANARY', 'not_https'],
  ['G07', 'fd::3', 'not_https'],
  ['G07', 'file:///etc/passwd', 'not_https'],
  ['G07', 'git://example.org/r.git', 'not_https'],
  ['G07', 'ssh://git@example.org/r.git', 'not_https'],
  ['G07', 'http::https://example.org/r.git', 'malformed'],
  ['G07', 'https::https://example.org/r.git', 'malformed'],
  ['G07', 'http://example.org/r.git', 'not_https'],
  ['G08', '--upload-pack=touch CANARY;:', 'unsafe_character'],
  ['G08', '--upload-pack=touch$IFS:CANARY', 'malformed'],
])('%s submits %j: INTAKE_URL_REFUSED as %s, the caller’s to mend', async (_id, url, problem) => {
  const canary = join(bench.served, 'canary');
  await expect(submit(url.replace('CANARY', canary))).rejects.toMatchObject({
    code: 'INTAKE_URL_REFUSED',
    traits: { fault: 'caller', httpStatus: 422 },
    details: { problem },
  });
  expect(existsSync(canary)).toBe(false);
});

it.each([
  '--upload-pack=x',
  `-${'a'.repeat(39)}`,
  `${'a'.repeat(40)}\n`,
  `${'a'.repeat(40)}\n--upload-pack=x`,
  'A'.repeat(40),
  'a'.repeat(39),
  'HEAD',
  `${'a'.repeat(40)}^{tree}`,
])('G08 submits the commit %j: refused before anything else', (text) => {
  expect(CommitShaSchema.safeParse(text).success).toBe(false);
});

it.each([
  ['one address inside', ['127.0.0.1']],
  ['one outside and one inside', ['8.8.8.8', '::ffff:10.0.0.1']],
  ['the host of a cloud', ['169.254.169.254']],
  ['something that is no address', ['8.8.8.8.example.org']],
])('G02 G04 has a name with %s: INTAKE_URL_REFUSED', async (_what, addresses) => {
  const refused = submit('https://+evil.example.org/r.git', {
    intake: { resolveHost: async () => addresses },
  });
  await expect(refused).rejects.toMatchObject({
    code: 'INTAKE_URL_REFUSED',
    details: { problem: 'private_address' },
  });
});

it.each(['rebinding.invalid', '+rebinding.invalid', '-rebinding.invalid', '*.invalid'])(
  'G04 has the name %s, which resolves to another address each time: PASS from the first one',
  async (host) => {
    const origin = `http://${host}:${new URL(bench.server.origin).port}`;
    bench.allowOrigin(origin);
    const answers = [['127.0.0.1']];
    const { said } = await submit(`${origin}/main.git`, {
      intake: { resolveHost: async () => answers.pop() ?? ['192.0.2.1'] },
    });
    expect(said).toBe('PASS');
  },
);

it('G03 redirects to a host inside: INCONCLUSIVE REPOSITORY_UNREACHABLE, not followed', async () => {
  const inside = await bench.startServer({});
  const server = await bench.startServer({ redirectTo: inside.origin });
  const { said, reasons } = await submit(server.url('main.git'));
  expect(said).toBe('INCONCLUSIVE REPOSITORY_UNREACHABLE');
  expect(reasons[0]?.message).toContain('give the final URL');
  expect(inside.requests).toEqual([]);
});

it('G09 asks for a password, at once or for the fetch: INCONCLUSIVE REPOSITORY_UNREACHABLE', async () => {
  const sent: string[] = [];
  const server = createServer((request, response) => {
    sent.push(JSON.stringify(request.headers));
    response.writeHead(401, { 'www-authenticate': 'Basic realm="give me"' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  bench.allowOrigin(`http://127.0.0.1:${port}`);
  const { said, reasons } = await submit(`http://127.0.0.1:${port}/r.git`);
  server.close();
  expect(said).toBe('INCONCLUSIVE REPOSITORY_UNREACHABLE');
  expect(reasons[0]?.message).toContain('must be public');
  expect(sent).toHaveLength(1);
  expect(sent[0]).not.toMatch(/authorization/i);
});
