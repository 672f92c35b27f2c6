import { afterAll, describe } from 'vitest';
import { type EngineBench, openEngineBench } from '../testing/engine.ts';
import { itKeepsInputs } from '../testing/inputs-suite.ts';
import { itBehavesLikeASandbox } from '../testing/shared-suite.ts';

describe.each(['overlay', 'copy'] as const)('the docker sandbox by %s', (strategy) => {
  const benches: EngineBench[] = [];
  const openBench = async (): Promise<EngineBench> => {
    const bench = await openEngineBench({ strategy });
    benches.push(bench);
    return bench;
  };
  itBehavesLikeASandbox(openBench);
  itKeepsInputs(openBench);
  afterAll(() => Promise.all(benches.map((bench) => bench.assertNothingLeft())));
});
