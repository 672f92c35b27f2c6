import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { TREE_RULES } from '@kervyxa/contract';
import { CommitShaSchema } from '@kervyxa/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandContext } from '../context.ts';
import { watchInterrupts } from '../io/interrupts.ts';
import { fakeHost, type FakeHost } from '../testing/fake-host.ts';
import { loadCheckerPackage } from '../io/checker-package.ts';
import { contractInput, CHECKER_FOLDER, withChecker } from '../testing/sample-contract.ts';
import { runLint, type LintMachine, type OpenBase } from './lint.ts';

let root = '';
let host: FakeHost;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kervyxa-lint-'));
  host = fakeHost();
});
afterEach(() => rmSync(root, { recursive: true }));

function contextOf(): CommandContext {
  return {
    host,
    interrupts: watchInterrupts(host),
    exitCode: 0,
    endsBySignal: false,
    toExitCode: () => 0,
  };
}

function write(document: unknown, name = 'contract.json'): string {
  const path = join(root, name);
  writeFileSync(path, typeof document === 'string' ? document : JSON.stringify(document, null, 2));
  return path;
}

const NO_BASE: OpenBase = () => Promise.reject(new Error('expected no repository to be opened'));

function baseOf(paths: readonly string[], closed: string[]): OpenBase {
  return async (repository, baseCommit) => ({
    commit: CommitShaSchema.parse(baseCommit),
    tree: 'c'.repeat(40),
    paths,
    links: new Map(),
    layoutProblem: null,
    lfsPointers: async () => [],
    readFile: async () => Buffer.from('sh hello.sh\n'),
    exportCapture: () => Readable.from([]),
    close: async () => {
      closed.push(repository);
    },
  });
}

function machineOf(openBase: OpenBase, allowedOrigins: readonly string[] = []): LintMachine {
  const settings = { allowedOrigins, catalogue: ['kervyxa-runtime/node:22'] };
  return { settings, openBase, loadChecker: loadCheckerPackage };
}

describe('kervyxa lint', () => {
  it('shows a finding with the line and column of its value, and exits with 1', async () => {
    const contract = contractInput();
    contract.objective = 'hello.sh handles "hello" and similar cases.';
    const path = write(contract);
    expect(await runLint(path, {}, contextOf(), machineOf(NO_BASE))).toBe(1);
    const line =
      JSON.stringify(contract, null, 2)
        .split('\n')
        .findIndex((text) => text.includes('"objective"')) + 1;
    expect(host.stdout.text()).toContain(
      `${path}:${line}:16: refuse OPEN_ENDED_OBJECTIVE\n  at /objective\n`,
    );
    expect(host.stdout.text()).toMatch(/\nrefused {2}[^\n]*contract\.json: 1 refused\n/);
  });

  it('places what is missing where it is missing from', async () => {
    const path = write({ ...contractInput(), objective: undefined });
    expect(await runLint(path, {}, contextOf(), machineOf(NO_BASE))).toBe(1);
    expect(host.stdout.text()).toContain(`${path}:1:1: refuse SCHEMA_INVALID\n  at /objective\n`);
  });

  it('exits with 0 and shows the digest for a clean contract, also from standard input', async () => {
    const path = write(contractInput());
    expect(await runLint(path, {}, contextOf(), machineOf(NO_BASE))).toBe(0);
    expect(host.stdout.text()).toMatch(
      /^clean {2}[^\n]*: no findings\ncontract sha256:[0-9a-f]{64}\n/m,
    );
    const piped = fakeHost({ stdin: JSON.stringify(contractInput()) });
    const context = { ...contextOf(), host: piped };
    expect(await runLint('-', {}, context, machineOf(NO_BASE))).toBe(0);
    expect(piped.stdout.text()).toContain('standard input:');
  });

  it('says which rules want the base tree, and no more once it is given', async () => {
    const path = write(contractInput());
    await runLint(path, {}, contextOf(), machineOf(NO_BASE));
    for (const rule of TREE_RULES) expect(host.stdout.text()).toContain(rule);

    const closed: string[] = [];
    const given = fakeHost();
    const context = { ...contextOf(), host: given };
    const openBase = baseOf(['check.sh', 'hello.sh'], closed);
    await runLint(path, { repo: 'here.git' }, context, machineOf(openBase));
    expect(given.stdout.text()).not.toContain('--repo');
    expect(closed).toEqual(['here.git']);
  });

  it('holds criteria against the checker package that is given, and names it in the digest', async () => {
    const path = write(withChecker(null));
    expect(await runLint(path, {}, contextOf(), machineOf(NO_BASE))).toBe(0);
    const [unnamed] = /sha256:[0-9a-f]{64}/.exec(host.stdout.text()) ?? [];
    const given = { checker: [CHECKER_FOLDER] };
    const fitting = fakeHost();
    const context = { ...contextOf(), host: fitting };
    expect(await runLint(path, given, context, machineOf(NO_BASE))).toBe(0);
    expect(fitting.stdout.text()).toMatch(/contract sha256:[0-9a-f]{64}\n/);
    expect(fitting.stdout.text()).not.toContain(unnamed);

    const unfit = fakeHost();
    const odd = write(withChecker(null, { stage: 'other' }));
    const code = await runLint(odd, given, { ...contextOf(), host: unfit }, machineOf(NO_BASE));
    expect(code).toBe(1);
    expect(unfit.stdout.text()).toMatch(
      /json:\d+:\d+: refuse CHECKER_UNFIT\n {2}at \/criteria\/1\n/,
    );
  });

  it('finds what only the base tree can tell', async () => {
    const path = write(contractInput());
    const exitCode = await runLint(
      path,
      { repo: 'r' },
      contextOf(),
      machineOf(baseOf(['hello.sh'], [])),
    );
    expect(exitCode).toBe(1);
    expect(host.stdout.text()).toContain('acknowledge PROTECTED_PATH_MATCHES_NOTHING');
  });

  it('shows the reason that was given for what is acknowledged, and exits with 0', async () => {
    const contract = contractInput();
    const code = 'PROTECTED_PATH_MATCHES_NOTHING';
    contract.acknowledgements = [{ code, reason: 'It comes with the fix.' }];
    const path = write(contract);
    const exitCode = await runLint(
      path,
      { repo: 'r' },
      contextOf(),
      machineOf(baseOf(['hello.sh'], [])),
    );
    expect(exitCode).toBe(0);
    expect(host.stdout.text()).toMatch(/: acknowledged PROTECTED_[^]*reason given: It comes with/);
  });

  it('prints the same as JSON', async () => {
    const path = write({ ...contractInput(), bonus: 1 });
    expect(await runLint(path, { json: true }, contextOf(), machineOf(NO_BASE))).toBe(1);
    const printed = JSON.parse(host.stdout.text());
    expect(printed).toMatchObject({
      clean: false,
      contractDigest: null,
      uncheckedRules: TREE_RULES,
    });
    expect(printed.findings).toContainEqual(
      expect.objectContaining({ code: 'SCHEMA_INVALID', pointer: '/bonus', column: 12 }),
    );
  });

  it('lets the origins that the operator allows be, and no others', async () => {
    const contract = contractInput();
    contract.repository.url = 'http://127.0.0.1:8080/hello.git';
    const path = write(contract);
    const lintAllowing = (origin: string) =>
      runLint(path, {}, contextOf(), machineOf(NO_BASE, [origin]));
    expect(await lintAllowing('http://127.0.0.1:8080')).toBe(0);
    expect(await lintAllowing('http://127.0.0.1:8081')).toBe(1);
    expect(host.stdout.text()).toContain('REPOSITORY_URL_REFUSED');
  });
});
