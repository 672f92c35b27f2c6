import { afterAll, beforeAll, expect, it } from 'vitest';
import { OUTLIVED_STATUS } from '../port.ts';
import { type EngineBench, openEngineBench } from '../testing/engine.ts';
import { never, run, textOf, toRequest, withSession } from '../testing/harness.ts';
import { commitImage, importImage } from '../testing/images.ts';
import { testTree } from '../testing/trees.ts';

const INPUTS = { layout: 'inputs', tree: testTree({ 'a.txt': 'A' }) } as const;
const OF_IMAGE = { command: null };

let bench: EngineBench;
const made: string[] = [];
beforeAll(async () => {
  bench = await openEngineBench();
});
afterAll(async () => {
  await Promise.all(made.map((image) => bench.docker.getImage(image).remove()));
  await bench.assertNothingLeft();
});

async function imageWith(config: object): Promise<string> {
  const image = await commitImage(bench, config);
  made.push(image);
  return image;
}

it('runs ENTRYPOINT and CMD word for word, in WORKDIR and with ENV, as nobody', async () => {
  const image = await imageWith({
    Entrypoint: ['/bin/sh', '-c', 'printf "<%s>" "$@"; echo; pwd; id -un; env | sort', 'a $b'],
    Cmd: ['$HOME', ' * ', '', '`id`;', "'", 'é\nz'],
    WorkingDir: '/usr/share',
    Env: ['PATH=/usr/bin', 'OWN=its own', 'HOME=/root', 'NODE_OPTIONS=--no-warnings'],
    User: 'root',
  });
  const outcome = await withSession({ ...bench, image }, INPUTS, (session) =>
    run(session, '', OF_IMAGE),
  );
  expect(textOf(outcome).split('\n')).toEqual([
    "<$HOME>< * ><><`id`;><'><é",
    'z>',
    '/usr/share',
    'nobody',
    'HOME=/tmp/home',
    'HOSTNAME=kervyxa',
    'LANG=C.UTF-8',
    'NODE_OPTIONS=--no-warnings',
    'OWN=its own',
    'PATH=/usr/bin',
    'PWD=/usr/share',
    'TMPDIR=/tmp',
    'TZ=UTC',
    '',
  ]);
  expect(outcome).toMatchObject({ exitCode: 0, stderr: { bytesTotal: 0 } });
});

it('keeps its user’s files from everybody, the folder that it starts in too: it fails by itself', async () => {
  const image = await imageWith({ Entrypoint: ['/bin/true'], Cmd: [], WorkingDir: '/root' });
  const outcome = await withSession({ ...bench, image }, INPUTS, (session) =>
    run(session, '', OF_IMAGE),
  );
  expect(outcome).toMatchObject({ exitCode: 126 });
  expect(Buffer.from(outcome.stderr.head).toString()).toContain('/root');
});

it('names a program that is not there: it fails by itself, with what a shell says of it', async () => {
  const image = await imageWith({ Entrypoint: ['/no/program'], Cmd: [], WorkingDir: '' });
  const outcome = await withSession({ ...bench, image }, INPUTS, (session) =>
    run(session, '', OF_IMAGE),
  );
  expect(outcome).toMatchObject({ exitCode: 127 });
});

it.each([
  ['has neither ENTRYPOINT nor CMD: unfit', '', 'SANDBOX_IMAGE_UNFIT', 'ENTRYPOINT'],
  [
    'has no shell to start its program with: told so',
    'ENTRYPOINT ["/program"]',
    'SANDBOX_IMAGE_UNAVAILABLE',
    '/bin/sh',
  ],
])('%s', async (_, changes, code, said) => {
  const program = testTree({ program: { script: '#!/program' } });
  const image = await importImage(bench, program, changes === '' ? {} : { changes });
  made.push(image);
  await withSession({ ...bench, image }, INPUTS, async (session) => {
    const staged = session.stage(toRequest('', OF_IMAGE), never);
    await expect(staged).rejects.toMatchObject({ code, fix: expect.stringContaining(said) });
  });
});

it('ends with 0 and leaves a process that would write: told by the status, and nothing is written', async () => {
  const late = 'echo first > r; { sleep 0.1; echo second > r; sleep 60; } & exit 0';
  const inputs = { ...INPUTS, runsMax: 2 };
  const image = await imageWith({ Entrypoint: ['/bin/sh', '-c', `cd /output; ${late}`], Cmd: [] });
  await withSession({ ...bench, image }, inputs, async (session) => {
    for (const more of [OF_IMAGE, { command: late }]) {
      const outcome = await run(session, '', more, (staged) => staged.readFile('r', 100, never));
      expect(outcome).toMatchObject({ exitCode: OUTLIVED_STATUS });
      expect(outcome.looked).toMatchObject({ kind: 'file', head: Buffer.from('first\n') });
    }
  });
});
