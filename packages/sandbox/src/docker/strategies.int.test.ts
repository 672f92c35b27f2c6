import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AdditionRule, WorkspaceStrategy } from '../port.ts';
import { createDockerSandbox } from './index.ts';
import { judgeRunc } from './runc-version.ts';
import { type EngineBench, openEngineBench } from '../testing/engine.ts';
import { startEngineProxy } from '../testing/engine-proxy.ts';
import { never, run, textOf, toRequest, withSession } from '../testing/harness.ts';
import { testTree } from '../testing/trees.ts';

/** Everything about every file but the link counts of folders, which an overlay does not keep. */
const DESCRIBE = `find . -type d -printf '%p %y %m - %u:%g %T@ %l\\n' -o -printf '%p %y %m %n %u:%g %T@ %l\\n' | sed -E 's/(\\.[0-9]{3})[0-9]+/\\1/' | sort
  find . -type f -perm -u+r -exec sha256sum {} + | sort`;
// Names, modes, links, times and special files that a copy could lose; times are set, so that both can be compared.
const SET_UP = `mkdir -p made/deep; echo one > made/one; ln made/one made/two; ln -s ../a.txt made/link
  mkfifo made/pipe; truncate -s 1M made/sparse; chmod 000 made/one; chmod 2750 made/deep
  mv folder moved; rm a.txt; echo changed > go.sh; printf x > "$(printf 'odd\\tname')"
  find . -exec touch -h -d @1000000000.5 {} +`;

const tree = testTree({
  'a.txt': 'A',
  'folder/b.txt': 'B',
  'go.sh': { script: '#!/bin/sh\necho went' },
  link: { link: 'folder/b.txt' },
  dangling: { link: '../../nowhere' },
  absolute: { link: '/etc/hostname' },
  empty: { folder: true },
  [`${'d'.repeat(200)}/${'é'.repeat(100)}`]: 'long',
});

let bench: EngineBench;
beforeAll(async () => {
  bench = await openEngineBench();
});
afterAll(() => bench.assertNothingLeft());

async function describeWorkspaces(strategy: WorkspaceStrategy): Promise<[string, string]> {
  const { dockerHost, image } = bench;
  const sandbox = createDockerSandbox({ dockerHost, toolsImage: image, strategy });
  const fresh = await withSession({ sandbox, image }, { tree }, async (session) => {
    expect(session.strategy).toBe(strategy);
    return textOf(await run(session, DESCRIBE));
  });
  const prepared = await withSession({ sandbox, image }, { tree }, async (session) => {
    const setup = await session.runSetup(toRequest(SET_UP), never);
    expect(setup).toMatchObject({ exitCode: 0 });
    return textOf(await run(session, DESCRIBE));
  });
  return [fresh, prepared];
}

// Keeps R-SANDBOX-SAME.
describe('the way in which a workspace is made', () => {
  it('shows in no name, mode, owner, link, time or byte, before or after a set-up', async () => {
    const overlay = await describeWorkspaces('overlay');
    expect(overlay).toEqual(await describeWorkspaces('copy'));
    const [fresh, prepared] = overlay;
    expect(fresh).toContain('./go.sh f 755 1 nobody:nogroup 946684800.000 \n');
    expect(fresh).toContain('./empty d 755 - nobody:nogroup 946684800.000 \n');
    expect(fresh).toContain('./absolute l 777 1 nobody:nogroup 946684800.000 /etc/hostname\n');
    expect(prepared).toContain('. d 755 - nobody:nogroup 1000000000.500 \n');
    expect(prepared).toContain('./made/deep d 2750 - nobody:nogroup 1000000000.500 \n');
    expect(prepared).toContain('./made/two f 0 2 nobody:nogroup 1000000000.500 \n');
    expect(prepared).toContain('./moved/b.txt f 644 1 nobody:nogroup 1000000000.500 \n');
    expect(prepared).not.toContain('./folder');
  });

  it.each(['overlay', 'copy'] as const)(
    'puts kept paths of %s back, whatever a set-up did to them or the folders above',
    async (strategy) => {
      const { dockerHost, image } = bench;
      const sandbox = createDockerSandbox({ dockerHost, toolsImage: image, strategy });
      const kept = {
        'file/x': 'X',
        'gone/y': 'Y',
        'folder/z': 'Z',
        'linked/w': 'W',
        'moved/v.sh': { script: 'V' },
        'locked/u': 'U',
        link: { link: 'file/x' },
        '-odd\n"name"': 'O',
      };
      const keptTree = testTree({ ...kept, 'mine/w': 'M' });
      const look = `{ ${DESCRIBE}; } | grep -v -e made -e mine -e '^[.] d'`;
      const looked = await withSession({ sandbox, image }, { tree: keptTree }, (session) =>
        run(session, look),
      );
      const spoil = `printf mine > file/x; touch -d @1 file; rm -r gone; rm folder/z; mkdir -p folder/z/made
        rm -r linked; ln -s mine linked; mv moved made; echo > moved; chmod 777 locked/u; chmod 0 locked
        ln -sf /etc/passwd link; rm ./-odd*`;
      const request = { tree: keptTree, keptPaths: Object.keys(kept) };
      await withSession({ sandbox, image }, request, async (session) => {
        expect(await session.runSetup(toRequest(spoil), never)).toMatchObject({ exitCode: 0 });
        expect(textOf(await run(session, look))).toBe(textOf(looked));
        expect(textOf(await run(session, 'cat made/v.sh mine/w'))).toBe('VM');
        expect(textOf(await run(session, 'echo again > file/x; cat file/x'))).toBe('again\n');
        expect(textOf(await run(session, 'cat file/x'))).toBe('X');
      });
    },
  );

  it.each(['overlay', 'copy'] as const)(
    'takes away from %s what a set-up may not have added, however it hid it and with no room left',
    async (strategy) => {
      const { dockerHost, image } = bench;
      const sandbox = createDockerSandbox({ dockerHost, toolsImage: image, strategy });
      const many = Array.from({ length: 500 }, (_, index) => [`mine/${index}`, 'x'] as const);
      const files = {
        'a.txt': 'A',
        'locked/b': 'B',
        'swapped/c': 'C',
        ...Object.fromEntries(many),
      };
      const additions: AdditionRule = {
        treePaths: Object.keys(files),
        judge: (path) => (/(^|\/)bad/.test(path) ? 'goes' : path === 'on' ? 'inside' : 'stays'),
      };
      const spoil = `echo > locked/bad; printf x > "$(printf 'locked/bad\\n\\377')"; echo > ./-bad; echo > bad
        mkdir -p on made/bad; echo > made/bad/x; rm -r swapped; ln -s made swapped; mkfifo on/bad
        mv mine bad-moved; chmod 0 locked; chmod 311 .; i=0
        while echo > made/$i; do i=$((i + 1)); done 2>/dev/null; true`;
      const look = 'chmod 755 . locked; find . ! -path "./made/[0-9]*" | sort';
      const request = { tree: testTree(files), additions };
      await withSession({ sandbox, image }, request, async (session) => {
        expect(await session.runSetup(toRequest(spoil), never)).toMatchObject({ exitCode: 0 });
        expect(textOf(await run(session, look))).toBe(
          '.\n./-bad\n./a.txt\n./locked\n./locked/b\n./made\n./made/bad\n./made/bad/x\n./on\n',
        );
      });
    },
  );

  it.each(['overlay', 'copy'] as const)(
    'leaves a run of %s the same room, whatever the set-up used',
    async (strategy) => {
      const { dockerHost, image } = bench;
      const sandbox = createDockerSandbox({ dockerHost, toolsImage: image, strategy });
      await withSession({ sandbox, image }, { tree }, async (session) => {
        await session.runSetup(toRequest('head -c 15000000 /dev/zero > made'), never);
        const fits = await run(session, 'head -c 16000000 /dev/zero > own');
        expect(fits).toMatchObject({ exitCode: 0 });
        const full = await run(
          session,
          'head -c 16000000 /dev/zero > own; head -c 16000000 /dev/zero > two',
        );
        expect(full).toMatchObject({ exitCode: 1, workspaceFull: true });
      });
    },
  );
});

describe('a set-up that locks its own workspace', () => {
  it.each(['overlay', 'copy'] as const)(
    'by %s: the run fails by itself, not us',
    async (strategy) => {
      const { dockerHost, image } = bench;
      const sandbox = createDockerSandbox({ dockerHost, toolsImage: image, strategy });
      await withSession({ sandbox, image }, { tree }, async (session) => {
        await session.runSetup(
          toRequest('mkdir locked; echo x > locked/x; chmod 0 locked .'),
          never,
        );
        expect(await run(session, 'ls; exit 3')).toMatchObject({ exitCode: 3 });
      });
    },
  );
});

describe('a set-up that leaves paths which no program can name at once', () => {
  const nest = (name: string, depth: number): string => `exec python3 -c '
import os
for i in range(${depth}): os.mkdir("${name}"); os.chdir("${name}")'`;

  it.each([
    ['overlay', nest('d', 3_000)],
    ['copy', nest('d', 3_000)],
    ['copy', nest('\\t'.repeat(250), 20)],
  ] as const)('by %s: its own doing, no trouble of ours', async (strategy, command) => {
    const { dockerHost, image } = bench;
    const sandbox = createDockerSandbox({ dockerHost, toolsImage: image, strategy });
    await withSession({ sandbox, image }, { tree }, async (session) => {
      const outcome = await session.runSetup(toRequest(command), never);
      expect(outcome).toMatchObject({ exitCode: 1, workspaceFull: true });
    });
  });
});

describe('an engine that can not mount an overlay', () => {
  const overlayOptions = /"type":"overlay","device":"overlay","o":"[^"]*"/g;

  it.each([
    ['refuses it', '"type":"overlay","device":"overlay","o":"lowerdir=/nowhere"'],
    [
      'shows another folder without a word',
      '"type":"tmpfs","device":"tmpfs","o":"size=1m,uid=65534"',
    ],
  ])('and %s gets copies, and runs end alike', async (_, instead) => {
    const proxy = await startEngineProxy(bench.dockerHost, {
      alterCreate: (body) => body.replaceAll(overlayOptions, instead),
    });
    const { image } = bench;
    const sandbox = createDockerSandbox({ dockerHost: proxy.dockerHost, toolsImage: image });
    try {
      await withSession({ sandbox, image }, { tree }, async (session) => {
        await session.runSetup(toRequest('echo S > s.txt'), never);
        const outcomes = await Promise.all([
          run(session, 'cat a.txt s.txt; exit 3'),
          run(session, 'cat a.txt s.txt; exit 3'),
        ]);
        expect(outcomes.map((outcome) => [outcome.exitCode, textOf(outcome)])).toEqual([
          [3, 'AS\n'],
          [3, 'AS\n'],
        ]);
        expect(session.strategy).toBe('copy');
      });
      const facts = await sandbox.inspect(never);
      expect(facts.strategy).toBe('copy');
      expect(facts.limitations.join()).toContain('overlay');
    } finally {
      await proxy.close();
    }
  });
});

it('C34 an engine of full ability has no limitation, but for a runc with known ways out', async () => {
  const facts = await bench.sandbox.inspect(never);
  const { Components } = await bench.docker.version();
  const runc = Components?.find(({ Name }) => Name === 'runc')?.Version ?? '';
  expect(facts.limitations).toEqual([judgeRunc(runc)].filter((text) => text !== null));
  expect(facts).toMatchObject({ kind: 'docker', strategy: 'overlay' });
  expect(facts.cpuCount).toBeGreaterThan(0);
});
