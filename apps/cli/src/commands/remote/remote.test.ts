import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../cli.ts';
import { fakeHost } from '../../testing/fake-host.ts';

async function run(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const host = fakeHost({ env });
  const exitCode = await runCli(argv, host);
  return { exitCode, stdout: host.stdout.text(), stderr: host.stderr.text() };
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Runs a command against an API of which `handle` says what it answers. */
async function runAgainst(handle: Handler, ...argv: readonly string[]) {
  const server = createServer(handle);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  try {
    return await run(argv, { ...KEY, KERVYXA_URL: `http://127.0.0.1:${port}` });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  }
}

/** Answers by path, with or without its query. */
function answering(answers: Readonly<Record<string, readonly [number, unknown]>>): Handler {
  return ({ url = '' }, response) => {
    const [status, answer] = answers[url] ?? [404, { code: 'API_NOT_FOUND' }];
    response.writeHead(status).end(JSON.stringify(answer));
  };
}

const KEY = { KERVYXA_KEY: 'kvx_key' };
const ID = '0'.repeat(26);

// Keeps R-CLI-CODES.
describe('a command that asks an API', () => {
  it('takes its key from the environment alone, where no other user reads it', async () => {
    const { exitCode, stderr } = await run(['review', 'list']);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('KERVYXA_KEY')]);
    expect((await run(['review', 'list', '--key', 'kvx_key'], KEY)).exitCode).toBe(2);
  });

  it.each(['ftp://example.com', 'nowhere', 'file:///etc/passwd'])(
    'asks no address of another kind: %s',
    async (url) => {
      const { exitCode, stderr } = await run(['review', 'list', '--url', url], KEY);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('CLI_SETTING_INVALID')]);
    },
  );

  it('says that nobody answers', async () => {
    // Port 9 is the discard service, which nothing here offers.
    const url = 'http://127.0.0.1:9';
    const { exitCode, stderr } = await run(['check', 'show', `chk_${ID}`, '--url', url], KEY);
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining('CLI_API_UNREACHABLE')]);
  });

  it('sets no problem of a campaign’s folder: its paths are others', async () => {
    const root = mkdtempSync(join(tmpdir(), 'kervyxa-campaign-'));
    try {
      const folder = join(root, 'campaign');
      await run(['checker', 'init', '--campaign', folder]);
      const { exitCode, stderr } = await run(['problem', 'create', folder], KEY);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('got none, or a campaign')]);
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  it.each([
    [['review', 'judge', `chk_${ID}`, `sea_${ID}`, '--judgment', 'maybe', '--statement', 'x']],
    [['review', 'claim', `chk_${ID}`]],
    [['check', 'report', `chk_${ID}`]],
    [['check', 'report', `chk_${ID}`, '--stage', 'yield', '--signature', 'AA==']],
    [['check', 'report', `chk_${ID}`, '--stage', 'yield', '--signed-by', 'ab'.repeat(32)]],
    [['entry', 'submit', `prb_${ID}`]],
    [['entry', 'submit', `prb_${ID}`, '--file', 'answer.json']],
    [['entry', 'submit', `prb_${ID}`, '--file', 'answer=/no/such/file']],
  ])('is refused before anybody is asked: %j', async (argv) => {
    expect((await run(argv, KEY)).exitCode).toBe(2);
  });

  it.each([
    [['problem', 'open', 'prb_1'], 'prb_…'],
    [['check', 'show', `prb_${ID}`], 'chk_…'],
    [['review', 'release', `chk_${ID}`, 'sea_/../x'], 'sea_…'],
    [['problem', 'create', '.', '--contract', 'vct_1'], 'vct_…'],
  ])('names an id that is none: %j', async (argv, form) => {
    const { exitCode, stderr } = await run(argv, KEY);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error CLI_USAGE_INVALID: /);
    expect(stderr).toContain(`expected an id such as ${form}`);
  });

  it('ends without a defect where the answer breaks off', async () => {
    const { exitCode, stderr } = await runAgainst(
      (_request, response) => {
        response.writeHead(200, { 'content-length': 100 }).write('{"items"');
        setImmediate(() => response.destroy());
      },
      'review',
      'list',
    );
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining('CLI_API_UNREACHABLE')]);
  });

  it.each([[['items']], ['well'], [null]])(
    'ends without a defect where a success is no object: %j',
    async (answer) => {
      const handle = answering({ '/v1/reviews': [200, answer] });
      const { exitCode, stderr } = await runAgainst(handle, 'review', 'list');
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('CLI_API_REFUSED')]);
    },
  );

  it.each([
    [['problem', 'list'], '/v1/problems'],
    [['check', 'list', `prb_${ID}`], `/v1/problems/prb_${ID}/checks`],
    [['review', 'list'], '/v1/reviews'],
    [['checker', 'list'], '/v1/checkers'],
  ])('goes on after a page: %j', async (argv, path) => {
    const handle = answering({ [`${path}?after=7`]: [200, { items: [], next: '5' }] });
    const { exitCode, stdout } = await runAgainst(handle, ...argv, '--after', '7');
    expect([exitCode, stdout]).toEqual([0, 'none\n\nnext  5\n']);
  });

  it('shows a published contract with how its programs conform', async () => {
    const id = `vct_${ID}`;
    const contract = {
      id,
      versionNumber: 2,
      isCurrent: true,
      document: {
        title: 'long',
        submission_requirements: { required_artifacts: [{ role: 'answer' }] },
      },
    };
    const program = { stageKey: 'sums', state: 'CONFORMANT', isCurrent: true };
    const handle = answering({
      [`/v1/checkers/${id}`]: [200, contract],
      [`/v1/checkers/${id}/implementations`]: [200, { items: [program], next: null }],
    });
    const shown = await runAgainst(handle, 'checker', 'show', id);
    expect(shown.stdout).toMatch(/^versionNumber +2$/m);
    expect(shown.stdout).toMatch(/^ +state +CONFORMANT$/m);
    expect(shown.stdout).toMatch(/^ +- role +answer$/m);
    expect(shown.stdout).not.toContain('long');
    const { stdout } = await runAgainst(handle, 'checker', 'show', id, '--json');
    expect(JSON.parse(stdout)).toEqual({ ...contract, programs: [program] });
  });
});

describe('kervyxa entry submit', () => {
  it('sends nothing in a role that the contract does not ask for, and names those that it does', async () => {
    const required_artifacts = [{ role: 'answer' }, { role: 'method' }];
    const asked: (string | undefined)[] = [];
    const handle = answering({
      [`/v1/problems/prb_${ID}`]: [200, { contractId: `vct_${ID}` }],
      [`/v1/checkers/vct_${ID}`]: [
        200,
        { document: { submission_requirements: { required_artifacts } } },
      ],
    });
    const { exitCode, stderr } = await runAgainst(
      (request, response) => {
        asked.push(request.method);
        handle(request, response);
      },
      'entry',
      'submit',
      `prb_${ID}`,
      '--file',
      `nope=${import.meta.filename}`,
    );
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining('expected --file for a role (answer, method), got "nope"'),
    ]);
    expect(asked).toEqual(['GET', 'GET']);
  });
});

describe('kervyxa problem create', () => {
  it('says how to go on where the contract of the folder is published already', async () => {
    const root = mkdtempSync(join(tmpdir(), 'kervyxa-problem-'));
    try {
      const folder = join(root, 'sums');
      await run(['checker', 'init', folder]);
      const details = { slug: 'sums', title: 'Sums', summary: 'Sums are to be right.' };
      writeFileSync(join(folder, 'problem.json'), JSON.stringify(details));
      writeFileSync(join(folder, 'statement.md'), 'Add up.');
      const duplicate = { code: 'DB_VERIFIER_DUPLICATE', detail: 'expected another name' };
      const again = await runAgainst(
        answering({
          '/v1/packages': [201, { sha256: 'ab'.repeat(32) }],
          '/v1/checkers': [409, duplicate],
        }),
        'problem',
        'create',
        folder,
      );
      expect(again.exitCode).toBe(2);
      expect(again.stderr).toMatch(/^error CLI_API_REFUSED: DB_VERIFIER_DUPLICATE: .*"Sums"/);
      expect(again.stderr).toMatch(/^fix: .*--contract vct_…/m);

      const broken = await runAgainst(
        answering({
          '/v1/packages': [201, { sha256: 'ab'.repeat(32) }],
          '/v1/checkers': [201, { id: `vct_${ID}` }],
          '/v1/problems': [503, { code: 'API_BUSY' }],
        }),
        'problem',
        'create',
        folder,
      );
      expect(broken.stderr).toMatch(`published vct_${ID}\nerror CLI_API_REFUSED: API_BUSY`);
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});
