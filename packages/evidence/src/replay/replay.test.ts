import { parseContract, type Contract } from '@kervyxa/contract';
import { helloContract } from '@kervyxa/contract/testing';
import { describe, expect, it } from 'vitest';
import { readBundle } from '../bundle/read.ts';
import type { RunEvidenceInput } from '../bundle/run-evidence.ts';
import {
  createKey,
  sampleBundle,
  sampleContract,
  sampleCriterion,
  sampleInput,
  sampleResult,
} from '../testing/sample-run.ts';
import { compareResults } from './compare.ts';
import { planReplay } from './plan.ts';

const key = createKey();
const contract = sampleContract();

async function bundleOf(view: 'full' | 'public', more: Partial<RunEvidenceInput> = {}) {
  const bytes = await sampleBundle(sampleInput(view, { contract, ...more }), key);
  const stream = async function* () {
    yield bytes;
  };
  return readBundle(stream(), { keys: null });
}

// Keeps R-EVIDENCE-REPLAY.
describe('the plan of a replay', () => {
  it('runs the whole contract where the bundle has it', async () => {
    expect(planReplay(await bundleOf('full'))).toEqual({ kind: 'run', contract, skipped: [] });
  });

  it('runs what is public of a contract of which no more is told, and names the rest', async () => {
    const plan = planReplay(await bundleOf('public'));
    expect(plan).toMatchObject({ kind: 'run', skipped: ['secret'] });
    const runnable = plan.kind === 'run' ? plan.contract.criteria : [];
    expect(runnable.map(({ id }) => id)).toEqual(['says-hello']);
  });

  it('runs a public contract that was open to a few only', async () => {
    const [open] = contract.criteria;
    const few: Contract = {
      ...contract,
      criteria: open === undefined ? [] : [open],
      submission: { ...contract.submission, policy: 'INVITE_ONLY', invited: ['prn_1'] },
    };
    const plan = planReplay(await bundleOf('public', { contract: few, result: sampleResult(few) }));
    expect(plan).toMatchObject({ kind: 'run', skipped: [] });
  });

  it('runs nothing without captures, and nothing where all is hidden', async () => {
    expect(planReplay(await bundleOf('full', { blobs: [] }))).toEqual({
      kind: 'impossible',
      why: 'the bundle has no base.bundle and no source.bundle: the commit was never fetched, or is too large to capture',
    });
    const dark = { ...contract, criteria: contract.criteria.slice(1) };
    const result = sampleResult(dark);
    expect(planReplay(await bundleOf('public', { contract: dark, result }))).toEqual({
      kind: 'impossible',
      why: 'no criterion can be run from this bundle: hidden ones and checker packages are not in it',
    });
  });
});

// Keeps R-EVIDENCE-REPLAY.
describe('the comparison of a replay', () => {
  it('finds nothing where only times, memory and outputs moved', async () => {
    const moved = { durationMs: 9_999, peakMemoryBytes: null, outputSha256: '0'.repeat(64) };
    const criteria = contract.criteria.map(({ id }) => sampleCriterion(id, moved));
    expect(
      compareResults(await bundleOf('full'), sampleResult(contract, { criteria }), []),
    ).toEqual([]);
  });

  it('tells every other field that moved, by criterion', async () => {
    const failed = sampleCriterion('secret', {
      status: 'fail',
      exitCode: 1,
      reason: 'EXIT_CODE_MISMATCH',
      message: 'expected 0, got 1',
    });
    const fresh = sampleResult(contract, {
      verdict: 'FAIL',
      imageDigest: `sha256:${'0'.repeat(64)}`,
      criteria: [sampleCriterion('says-hello'), failed],
      reasons: [{ code: 'EXIT_CODE_MISMATCH', message: 'expected 0, got 1', subject: 'secret' }],
    });
    const found = compareResults(await bundleOf('full'), fresh, []);
    expect(found).toContainEqual({ pointer: '/verdict', expected: 'PASS', got: 'FAIL' });
    expect(found.map(({ pointer }) => pointer).toSorted()).toEqual([
      '/criteria/secret/exitCode',
      '/criteria/secret/message',
      '/criteria/secret/reason',
      '/criteria/secret/status',
      '/imageDigest',
      '/reasons/0/code',
      '/reasons/0/message',
      '/reasons/0/subject',
      '/verdict',
    ]);
  });

  it('says nothing of what was not run again, and all of what was', async () => {
    const [open] = contract.criteria;
    const shown: Contract = { ...contract, criteria: open === undefined ? [] : [open] };
    const bundle = await bundleOf('public');
    expect(compareResults(bundle, sampleResult(shown), ['secret'])).toEqual([]);
    const criteria = [sampleCriterion('says-hello', { status: 'fail' })];
    const failed = sampleResult(shown, { verdict: 'FAIL', criteria });
    expect(compareResults(bundle, failed, ['secret'])).toEqual([
      { pointer: '/criteria/says-hello/status', expected: 'pass', got: 'fail' },
    ]);
  });

  it('lets the words of a checker’s program move, and nothing else of that criterion', async () => {
    const input = helloContract('a'.repeat(40));
    const checked = parseContract({
      ...input,
      criteria: [
        ...input.criteria,
        {
          id: 'answer',
          title: 'It is right',
          type: 'checker',
          visibility: 'public',
          checker: { sha256: 'b'.repeat(64) },
          stage: 'form',
          artifacts: [{ role: 'answer', path: 'answer.txt' }],
          timeoutSeconds: 20,
        },
      ],
    });
    const of = (message: string, reason: 'REFUTED' | 'CHECK_INCONCLUSIVE' = 'REFUTED') =>
      sampleResult(checked, {
        verdict: 'FAIL',
        criteria: [
          sampleCriterion('says-hello'),
          sampleCriterion('answer', { type: 'checker', status: 'fail', reason, message }),
        ],
        reasons: [{ code: reason, message, subject: 'answer' }],
      });
    const bundle = await bundleOf('full', { contract: checked, result: of('at 12:01') });
    expect(compareResults(bundle, of('at 12:02'), [])).toEqual([]);
    const other = compareResults(bundle, of('at 12:02', 'CHECK_INCONCLUSIVE'), []);
    expect(other.map(({ pointer }) => pointer)).toEqual([
      '/criteria/answer/reason',
      '/reasons/0/code',
    ]);
  });

  it('lets the kernel’s number move, and nothing else of that criterion', async () => {
    const input = helloContract('a'.repeat(40));
    const measured = parseContract({
      ...input,
      criteria: [
        {
          id: 'memory',
          title: 'It takes little memory',
          type: 'benchmark',
          visibility: 'public',
          command: 'sh check.sh',
          timeoutSeconds: 20,
          source: 'peak_memory_bytes',
          metric: { name: 'peak', unit: 'bytes', op: 'lt', threshold: 9e9, tolerance: 5 },
        },
      ],
    });
    const of = (more: object) =>
      sampleResult(measured, { criteria: [sampleCriterion('memory', more)] });
    const bundle = await bundleOf('full', { contract: measured, result: of({ metric: 5_000 }) });
    expect(compareResults(bundle, of({ metric: 5_001, message: 'm' }), [])).toEqual([]);
    expect(compareResults(bundle, of({ metric: 5_001, exitCode: 3 }), [])).toEqual([
      { pointer: '/criteria/memory/exitCode', expected: 0, got: 3 },
    ]);
  });
});
