import { afterAll, describe } from 'vitest';
import { type EngineBench, openEngineBench } from '../testing/engine.ts';
import { itBehavesLikeASandbox } from '../testing/shared-suite.ts';

describe.each(['overlay', 'copy'] as const)('the docker sandbox by %s', (strategy) => {
  let bench: EngineBench;
  itBehavesLikeASandbox(async () => {
    bench = await openEngineBench({ strategy });
    return bench;
  });
  afterAll(() => bench.assertNothingLeft());
});
