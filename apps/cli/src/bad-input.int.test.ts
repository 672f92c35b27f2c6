import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { ContractInput } from '@kervyxa/contract';
import { VerificationResultSchema, type VerificationResult } from '@kervyxa/verifier';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CliEnd } from './testing/cli-process.ts';
import { openHelloBench, type HelloBench } from './testing/hello-bench.ts';

const EMPTY_TAR = '\0'.repeat(1_024);
const ONE_LINE_AND_FIX = /^error [A-Z0-9_]+: [^\n]+\nfix: [^\n]+\n$/;

let bench: HelloBench;
beforeAll(async () => {
  bench = await openHelloBench();
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

/** Changes the one criterion of the contract. */
function withCriterion(fields: Record<string, unknown>): (contract: ContractInput) => void {
  return ({ criteria }) => {
    for (const criterion of criteria) Object.assign(criterion, fields);
  };
}

async function verifyFrom(url: string, env?: Readonly<Record<string, string>>): Promise<CliEnd> {
  return bench.run(
    [
      'verify',
      '--json',
      '--contract',
      bench.writeContract(),
      '--repo',
      url,
      '--commit',
      bench.shas.good,
    ],
    env,
  );
}

function resultOf({ stdout }: CliEnd): VerificationResult {
  return VerificationResultSchema.parse(JSON.parse(stdout));
}

// Keeps R-BAD-INPUT.
describe('a contract file that can not be used', () => {
  it.each([
    ['that is no JSON', () => '{"title": ', 'CONTRACT_TEXT_SYNTAX'],
    ['that is not UTF-8', () => Buffer.from([0x22, 0xff, 0x22]), 'CONTRACT_TEXT_NOT_UTF8'],
    ['of 5 MB', () => `"${'x'.repeat(5_000_000)}"`, 'CONTRACT_TEXT_TOO_LARGE'],
    ['nested 100,000 deep', () => '['.repeat(100_000), 'CONTRACT_TEXT_TOO_DEEP'],
    ['with a key twice', () => '{"title":"a","title":"b"}', 'CONTRACT_KEY_DUPLICATED'],
  ])('%s is one line and a fix', async (_what, content, code) => {
    const path = join(bench.root, 'broken.json');
    writeFileSync(path, content());
    const end = await bench.run(['lint', path]);
    expect(end).toMatchObject({ exitCode: 2, stdout: '' });
    expect(end.stderr).toMatch(ONE_LINE_AND_FIX);
    expect(end.stderr).toContain(`error ${code}: `);
  });

  it('is the same line from verify, before the engine is asked for anything', async () => {
    const path = join(bench.root, 'twice.json');
    writeFileSync(path, '{"title":"a","title":"b"}');
    const end = await bench.verify('good', '--contract', path);
    expect(end).toMatchObject({ exitCode: 2, stdout: '' });
    expect(end.stderr).toMatch(ONE_LINE_AND_FIX);
    expect(end.stderr).toContain('error CONTRACT_KEY_DUPLICATED: ');
  });

  it.each([
    ['that is not there', 'absent.json', 'no such file'],
    ['that is a folder', 'folder.json', 'a folder'],
  ])('%s is one line and a fix', async (_what, name, cause) => {
    mkdirSync(join(bench.root, 'folder.json'), { recursive: true });
    const end = await bench.run(['lint', join(bench.root, name)]);
    expect(end.exitCode).toBe(2);
    expect(end.stderr).toMatch(ONE_LINE_AND_FIX);
    expect(end.stderr).toMatch(new RegExp(`^error CLI_FILE_UNREADABLE: [^\\n]* got ${cause}\\n`));
  });

  it('with an unknown key names the key and its place', async () => {
    const path = bench.writeContract((contract) => Object.assign(contract, { bonus: 1 }));
    const linted = await bench.run(['lint', path]);
    expect(linted.exitCode).toBe(1);
    expect(linted.stdout).toMatch(/json:\d+:\d+: refuse SCHEMA_INVALID\n[^]*bonus/);
    const verified = await bench.verify('good', '--contract', path);
    expect(verified).toMatchObject({ exitCode: 2, stdout: '' });
    expect(verified.stderr).toMatch(/^error CLI_CONTRACT_REFUSED: [^\n]*SCHEMA_INVALID/m);
  });
});

describe('a dependency bundle that can not be used', () => {
  const write = (name: string, content: string): string => {
    writeFileSync(join(bench.root, name), content);
    return name;
  };
  it.each([
    ['that is not there', () => 'absent.tar', 'INTAKE_PACKAGE_UNREADABLE'],
    ['that is no archive', () => write('words.tar', 'lodash'), 'INTAKE_PACKAGE_NOT_CANONICAL'],
    ['that is a folder with a link', () => linkFolder(), 'INTAKE_PACKAGE_ENTRY_REFUSED'],
    [
      'other than the one named',
      () => write('empty.tar', EMPTY_TAR),
      'CONTRACT_DEPENDENCIES_MISMATCH',
    ],
  ])(
    '%s is one line and a fix, before the engine is asked for anything',
    async (_what, make, code) => {
      const contract = bench.writeContract(({ environment }) => {
        Object.assign(environment, { dependencies: { sha256: '0'.repeat(64) } });
      });
      const deps = join(bench.root, make());
      const end = await bench.verify('good', '--contract', contract, '--deps', deps);
      expect(end).toMatchObject({ exitCode: 2, stdout: '' });
      expect(end.stderr).toMatch(ONE_LINE_AND_FIX);
      expect(end.stderr).toContain(`error ${code}: `);
    },
  );

  function linkFolder(): string {
    mkdirSync(join(bench.root, 'links'));
    symlinkSync('/etc/passwd', join(bench.root, 'links/npmrc'));
    return 'links';
  }
});

describe('a commit that is none', () => {
  it('named by a short SHA is refused with the way to the whole one', async () => {
    const end = await bench.verify(bench.shas.good.slice(0, 7));
    expect(end).toMatchObject({ exitCode: 2, stdout: '' });
    expect(end.stderr).toMatch(ONE_LINE_AND_FIX);
    expect(end.stderr).toMatch(/^error CLI_COMMIT_INVALID: [^\n]*\nfix: [^\n]*rev-parse/);
  });

  it.each([
    ['an annotated tag', () => bench.tagId],
    ['a tree', () => bench.objectId('good', '^{tree}')],
    ['a blob', () => bench.objectId('good', ':hello.sh')],
    ['nothing', () => 'f'.repeat(40)],
  ])('the SHA of %s is no commit, and passes for none', async (_what, sha) => {
    const end = await bench.verify(sha(), '--json');
    expect(end.exitCode).toBe(3);
    expect(resultOf(end)).toMatchObject({
      verdict: 'INCONCLUSIVE',
      reasons: [{ code: 'COMMIT_NOT_FOUND' }],
    });
  });
});

describe('a repository that can not be had', () => {
  it('at a host that does not answer is INCONCLUSIVE', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const address = closed.address();
    closed.close();
    await once(closed, 'close');
    if (address === null || typeof address === 'string') throw new Error('expected a port');
    const origin = `http://127.0.0.1:${address.port}`;
    const end = await verifyFrom(`${origin}/hello.git`, {
      KERVYXA_GIT_ALLOW: `${bench.server.origin},${origin}`,
    });
    expect(end.exitCode).toBe(3);
    expect(resultOf(end).reasons).toMatchObject([{ code: 'REPOSITORY_UNREACHABLE' }]);
  });

  it.each([
    ['a private address', 'https://10.0.0.1/hello.git'],
    ['loopback, mapped into IPv6', 'https://[::ffff:127.0.0.1]/hello.git'],
    ['a helper of git', 'ext::sh -c id'],
    ['an option of git', '--upload-pack=id'],
    ['credentials', 'https://user:secret@git.example.org/hello.git'],
  ])('at %s is refused with one line and a fix', async (_what, url) => {
    const end = await verifyFrom(url);
    expect(end).toMatchObject({ exitCode: 2, stdout: '' });
    expect(end.stderr).toMatch(/^error INTAKE_URL_REFUSED: [^\n]+\nfix: [^\n]+\n$/m);
  });

  it('because KERVYXA_GIT_ALLOW is no list of origins is one line and a fix', async () => {
    const end = await verifyFrom(bench.server.url('hello.git'), { KERVYXA_GIT_ALLOW: '127.0.0.1' });
    expect(end).toMatchObject({ exitCode: 2, stdout: '' });
    expect(end.stderr).toMatch(/^error CLI_GIT_ALLOW_INVALID: /);
    expect(end.stderr).toMatch(ONE_LINE_AND_FIX);
  });
});

describe('a machine that can not verify', () => {
  it('because the engine does not answer is one line and a fix, and no verdict', async () => {
    const end = await verifyFrom(bench.server.url('hello.git'), {
      DOCKER_HOST: `unix://${join(bench.root, 'nobody.sock')}`,
    });
    expect(end).toMatchObject({ exitCode: 4, stdout: '' });
    expect(end.stderr).toMatch(/^error SETUP_ENGINE_UNREACHABLE: [^\n]+\nfix: [^\n]+\n$/);
  });

  it('because the engine stops half-way is ERROR, never FAIL', async () => {
    const own = await openHelloBench();
    try {
      const started = own.proxy.carries('started');
      const process = own.startVerify('slow', '--json');
      await started;
      await own.proxy.cut();
      const end = await process.ended;
      expect(end.exitCode).toBe(4);
      expect(resultOf(end)).toMatchObject({
        verdict: 'ERROR',
        reasons: [{ code: expect.stringMatching(/^(ENGINE_UNAVAILABLE|WORKER_LOST)$/) }],
      });
      // What was running can't be removed through an engine that is gone; the next run does it.
      expect(await bench.verify('good')).toMatchObject({ exitCode: 0 });
      expect(await own.proxy.leftovers()).toEqual([]);
    } finally {
      await own.close();
    }
  });

  it('because the image is missing is ERROR with the image’s name', async () => {
    const image = `example.org/absent@sha256:${'a'.repeat(64)}`;
    const contract = bench.writeContract(({ environment }) =>
      Object.assign(environment, { image }),
    );
    const end = await bench.verify('good', '--contract', contract, '--json');
    expect(end.exitCode).toBe(4);
    expect(resultOf(end)).toMatchObject({
      verdict: 'ERROR',
      reasons: [{ code: 'IMAGE_UNAVAILABLE', subject: image }],
    });
  });
});

describe('a commit that attacks the machine', () => {
  it.each([
    ['fills /workspace', 'full', 'DISK_LIMIT'],
    ['floods its output', 'flood', 'OUTPUT_LIMIT'],
    ['forks without end', 'bomb', 'PIDS_LIMIT'],
    ['never ends and ignores SIGTERM', 'endless', 'TIME_LIMIT'],
  ] as const)('and %s FAILs for exactly that', async (_what, commit, code) => {
    const contract = bench.writeContract(withCriterion({ timeoutSeconds: 3 }));
    const end = await bench.verify(commit, '--contract', contract, '--json');
    expect(end.exitCode).toBe(1);
    expect(resultOf(end)).toMatchObject({
      verdict: 'FAIL',
      criteria: [{ id: 'says-hello', status: 'fail', reason: code }],
      reasons: [{ code, subject: 'says-hello' }],
    });
  });
});
