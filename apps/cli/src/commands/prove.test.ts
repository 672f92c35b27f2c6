import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contractDigest } from '@kervyxa/contract';
import type { TreeArchive } from '@kervyxa/core';
import type { BaseTree } from '@kervyxa/intake';
import type { ProveRequest, ProvingReport } from '@kervyxa/verifier';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandContext } from '../context.ts';
import { watchInterrupts } from '../io/interrupts.ts';
import { fakeHost, type FakeHost } from '../testing/fake-host.ts';
import { contractInput, contractOf, withChecker } from '../testing/sample-contract.ts';
import { columnOf, reportOf } from '../testing/sample-report.ts';
import { runProve, type ProveMachine } from './prove.ts';

const ARCHIVE: TreeArchive = {
  digest: 'd'.repeat(64),
  entryCount: 0,
  bytesTotal: 0,
  async *open() {},
};

let root = '';
let host: FakeHost;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kervyxa-prove-'));
  host = fakeHost();
});
afterEach(() => rmSync(root, { recursive: true }));

function writeContract(document: unknown = contractInput()): string {
  const path = join(root, 'contract.json');
  writeFileSync(path, JSON.stringify(document));
  return path;
}

function contextOf(): CommandContext {
  return {
    host,
    interrupts: watchInterrupts(host),
    exitCode: 0,
    endsBySignal: false,
    toExitCode: () => 0,
  };
}

/** A base tree that holds the paths, and remembers that it was closed. */
function baseOf(paths: readonly string[], closed: string[] = []): BaseTree {
  return {
    commit: contractOf().repository.baseCommit,
    tree: 'a'.repeat(40),
    paths,
    links: new Map(),
    layoutProblem: null,
    readFile: async () => Buffer.from('sh hello.sh\n'),
    lfsPointers: async () => [],
    async *exportCapture() {},
    close: async () => void closed.push('base'),
  };
}

interface MachineStory {
  readonly report?: ProvingReport;
  readonly requests?: ProveRequest[];
  readonly opened?: string[];
  readonly paths?: readonly string[];
}

function machineOf(story: MachineStory = {}): ProveMachine {
  const { report = reportOf(), requests = [], opened = [], paths = ['check.sh'] } = story;
  return {
    settings: { allowedOrigins: [], catalogue: null },
    loadPackage: async () => ARCHIVE,
    openBundle: async () => ARCHIVE,
    loadChecker: () => Promise.reject(new Error('expected nothing to be loaded')),
    openBase: async (repository) => {
      opened.push(repository);
      return baseOf(paths, opened);
    },
    open: async () => ({
      prove: async (request, { onEvent }) => {
        requests.push(request);
        const column = columnOf('base', 'Base commit', ['pass', 'fail']);
        onEvent?.({ kind: 'column_started', title: 'Base commit', done: 0, total: 3 });
        onEvent?.({ kind: 'column_finished', column });
        onEvent?.({ kind: 'replay_finished', done: 1, total: 3 });
        return report;
      },
    }),
  };
}

const NOT_RUN: ProveMachine = {
  ...machineOf(),
  open: () => Promise.reject(new Error('expected nothing to be run')),
};

const REFUSED = reportOf({
  isProved: false,
  findings: [
    {
      code: 'UNSTABLE_CRITERION',
      severity: 'refuse',
      pointer: '/criteria/0',
      message: 'expected the same in 3 replays, got 2 × pass; 1 × fail',
      fix: 'Take chance out of it.',
      evidence: 'replay 1: pass\nreplay 2: fail',
      acknowledgement: null,
    },
  ],
});

// Keeps R-CLI-CODES.
describe('kervyxa prove', () => {
  it('answers 0 for a proved contract, with a line a column on stderr and tables on stdout', async () => {
    expect(await runProve(writeContract(), {}, contextOf(), machineOf())).toBe(0);
    expect(host.stderr.text()).toBe(
      'ok     0.0 s  1 of 3: Base commit: FAIL\n' +
        'ok     0.0 s  replay 1 of 3 of the known-good commit\n',
    );
    const lines = host.stdout.lines();
    expect(lines[0]).toBe('proved  no findings, 3 columns');
    expect(lines).toContain('criterion   1       2      3');
    expect(lines).toContain('tests       ✔       ✔      ·');
    expect(lines).toContain('work *      ✘ 120   ✔ 50   ·');
    expect(lines).toContain('  3  FAIL          Nothing changed');
    expect(lines).toContain('    3 × pass, exit 0; metric 50, spread 0; wall-clock spread 50 %');
  });

  it('answers 1 and says first what is wrong, with evidence and fix', async () => {
    const exit = await runProve(writeContract(), {}, contextOf(), machineOf({ report: REFUSED }));
    expect(exit).toBe(1);
    expect(host.stdout.lines().slice(0, 7)).toEqual([
      'refuse UNSTABLE_CRITERION at /criteria/0',
      '  expected the same in 3 replays, got 2 × pass; 1 × fail',
      '  fix: Take chance out of it.',
      '  | replay 1: pass',
      '  | replay 2: fail',
      '',
      'refused  1 finding, 3 columns',
    ]);
  });

  it('breaks wide tables within the screen, and marks what did not end as it must', async () => {
    const many = Array.from({ length: 30 }, (_, at) =>
      columnOf(`reverted-${at}`, `Without file ${at}`, ['fail', 'fail']),
    );
    const passing = columnOf('exits-1', 'Leaves at import', ['pass', 'pass'], { expected: 'FAIL' });
    const report = reportOf({ columns: [...many, passing] });
    await runProve(writeContract(), {}, contextOf(), machineOf({ report }));
    const lines = host.stdout.lines();
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(lines.filter((line) => line.startsWith('criterion'))).toHaveLength(2);
    expect(lines).toContain(' 31  PASS          Leaves at import (wanted FAIL)');
  });

  it('asks for a proof of the contract as it is, fetched from where --repo says', async () => {
    const [requests, opened]: [ProveRequest[], string[]] = [[], []];
    const url = 'https://mirror.example.org/hello.git';
    const options = { repo: url, replays: '7' };
    await runProve(writeContract(), options, contextOf(), machineOf({ requests, opened }));
    expect(opened).toEqual([url, 'base']);
    const contract = contractOf();
    expect(requests).toEqual([
      {
        contract: { ...contract, repository: { ...contract.repository, url } },
        contractDigest: contractDigest(contract),
        verifierPackage: null,
        dependencies: null,
        checkers: new Map(),
        replays: 7,
      },
    ]);
  });

  it('takes the digests of package and bundle from what is given', async () => {
    const requests: ProveRequest[] = [];
    const options = { package: 'hidden', deps: 'bundle.tar' };
    await runProve(writeContract(), options, contextOf(), machineOf({ requests }));
    expect(requests[0]?.contract.verifierPackage).toEqual({ sha256: ARCHIVE.digest });
    expect(requests[0]?.contract.environment.dependencies).toEqual({ sha256: ARCHIVE.digest });
    expect(requests[0]?.replays).toBe(3);
  });

  it.each([
    ['--package DIR', { verifierPackage: { sha256: 'e'.repeat(64) } }],
    [
      '--deps FILE',
      {
        environment: { ...contractInput().environment, dependencies: { sha256: 'e'.repeat(64) } },
      },
    ],
    ['--checker DIR', withChecker('e'.repeat(64))],
  ])('forgets what the contract names: told of %s, and nothing is run', async (option, change) => {
    const contract = writeContract({ ...contractInput(), ...change });
    await expect(runProve(contract, {}, contextOf(), NOT_RUN)).rejects.toMatchObject({
      code: 'CLI_PACKAGE_MISSING',
      message: expect.stringContaining(option),
    });
  });

  it('runs nothing of what lint refuses, with or without the base', async () => {
    const wrong = writeContract({ ...contractInput(), objective: undefined });
    await expect(runProve(wrong, {}, contextOf(), NOT_RUN)).rejects.toMatchObject({
      code: 'CLI_CONTRACT_REFUSED',
    });
    expect(host.stderr.text()).toContain('refuse SCHEMA_INVALID');
    const machine = { ...NOT_RUN, openBase: async () => baseOf(['hello.sh']) };
    await expect(runProve(writeContract(), {}, contextOf(), machine)).rejects.toMatchObject({
      code: 'CLI_CONTRACT_REFUSED',
      message: expect.stringContaining('PROTECTED_PATH_MATCHES_NOTHING'),
    });
  });

  it.each(['1', '0', '101', 'many', '2.5', '-3', ''])('refuses --replays %j', async (replays) => {
    const run = runProve(writeContract(), { replays }, contextOf(), NOT_RUN);
    await expect(run).rejects.toMatchObject({ code: 'CLI_USAGE_INVALID' });
  });

  it('prints exactly the report with --json, and keeps the same beside the page', async () => {
    const report = join(root, 'report');
    const options = { json: true, report };
    expect(await runProve(writeContract(), options, contextOf(), machineOf())).toBe(0);
    expect(JSON.parse(host.stdout.text())).toEqual(reportOf());
    expect(readFileSync(join(report, 'report.json'), 'utf8')).toBe(host.stdout.text());
    expect(readFileSync(join(report, 'report.html'), 'utf8')).toMatch(/^<!doctype html>/);
    await runProve(writeContract(), options, contextOf(), machineOf({ report: REFUSED }));
    expect(readFileSync(join(report, 'report.html'), 'utf8')).toContain('UNSTABLE_CRITERION');
    expect(readdirSync(report).toSorted()).toEqual([
      '.kervyxa-report',
      'report.html',
      'report.json',
    ]);
  });

  it('is given a folder of something else for the report: left alone, and nothing is run', async () => {
    const report = join(root, 'mine');
    const contract = writeContract();
    writeFileSync(report, 'a file');
    const run = runProve(contract, { report }, contextOf(), NOT_RUN);
    await expect(run).rejects.toMatchObject({ code: 'CLI_EVIDENCE_FOLDER_REFUSED' });
    const folder = runProve(contract, { report: root }, contextOf(), NOT_RUN);
    await expect(folder).rejects.toMatchObject({ code: 'CLI_EVIDENCE_FOLDER_REFUSED' });
    expect(readFileSync(report, 'utf8')).toBe('a file');
  });

  it('can not keep its report in the end: tells it all the same', async () => {
    const report = join(root, 'report');
    const machine = machineOf();
    const run = runProve(writeContract(), { report }, contextOf(), {
      ...machine,
      open: async (options) => {
        rmSync(report, { recursive: true });
        return machine.open(options);
      },
    });
    await expect(run).rejects.toMatchObject({ code: 'CLI_EVIDENCE_UNWRITABLE' });
    expect(host.stdout.text()).toContain('proved  no findings');
    expect(host.stdout.text()).not.toContain('report   ');
  });

  it('says what is removed when it is stopped, and when that is done', async () => {
    const context = contextOf();
    const machine: ProveMachine = {
      ...machineOf(),
      open: async () => ({
        prove: (_request, { signal }) => {
          host.raise('SIGINT');
          return Promise.reject(signal.reason);
        },
      }),
    };
    const { signal } = context.interrupts;
    await expect(runProve(writeContract(), {}, context, machine)).rejects.toSatisfy(
      (error) => error === signal.reason,
    );
    expect(host.stderr.text()).toMatch(/^SIGINT: removing [^]*\nstopped\n$/);
    expect(host.stdout.text()).toBe('');
  });
});
