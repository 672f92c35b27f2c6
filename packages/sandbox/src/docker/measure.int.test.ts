import { finished } from 'node:stream/promises';
import type Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InputDigests, SandboxSession } from '../port.ts';
import { type EngineBench, openEngineBench } from '../testing/engine.ts';
import { LIMITS, never, run } from '../testing/harness.ts';
import { testTree } from '../testing/trees.ts';

const FOLDERS = { tree: '/k/tree', package: '/k/hidden', dependencies: '/k/bundle' } as const;

let bench: EngineBench;
let session: SandboxSession;
let outsider: Docker.Container;
let before: InputDigests;

beforeAll(async () => {
  bench = await openEngineBench();
  const { docker, sandbox, image } = bench;
  session = await sandbox.openSession(
    {
      image,
      limits: LIMITS,
      tree: testTree({ 'a.txt': 'A', 'src/b.txt': 'B', link: { link: 'a.txt' } }),
      verifierPackage: testTree({ 'check.sh': { script: 'C' } }),
      dependencies: testTree({ npmrc: 'D' }),
      runsMax: 1,
    },
    never,
  );
  before = await session.measure(never);
  outsider = await docker.createContainer({
    Image: image,
    User: '0:0',
    Cmd: ['sleep', '300'],
    HostConfig: { Init: true, NetworkMode: 'none', Mounts: await volumesOf(bench) },
  });
  await outsider.start();
});

afterAll(async () => {
  await outsider.remove({ force: true });
  await session.close();
  await bench.assertNothingLeft();
});

/** What is measured, as whoever may use the engine can mount it. */
async function volumesOf({ docker, ours }: EngineBench): Promise<Docker.MountConfig> {
  const folders: readonly string[] = Object.values(FOLDERS);
  const containers = (await docker.listContainers({ all: true })).map(({ Id }) => Id);
  const ids = (await ours()).filter((id) => containers.includes(id));
  const inspected = await Promise.all(ids.map((id) => docker.getContainer(id).inspect()));
  return inspected
    .flatMap(({ Mounts }) => Mounts)
    .filter(({ Destination }) => folders.includes(Destination))
    .map(({ Name = '', Destination }) => ({ Type: 'volume', Source: Name, Target: Destination }));
}

/** As root, at the files themselves. */
async function outside(script: string): Promise<void> {
  const shell = ['sh', '-ec', script];
  const exec = await outsider.exec({ Cmd: shell, AttachStdout: true, AttachStderr: true });
  const output = await exec.start({});
  await finished(output.resume());
  expect(await exec.inspect()).toMatchObject({ ExitCode: 0 });
}

// Keeps R-SANDBOX-INPUTS.
describe('somebody outside changes what a session laid out', () => {
  it.each([
    [
      'a byte of a file, and puts size and time back',
      'tree',
      'touch -r a.txt /tmp/time; printf X >a.txt; touch -r /tmp/time a.txt',
      'printf A >a.txt',
    ],
    ['a mode', 'tree', 'chmod 755 a.txt', 'chmod 644 a.txt'],
    ['a bit beyond the usual ones', 'tree', 'chmod u+s a.txt', 'chmod u-s a.txt'],
    ['the mode of the root', 'tree', 'chmod 700 .', 'chmod 755 .'],
    ['a file more', 'tree', 'touch src/new', 'rm src/new'],
    ['a folder more', 'tree', 'mkdir src/new', 'rmdir src/new'],
    ['a file less', 'tree', 'mv src/b.txt /tmp', 'mv /tmp/b.txt src'],
    ['a name that is not UTF-8', 'tree', 'touch "$(printf "\\377")"', 'rm "$(printf "\\377")"'],
    [
      'a name that looks like the list of what is there',
      'tree',
      'mv src/b.txt "src/$(printf "b\\nf 644 b.txt")"',
      'mv src/b?f* src/b.txt',
    ],
    ['where a link leads', 'tree', 'ln -sfn src/b.txt link', 'ln -sfn a.txt link'],
    [
      'a file to a link to its content',
      'tree',
      'mv a.txt /tmp; ln -s /k/tree/tree/a.txt a.txt',
      'rm a.txt; mv /tmp/a.txt .',
    ],
    ['a file to a pipe', 'tree', 'mv a.txt /tmp; mkfifo a.txt', 'rm a.txt; mv /tmp/a.txt .'],
    [
      'which file has which content',
      'tree',
      'printf B >a.txt; printf A >src/b.txt',
      'printf A >a.txt; printf B >src/b.txt',
    ],
    [
      'who may read a file',
      'tree',
      'cp -p a.txt /tmp; chown 0:0 a.txt; chmod 600 a.txt',
      'cp -p /tmp/a.txt a.txt; chown --reference=. a.txt',
    ],
    [
      'who may look into a folder',
      'tree',
      'chown 0:0 src; chmod 700 src',
      'chown --reference=. src; chmod 755 src',
    ],
    ['a check', 'package', 'printf X >check.sh', 'printf C >check.sh'],
    ['a dependency', 'dependencies', 'printf X >npmrc', 'printf D >npmrc'],
  ] as const)(
    'C46 %s: the %s measures otherwise until it is put back',
    async (_, of, alter, undo) => {
      const folder = of === 'tree' ? `${FOLDERS.tree}/tree` : FOLDERS[of];
      await outside(`cd ${folder}; ${alter}`);
      const changed = await session.measure(never);
      expect(changed[of]).not.toBe(before[of]);
      expect({ ...changed, [of]: before[of] }).toEqual(before);
      await outside(`cd ${folder}; ${undo}`);
      expect(await session.measure(never)).toEqual(before);
    },
  );

  it('and only touches it: it measures the same, and runs go on', async () => {
    await outside(`cd ${FOLDERS.tree}/tree; touch a.txt src .; chown 0 a.txt`);
    expect(await session.measure(never)).toEqual(before);
    expect(await run(session, 'cat a.txt; exit 3')).toMatchObject({ exitCode: 3 });
  });
});
