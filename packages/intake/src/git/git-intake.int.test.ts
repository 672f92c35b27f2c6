import { join } from 'node:path';
import { describeIntake } from '../shared-suite.ts';
import { buildScenario, createWorld, sha } from './testing/harness.ts';

describeIntake('the intake that fetches with git', async (scenario) => {
  const world = await createWorld();
  const ids = await buildScenario(join(world.repositories, 'suite.git'), scenario);
  return {
    intake: world.intake,
    url: world.server.url('suite.git'),
    id: (name) => sha(ids[name]),
    close: () => world.close(),
  };
});
