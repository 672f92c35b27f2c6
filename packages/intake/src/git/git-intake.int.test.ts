import { join } from 'node:path';
import { describeCaptures, type CaptureHarness } from '../testing/capture-suite.ts';
import { describeIntake, type Scenario } from '../shared-suite.ts';
import { buildScenario, createWorld, sha } from './testing/harness.ts';

const start = async (scenario: Scenario): Promise<CaptureHarness> => {
  const world = await createWorld();
  const ids = await buildScenario(join(world.repositories, 'suite.git'), scenario);
  let caches = 0;
  return {
    intake: world.intake,
    url: world.server.url('suite.git'),
    id: (name) => sha(ids[name]),
    elsewhere: () => {
      caches += 1;
      return world.newIntake({ cacheFolder: join(world.root, `cache-${caches}`) });
    },
    requestCount: () => world.server.requests.length,
    close: () => world.close(),
  };
};

describeIntake('the intake that fetches with git', start);
describeCaptures('the intake that fetches with git', start);
