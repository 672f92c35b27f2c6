import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleContract } from '../testing/sample-contract.ts';
import { createWorld, type World } from '../testing/world.ts';

let world: World;
let contractId: string;

beforeAll(async () => {
  world = await createWorld();
  contractId = await world.openContract();
});

afterAll(async () => world.close());

const JSON_TYPE = { 'content-type': 'application/json' };
const COMMIT = '1'.repeat(40);
const URL_OK = 'https://git.example.org/a.git';

/** The body as it is written here: nothing of it is made by a serializer. */
async function send(url: string, text: string, headers: Record<string, string> = JSON_TYPE) {
  const { operator, requester, solver } = world.people;
  const who = url.includes('/contracts/')
    ? solver
    : url.endsWith('/contracts')
      ? requester
      : operator;
  return world.ask(who, 'POST', url, text, headers);
}

// Keeps R-API-STRICT.
describe('the body of a deposit', () => {
  const deposit = (amount: string, more = '') =>
    `{"principalId":"prn_${'0'.repeat(26)}","amountMinor":${amount},"currency":"USD","reference":"strict"${more}}`;

  it.each([
    ['S07 null', 'null'],
    ['S07 true', 'true'],
    ['S07 a list', '[7]'],
    ['S07 a number', '5'],
    ['S07 nothing', '""'],
    ['S08 a number beyond 2^53', '9007199254740993'],
    ['S08 a number beyond all', '1e400'],
    ['S08 a text beyond 63 bits', '"9223372036854775808"'],
    ['S08 a text with an exponent', '"1e3"'],
    ['S08 zero', '"0"'],
    ['S08 less than nothing', '"-1"'],
    ['S08 a fraction', '"1.5"'],
    ['S08 a leading zero', '"01"'],
    ['S08 blanks around it', '" 5 "'],
    ['S09 digits of another script', '"٥"'],
  ])('%s for an amount: refused at its place', async (_what, amount) => {
    const answer = await send('/v1/deposits', deposit(amount));
    expect(answer).toMatchObject({ status: 422, code: 'API_REQUEST_INVALID' });
    expect(answer.fields.errors).toMatchObject([{ pointer: '/amountMinor' }]);
  });

  it.each([
    ['S16 a role that nobody gave', ',"role":"admin"'],
    ['S12 __proto__', ',"__proto__":{"amountMinor":"1"}'],
    ['S12 constructor', ',"constructor":{"prototype":{}}'],
  ])('%s: an unknown key is refused', async (_what, more) => {
    const answer = await send('/v1/deposits', deposit('"5"', more));
    expect(answer).toMatchObject({ status: 422, code: 'API_REQUEST_INVALID' });
  });

  it.each([
    ['a key twice', deposit('"5"', ',"amountMinor":"6"'), 'API_BODY_NOT_JSON'],
    ['a comment', '{/* */}', 'API_BODY_NOT_JSON'],
    ['a trailing comma', '{"a":1,}', 'API_BODY_NOT_JSON'],
    ['no JSON', 'amount=5', 'API_BODY_NOT_JSON'],
    ['NaN', '{"amountMinor":NaN}', 'API_BODY_NOT_JSON'],
    ['65 levels', `${'['.repeat(65)}${']'.repeat(65)}`, 'API_BODY_NOT_JSON'],
    ['a list', '[]', 'API_REQUEST_INVALID'],
    ['null', 'null', 'API_REQUEST_INVALID'],
    ['nothing', '', 'API_REQUEST_INVALID'],
    ['more than 64 KiB', `"${'a'.repeat(65_535)}"`, 'API_BODY_TOO_LARGE'],
  ])('is %s', async (_what, text, code) => {
    expect((await send('/v1/deposits', text)).code).toBe(code);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json-patch+json', 'x'])(
    'is called %s',
    async (type) => {
      const answer = await send('/v1/deposits', '{}', { 'content-type': type });
      expect(answer).toMatchObject({ status: 415, code: 'API_MEDIA_TYPE_UNSUPPORTED' });
    },
  );
});

describe('the source of a submission', () => {
  const source = (url: string, commit: string) => JSON.stringify({ repositoryUrl: url, commit });

  it.each([
    ['S14 another scheme', 'ext::sh -c id'],
    ['S14 a script', 'javascript:alert(1)'],
    ['S14 a file', 'file:///etc/passwd'],
    ['S14 two hosts', 'https://github.com\\@169.254.169.254/r.git'],
    ['S14 credentials', 'https://me:secret@git.example.org/a.git'],
    ['S14 an address', 'https://2130706433/a.git'],
    ['S14 this machine', 'https://localhost/a.git'],
    ['S14 no TLS', 'http://git.example.org/a.git'],
    ['S14 an option', '--upload-pack=touch /tmp/x'],
    ['S14 a line break', 'https://git.example.org/a.git\nx'],
  ])('%s: refused', async (_what, url) => {
    const answer = await send(`/v1/contracts/${contractId}/submissions`, source(url, COMMIT));
    expect(answer).toMatchObject({ status: 422, code: 'API_REPOSITORY_URL_REFUSED' });
    expect(answer.text).not.toContain('secret');
  });

  it.each([
    ['upper case', 'A'.repeat(40)],
    ['39 digits', '1'.repeat(39)],
    ['41 digits', '1'.repeat(41)],
    ['a line more', `${COMMIT}\n--upload-pack=x`],
    ['a branch', 'main'],
    ['SHA-256', '1'.repeat(64)],
  ])('S15 a commit as %s: refused', async (_what, commit) => {
    const answer = await send(`/v1/contracts/${contractId}/submissions`, source(URL_OK, commit));
    expect(answer.code).toBe('API_REQUEST_INVALID');
    expect(answer.fields.errors).toMatchObject([{ pointer: '/commit' }]);
  });
});

describe('a contract', () => {
  it('has a key twice or a mistake in its JSON: told with line and column', async () => {
    const twice = await send('/v1/contracts', '{"title":"a",\n "title":"b"}');
    expect(twice).toMatchObject({ status: 422, code: 'CONTRACT_KEY_DUPLICATED' });
    expect(twice.fields.details).toEqual({ line: 2, column: 2 });
    const broken = await send('/v1/contracts', '{"title":\n}');
    expect(broken.code).toBe('CONTRACT_TEXT_SYNTAX');
  });

  it('is refused on form with every finding at once', async () => {
    const { title: _title, ...contract } = sampleContract();
    const document = { ...contract, bonus: 1, repository: { url: 'x', baseCommit: 'HEAD' } };
    const answer = await send('/v1/contracts', JSON.stringify(document));
    expect(answer).toMatchObject({ status: 422, code: 'API_CONTRACT_REFUSED' });
    const { findings } = answer.fields.details as { findings: { code: string; pointer: string }[] };
    expect(findings.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual(
      expect.arrayContaining([
        'SCHEMA_INVALID /bonus',
        'SCHEMA_INVALID /title',
        'BASE_COMMIT_NOT_PINNED /repository/baseCommit',
        'REPOSITORY_URL_REFUSED /repository/url',
      ]),
    );
  });

  it('is kept as a draft with what approval will refuse', async () => {
    const [first] = sampleContract().criteria;
    const document = sampleContract({ criteria: [{ ...first, command: 'npm test || true' }] });
    const answer = await send('/v1/contracts', JSON.stringify(document));
    expect(answer.status).toBe(201);
    const { findings } = answer.fields.approval as { findings: { code: string }[] };
    expect(findings.map(({ code }) => code)).toContain('EXIT_CODE_MASKED');
  });

  it('names a package of somebody else, or one that nobody has: the same answer', async () => {
    const { people } = world;
    const tar = Buffer.alloc(1_024);
    const type = { 'content-type': 'application/x-tar' };
    const theirs = await world.ask(people.otherRequester, 'POST', '/v1/packages', tar, type);
    expect(theirs.status).toBe(201);
    const answers = [];
    for (const sha256 of [String(theirs.fields.sha256), 'f'.repeat(64)]) {
      const document = sampleContract({ verifierPackage: { sha256 } });
      const answer = await send('/v1/contracts', JSON.stringify(document));
      answers.push({ ...answer.fields, instance: '' });
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).toMatchObject({ status: 422, code: 'API_PACKAGE_UNKNOWN' });
  });

  it('invites somebody by a name instead of an id: refused with the place', async () => {
    const submission = { ...sampleContract().submission, policy: 'INVITE_ONLY', invited: ['bob'] };
    const answer = await send('/v1/contracts', JSON.stringify(sampleContract({ submission })));
    expect(answer.fields).toMatchObject({
      code: 'API_CONTRACT_REFUSED',
      details: { pointer: '/submission/invited/0' },
    });
  });
});

describe('paths, queries and methods', () => {
  it.each([
    ['GET', '/v1/contracts/1', 422, 'API_REQUEST_INVALID'],
    ['GET', `/v1/contracts/sub_${'0'.repeat(26)}`, 422, 'API_REQUEST_INVALID'],
    ['GET', '/v1/contracts/%00', 422, 'API_REQUEST_INVALID'],
    ['GET', '/v1/contracts?limit=0', 422, 'API_REQUEST_INVALID'],
    ['GET', '/v1/contracts?limit=201', 422, 'API_REQUEST_INVALID'],
    ['GET', '/v1/contracts?limit=1e1', 422, 'API_REQUEST_INVALID'],
    ['GET', '/v1/contracts?limit=1&limit=2', 422, 'API_REQUEST_INVALID'],
    ['GET', '/v1/contracts?offset=1', 422, 'API_REQUEST_INVALID'],
    ['GET', '/v1/contracts?state=open', 422, 'API_REQUEST_INVALID'],
    ['GET', '/v1/me?verbose=true', 422, 'API_REQUEST_INVALID'],
    ['GET', '/v1/%zz', 400, 'API_REQUEST_MALFORMED'],
    ['GET', '/v1/nothing', 404, 'API_ROUTE_UNKNOWN'],
    ['GET', '/v1/contracts/', 422, 'API_REQUEST_INVALID'],
    ['GET', '/v1/contracts?after=x', 400, 'DB_CURSOR_INVALID'],
    ['GET', '/v1/contracts?after=..%2F', 422, 'API_REQUEST_INVALID'],
    ['GET', '/V1/contracts', 404, 'API_ROUTE_UNKNOWN'],
    ['POST', '/v1/me', 405, 'API_METHOD_NOT_ALLOWED'],
    ['POST', '/healthz', 405, 'API_METHOD_NOT_ALLOWED'],
    ['GET', '/v1/deposits', 405, 'API_METHOD_NOT_ALLOWED'],
  ] as const)('%s %s: %i', async (method, url, status, code) => {
    expect(await world.ask(world.people.operator, method, url)).toMatchObject({ status, code });
  });

  it('names the methods that a path takes', async () => {
    const { headers } = await world.ask(world.people.operator, 'POST', '/v1/me');
    expect(headers.allow).toBe('GET');
  });

  it('walks through a list page by page, each item once', async () => {
    const all = await world.ask(world.people.operator, 'GET', '/v1/ledger/transfers');
    const walked = [];
    let after = '';
    do {
      const url: string = `/v1/ledger/transfers?limit=1${after === '' ? '' : `&after=${after}`}`;
      const page = await world.ask(world.people.operator, 'GET', url);
      walked.push(...page.items);
      after = String(page.fields.next ?? '');
    } while (after !== '');
    expect(walked).toEqual(all.items);
    expect(walked.length).toBeGreaterThan(1);
  });
});
