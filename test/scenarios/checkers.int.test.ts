import { createConformance, type CheckDeps } from '@kervyxa/checker';
import { createDockerSandbox } from '@kervyxa/sandbox/docker';
import { ensureReady } from '@kervyxa/setup';
import { createGate } from '@kervyxa/verifier';
import { beforeAll, describe, expect, it } from 'vitest';
import { CHECKER_NAMES, loadChecker, type CheckerExample } from '../../fixtures/checkers.ts';

const { signal } = new AbortController();
const examples = await Promise.all(CHECKER_NAMES.map(loadChecker));
const conformance = createConformance();
let deps: CheckDeps;

beforeAll(async () => {
  const { dockerHost, runtimes: bound } = await ensureReady();
  const runtimes = new Map([...bound].map(([name, { imageId }]) => [name, imageId]));
  const [toolsImage = ''] = runtimes.values();
  const sandbox = createDockerSandbox({ dockerHost, toolsImage });
  deps = { sandbox, runtimes, gate: createGate() };
});

// Keeps R-CHECKER-CONFORMANCE.
describe.concurrent.each(examples.map((one): [string, CheckerExample] => [one.name, one]))(
  'the checker package %s',
  (_name, { package: checker, expected }) => {
    it.each(Object.entries(expected.stages))(
      'says of the fixtures of %s what expected.json says',
      async (stageKey, stage) => {
        const report = await conformance(deps, checker, stageKey, signal);
        const got = report.fixtures.map(({ key, got: { result, score } }) => [
          key,
          score === null ? result : `${result} ${score}`,
        ]);
        expect({
          conformant: report.isConformant,
          fixtures: Object.fromEntries(got),
        }).toEqual(stage);
      },
    );

    it('is held to every sandbox stage that it has', () => {
      expect(Object.keys(expected.stages)).toEqual([...checker.programs.keys()]);
    });
  },
);

it('misses one fixture, and the report says which, what came and what should have', async () => {
  const { package: checker } = await loadChecker('misses-a-fixture');
  const report = await conformance(deps, checker, 'order', signal);
  expect(report.problem).toContain('misses 1: last_too_small (expected refuted, got verified)');
});
