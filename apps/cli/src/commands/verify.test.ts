import { createReadStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contractDigest, type Contract } from '@kervyxa/contract';
import type { TreeArchive } from '@kervyxa/core';
import { readBundle, verifyEnvelope } from '@kervyxa/evidence';
import type { VerificationResult } from '@kervyxa/verifier';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandContext } from '../context.ts';
import { watchInterrupts } from '../io/interrupts.ts';
import { openSigningKeys } from '../io/signing-key.ts';
import { fakeHost, type FakeHost } from '../testing/fake-host.ts';
import { loadCheckerPackage } from '../io/checker-package.ts';
import {
  contractInput,
  contractOf,
  CHECKER_FOLDER,
  TWO_CHECKERS,
  withChecker,
} from '../testing/sample-contract.ts';
import { runVerify, type VerifyMachine, type WorkRequest } from './verify.ts';

const COMMIT = 'a'.repeat(40);
const REPO = 'https://x.example/r.git';
const PACKAGE: TreeArchive = {
  digest: 'd'.repeat(64),
  entryCount: 0,
  bytesTotal: 0,
  async *open() {},
};

const BUNDLE: TreeArchive = { ...PACKAGE, digest: 'e'.repeat(64) };

let root = '';
let host: FakeHost;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kervyxa-verify-'));
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

/** All criteria have passed, unless the commit could not be fetched. */
function resultOf(verdict: VerificationResult['verdict']): VerificationResult {
  const contract = contractOf();
  const isFetched = verdict !== 'INCONCLUSIVE';
  const notRun = contract.criteria.map(toNotRun);
  const code = isFetched ? 'EXIT_CODE_MISMATCH' : 'COMMIT_NOT_FOUND';
  return {
    verdict,
    contractDigest: contractDigest(contract),
    commit: COMMIT,
    tree: isFetched ? 'b'.repeat(40) : null,
    imageDigest: null,
    changedFiles: [],
    inputs: null,
    criteria: verdict === 'PASS' ? notRun.map((each) => ({ ...each, status: 'pass' })) : notRun,
    reasons: verdict === 'PASS' ? [] : [{ code, message: 'it did not hold', subject: null }],
  };
}

function toNotRun({ id, type, visibility }: Contract['criteria'][number]) {
  const nothing = { reason: null, message: null, exitCode: null, metric: null };
  const volatile = { peakMemoryBytes: null, durationMs: null, outputSha256: null };
  return { id, type, visibility, status: 'not_run' as const, ...nothing, ...volatile };
}

const SETTINGS = { allowedOrigins: [], catalogue: null };
const signer: VerifyMachine['signer'] = {
  verifierId: 'urn:kervyxa:verifier:test',
  openKeys: () => openSigningKeys(join(root, 'keys'), host.clock),
};

/** A machine whose every verification ends with the verdict, after one step. */
function machineOf(
  verdict: VerificationResult['verdict'],
  requests: WorkRequest[] = [],
): VerifyMachine {
  const step = { id: 'criterion:says-hello', kind: 'criterion', title: 'It says hello' } as const;
  return {
    settings: SETTINGS,
    signer,
    loadPackage: async () => PACKAGE,
    openBundle: async () => BUNDLE,
    loadChecker: loadCheckerPackage,
    async open({ log }) {
      log('building an image: done in 3.0 s');
      return {
        async verify(request, { onEvent }) {
          requests.push(request);
          onEvent({ kind: 'step_started', step });
          const chunk = Buffer.from('hello\n');
          onEvent({ kind: 'output', stepId: step.id, attempt: 1, stream: 'stdout', chunk });
          const ended = { reason: null, message: null, durationMs: 10 };
          onEvent({ kind: 'step_finished', step, status: 'pass', ...ended });
          return resultOf(verdict);
        },
        openCaptures: async () => ({ base: null, source: null, close: async () => {} }),
      };
    },
  };
}

const NO_MACHINE: VerifyMachine = {
  settings: SETTINGS,
  signer,
  loadPackage: () => Promise.reject(new Error('expected nothing to be loaded')),
  openBundle: () => Promise.reject(new Error('expected nothing to be opened')),
  loadChecker: () => Promise.reject(new Error('expected nothing to be loaded')),
  open: () => Promise.reject(new Error('expected nothing to be run')),
};

// Keeps R-CLI-CODES.
describe('kervyxa verify', () => {
  it.each([
    ['PASS', 0],
    ['FAIL', 1],
    ['INCONCLUSIVE', 3],
    ['ERROR', 4],
  ] as const)('answers %s with exit code %i', async (verdict, exitCode) => {
    const options = { contract: writeContract(), repo: 'https://x.example/r.git', commit: COMMIT };
    expect(await runVerify(options, contextOf(), machineOf(verdict))).toBe(exitCode);
    expect(host.stdout.text()).toMatch(new RegExp(`^${verdict} `));
    expect(host.stderr.text()).toBe(
      'building an image: done in 3.0 s\npass   0.0 s  says-hello: It says hello\n',
    );
  });

  it('hands over exactly what was asked for', async () => {
    const requests: WorkRequest[] = [];
    const options = { contract: writeContract(), repo: 'https://x.example/r.git', commit: COMMIT };
    await runVerify(options, contextOf(), machineOf('PASS', requests));
    expect(requests).toEqual([
      {
        contract: contractOf(),
        repositoryUrl: 'https://x.example/r.git',
        commit: COMMIT,
        verifierPackage: null,
        dependencies: null,
        checkers: new Map(),
      },
    ]);
  });

  it('takes the digest of the checker package from its folder where criteria name none', async () => {
    const requests: WorkRequest[] = [];
    const contract = writeContract(withChecker(null));
    const options = { contract, repo: 'https://x.example/r.git', commit: COMMIT };
    const checker = [CHECKER_FOLDER];
    await runVerify({ ...options, checker }, contextOf(), machineOf('PASS', requests));
    const [{ contract: asked, checkers } = { contract: null, checkers: new Map() }] = requests;
    const [digest] = [...checkers.keys()];
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(asked?.criteria.at(-1)).toMatchObject({ checker: { sha256: digest } });
    expect(checkers.get(digest)).toMatchObject({ digest });
  });

  it.each([
    ['none', [], 'CLI_PACKAGE_MISSING', null],
    ['two, and can not tell which is meant', TWO_CHECKERS, 'CLI_PACKAGE_MISSING', null],
    ['another than the one named', [CHECKER_FOLDER], 'CONTRACT_CHECKER_MISMATCH', 'e'.repeat(64)],
    ['a folder that is no checker package', ['fixtures'], 'CLI_CHECKER_REFUSED', null],
  ])('needs a checker package and gets %s: told so, and nothing is run', async (...row) => {
    const [, checker, code, sha256] = row;
    const contract = writeContract(withChecker(sha256));
    const options = { contract, repo: 'https://x.example/r.git', commit: COMMIT, checker };
    const machine = { ...NO_MACHINE, loadChecker: loadCheckerPackage };
    await expect(runVerify(options, contextOf(), machine)).rejects.toMatchObject({ code });
  });

  it('takes the digest of the hidden package from its folder where the contract names none', async () => {
    const requests: WorkRequest[] = [];
    const options = { contract: writeContract(), repo: 'https://x.example/r.git', commit: COMMIT };
    await runVerify({ ...options, package: 'hidden' }, contextOf(), machineOf('PASS', requests));
    expect(requests[0]?.contract.verifierPackage).toEqual({ sha256: PACKAGE.digest });
    expect(requests[0]?.verifierPackage).toBe(PACKAGE);
  });

  it('takes the digest of the bundle from its file where the contract names none', async () => {
    const requests: WorkRequest[] = [];
    const options = { contract: writeContract(), repo: 'https://x.example/r.git', commit: COMMIT };
    await runVerify({ ...options, deps: 'b.tar' }, contextOf(), machineOf('PASS', requests));
    expect(requests[0]?.contract.environment.dependencies).toEqual({ sha256: BUNDLE.digest });
    expect(requests[0]?.dependencies).toBe(BUNDLE);
  });

  it('forgets the hidden package: told so, and no solver is blamed for it', async () => {
    const command = 'sh "$KERVYXA_VERIFIER_PACKAGE/check.sh"';
    const document = contractInput();
    const criteria = document.criteria.map((criterion) => ({
      ...criterion,
      visibility: 'hidden' as const,
      command,
    }));
    const contract = writeContract({ ...document, criteria });
    const options = { contract, repo: 'https://x.example/r.git', commit: COMMIT };
    const run = runVerify(options, contextOf(), NO_MACHINE);
    await expect(run).rejects.toMatchObject({
      code: 'CLI_PACKAGE_MISSING',
      message: expect.stringContaining('as criterion says-hello uses $KERVYXA_VERIFIER_PACKAGE'),
    });
    const given = { ...options, package: 'hidden' };
    expect(await runVerify(given, contextOf(), machineOf('PASS'))).toBe(0);
  });

  it('prints exactly the result with --json', async () => {
    const options = { contract: writeContract(), repo: 'https://x.example/r.git', commit: COMMIT };
    await runVerify({ ...options, json: true }, contextOf(), machineOf('FAIL'));
    expect(JSON.parse(host.stdout.text())).toEqual(resultOf('FAIL'));
  });

  it('keeps result and logs in the evidence folder', async () => {
    const evidence = join(root, 'evidence');
    const options = { contract: writeContract(), repo: 'https://x.example/r.git', commit: COMMIT };
    await runVerify({ ...options, evidence }, contextOf(), machineOf('PASS'));
    const read = (name: string) => readFileSync(join(evidence, name), 'utf8');
    expect(JSON.parse(read('result.json'))).toEqual(resultOf('PASS'));
    expect(read('criteria/says-hello.stdout.log')).toBe('hello\n');
  });

  it.each(['PASS', 'FAIL', 'INCONCLUSIVE', 'ERROR'] as const)(
    'leaves signed evidence of a %s, in the place of what an earlier run left',
    async (verdict) => {
      const evidence = join(root, 'evidence');
      const options = { contract: writeContract(), repo: REPO, commit: COMMIT, evidence };
      await runVerify(options, contextOf(), machineOf('PASS'));
      await runVerify(options, contextOf(), machineOf(verdict));
      const { publicKeys } = signer.openKeys();
      const read = (name: string) => readFileSync(join(evidence, name));
      const { statement } = verifyEnvelope(read('attestation.json'), publicKeys, {
        subject: COMMIT,
        policyDigest: contractDigest(contractOf()),
        verifierId: signer.verifierId,
        resourceUri: REPO,
      });
      const isPass = verdict === 'PASS';
      expect(statement.predicate.verificationResult).toBe(isPass ? 'PASSED' : 'FAILED');
      expect(JSON.parse(read('evaluation.json').toString()).passed).toBe(isPass);
      const bundle = await readBundle(createReadStream(join(evidence, 'evidence.tar')), {
        keys: publicKeys,
      });
      expect(bundle).toMatchObject({ statement, absent: ['base.bundle', 'source.bundle'] });
    },
  );

  it.each(['1234567', 'A'.repeat(40), 'main', `${COMMIT}\n--upload-pack=x`, 'a'.repeat(41)])(
    'refuses the commit %j before anything runs',
    async (commit) => {
      const options = { contract: writeContract(), repo: 'https://x.example/r.git', commit };
      await expect(runVerify(options, contextOf(), NO_MACHINE)).rejects.toMatchObject({
        code: 'CLI_COMMIT_INVALID',
      });
    },
  );

  it('refuses a contract that approval would refuse, and shows why, before anything runs', async () => {
    const contract = writeContract({ ...contractInput(), objective: undefined });
    const options = { contract, repo: 'https://x.example/r.git', commit: COMMIT };
    await expect(runVerify(options, contextOf(), NO_MACHINE)).rejects.toMatchObject({
      code: 'CLI_CONTRACT_REFUSED',
      message: expect.stringContaining('SCHEMA_INVALID'),
    });
    expect(host.stderr.text()).toContain(`${contract}:1:1: refuse SCHEMA_INVALID\n  at /objective`);
  });

  it('says what is removed when it is stopped, and when that is done', async () => {
    const context = contextOf();
    const options = { contract: writeContract(), repo: 'https://x.example/r.git', commit: COMMIT };
    const machine: VerifyMachine = {
      ...NO_MACHINE,
      open: async () => ({
        verify: (_request, { signal }) => {
          host.raise('SIGINT');
          return Promise.reject(signal.reason);
        },
        openCaptures: () => Promise.reject(new Error('expected nothing to be asked for')),
      }),
    };
    const { signal } = context.interrupts;
    await expect(runVerify(options, context, machine)).rejects.toSatisfy(
      (error) => error === signal.reason,
    );
    expect(host.stderr.text()).toBe(
      "SIGINT: removing this run's containers, volumes and fetched objects\n" +
        'once more leaves at once, and the next run removes them\nstopped\n',
    );
    expect(host.stdout.text()).toBe('');
  });
});
