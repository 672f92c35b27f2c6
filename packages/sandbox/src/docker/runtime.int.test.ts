import { expect, it } from 'vitest';
import { openEngineBench } from '../testing/engine.ts';
import { never, run, withSession } from '../testing/harness.ts';
import { ROLE_LABEL } from './labels.ts';

// What gVisor itself does is not tested here: it is not there. What is asked of the engine is.

it('C34 is to run on a runtime that the engine lacks: refused at the first call, with those that it has', async () => {
  const bench = await openEngineBench({ containerRuntime: 'no-such-runtime' });
  const refused = { code: 'SANDBOX_RUNTIME_UNAVAILABLE', message: expect.stringContaining('runc') };
  await expect(bench.sandbox.inspect(never)).rejects.toMatchObject(refused);
  await expect(withSession(bench, {}, (session) => run(session, 'true'))).rejects.toMatchObject(
    refused,
  );
  await bench.assertNothingLeft();
});

it('C34 is to run on a runtime that the operator chose: the solver’s code does, and our own keeper on the engine’s', async () => {
  const chosen = 'io.containerd.runc.v2';
  const bench = await openEngineBench({ containerRuntime: chosen });
  expect(await bench.sandbox.inspect(never)).toMatchObject({ runtime: chosen });
  await withSession(bench, {}, async (session) => {
    await session.ready;
    const runtimes = await run(session, 'true', {}, async () => {
      const ours = await bench.ours();
      const found = await bench.docker.listContainers({ all: true });
      const inspected = await Promise.all(
        found
          .filter(({ Id }) => ours.includes(Id))
          .map(({ Id }) => bench.docker.getContainer(Id).inspect()),
      );
      return inspected.map(({ Config, HostConfig }) => [
        Config.Labels[ROLE_LABEL],
        HostConfig.Runtime,
      ]);
    });
    expect(runtimes.looked?.toSorted()).toEqual([
      ['keeper', 'runc'],
      ['run', chosen],
    ]);
  });
  await bench.assertNothingLeft();
});
