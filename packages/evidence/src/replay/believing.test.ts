import { type Conformance, NotConformantHere } from '@kervyxa/checker';
import { expect, it } from 'vitest';
import { sampleCriterion } from '../testing/sample-run.ts';
import { believing } from './believing.ts';

type Asked = Parameters<Conformance>;
const DEPS = {} as Asked[0];
const CHECKER = { digest: 'c'.repeat(64) } as Asked[1];
const misses: Conformance = async () => ({
  stageKey: 'form',
  programDigest: 'd'.repeat(64),
  image: `sha256:${'1'.repeat(64)}`,
  isConformant: false,
  problem: 'it misses one',
  fixtures: [],
});
const ask = (criterion: object) => {
  const criteria = [{ ...sampleCriterion('keys'), type: 'checker', ...criterion }];
  return believing({ criteria }, misses)(DEPS, CHECKER, 'form', new AbortController().signal);
};

it('takes a program that misses fixtures only here for trouble of this machine', async () => {
  await expect(ask({ status: 'fail', reason: 'REFUTED' })).rejects.toThrow(NotConformantHere);
  await expect(ask({ status: 'pass', reason: null })).rejects.toThrow(NotConformantHere);
});

it('finds again that a program was broken', async () => {
  const report = await ask({ status: 'inconclusive', reason: 'VERIFIER_BROKEN' });
  expect(report.isConformant).toBe(false);
});
