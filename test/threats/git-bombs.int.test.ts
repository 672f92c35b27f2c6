import { deltaBombPack, rawCommit, rawTree } from '@kervyxa/testing';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import {
  BLOB,
  COMMIT,
  createPackWriter,
  TREE,
} from '../../packages/intake/src/git/testing/slow-pack.ts';
import { openAttackBench, type AttackBench, type AttackEnd } from './attack-bench.ts';

const MIB = 1_048_576;
let bench: AttackBench;
let ids: { readonly base: string; readonly fix: string };
beforeAll(async () => {
  bench = await openAttackBench();
  ids = await bench.build('main', [
    { name: 'base', files: { 'check.sh': 'sh hello.sh\n', 'hello.sh': 'exit 1\n' } },
    { name: 'fix', parents: ['base'], files: { 'hello.sh': 'exit 0\n' } },
  ]);
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

type Writer = ReturnType<typeof createPackWriter>;

/** Serves one pack, whatever is asked for, and submits a commit of it. */
async function submitPack(
  write: (pack: Writer) => string | { pack: Uint8Array; commit: string },
  limits?: object,
): Promise<AttackEnd> {
  const writer = createPackWriter();
  const made = write(writer);
  const { pack, commit } = typeof made === 'string' ? { pack: writer.pack(), commit: made } : made;
  const server = await bench.startServer({ pack });
  const repository = server.url('main.git');
  const intake = limits === undefined ? {} : { intake: { limits } };
  return bench.attack('main', ids.base, { repository, commit, ...intake });
}

const commitOn = (pack: Writer, tree: string, parents = [ids.base], message = 'x\n'): string =>
  pack.add(COMMIT, 'commit', Buffer.from(rawCommit(tree, parents, message)));
const folderOf = (pack: Writer, entries: [name: string, id: string][]): string =>
  pack.add(TREE, 'tree', rawTree(entries.map(([name, id]) => ({ mode: '40000', name, id }))));

it.each([
  [
    'G20 a delta bomb of 4 GiB in a few kilobytes',
    () => ({ pack: deltaBombPack(), commit: ids.fix }),
    { gitMemoryBytesMax: 1_000 * MIB },
  ],
  [
    'G21 a gigabyte of zeros in one small object',
    (pack: Writer) => {
      const zeros = pack.add(BLOB, 'blob', Buffer.alloc(101 * MIB));
      return commitOn(pack, pack.addTree(Array.from({ length: 11 }, () => zeros)));
    },
    undefined,
  ],
  [
    'G22 ten billion paths in eleven objects',
    (pack: Writer) => {
      let level = pack.addTree([pack.add(BLOB, 'blob', Buffer.from('x\n'))]);
      for (let depth = 0; depth < 10; depth += 1) {
        const below = level;
        level = folderOf(
          pack,
          Array.from({ length: 10 }, (_, index) => [`d${index}`, below]),
        );
      }
      return commitOn(pack, level);
    },
    undefined,
  ],
  [
    'G22 a folder of two hundred thousand files',
    (pack: Writer) => {
      const file = pack.add(BLOB, 'blob', Buffer.from('x\n'));
      return commitOn(pack, pack.addTree(Array.from({ length: 200_000 }, () => file)));
    },
    undefined,
  ],
  [
    'G22 folders twenty thousand deep',
    (pack: Writer) => {
      let level = pack.addTree([pack.add(BLOB, 'blob', Buffer.from('x\n'))]);
      for (let depth = 0; depth < 20_000; depth += 1) level = folderOf(pack, [['d', level]]);
      return commitOn(pack, level);
    },
    undefined,
  ],
  [
    'G22 names of 4,096 bytes, each below the one before',
    (pack: Writer) => {
      let level = pack.addTree([pack.add(BLOB, 'blob', Buffer.from('x\n'))]);
      for (let depth = 0; depth < 6; depth += 1) {
        level = folderOf(pack, [['d'.repeat(4_096), level]]);
      }
      return commitOn(pack, level);
    },
    undefined,
  ],
  [
    'G22 a message of ten megabytes',
    (pack: Writer) => {
      const tree = pack.addTree([pack.add(BLOB, 'blob', Buffer.from('x\n'))]);
      return commitOn(pack, tree, [ids.base], 'x'.repeat(10_000_000));
    },
    undefined,
  ],
  [
    'G22 a hundred thousand parents',
    (pack: Writer) => {
      const tree = pack.addTree([pack.add(BLOB, 'blob', Buffer.from('x\n'))]);
      return commitOn(
        pack,
        tree,
        Array.from({ length: 100_000 }, () => ids.base),
      );
    },
    undefined,
  ],
  [
    'G22 a signature of two megabytes in its head',
    (pack: Writer) => {
      const tree = pack.addTree([pack.add(BLOB, 'blob', Buffer.from('x\n'))]);
      const signed = rawCommit(tree, [ids.base]).replace(
        '\n\n',
        `\ngpgsig -----BEGIN\n${' x\n'.repeat(700_000)} -----END\n\n`,
      );
      return pack.add(COMMIT, 'commit', Buffer.from(signed));
    },
    undefined,
  ],
] as const)('%s: FAIL SOURCE_TOO_LARGE', async (_bomb, write, limits) => {
  const { said } = await submitPack(write, limits);
  // The constraints’ own reasons may come before it.
  expect(said).toMatch(/^FAIL ([A-Z_]+ )*SOURCE_TOO_LARGE$/);
});

it('G23 sends a pack without end: FAIL SOURCE_TOO_LARGE, and nothing of it is kept', async () => {
  const server = await bench.startServer({ neverEnds: true });
  const { said } = await bench.attack('main', ids.base, {
    repository: server.url('main.git'),
    commit: ids.fix,
    intake: { limits: { packBytesMax: 20 * MIB } },
  });
  expect(said).toBe('FAIL SOURCE_TOO_LARGE');
  expect(server.requests.at(-1)?.responseBytes).toBeLessThan(200 * MIB);
});

it('G24 sends a byte now and then, or nothing: INCONCLUSIVE REPOSITORY_UNREACHABLE', async () => {
  for (const bytesPerSecond of [0, 20]) {
    const server = await bench.startServer({ bytesPerSecond });
    const { said } = await bench.attack('main', ids.base, {
      repository: server.url('main.git'),
      commit: ids.fix,
      intake: { limits: { stallSecondsMax: 1 } },
    });
    expect(said).toBe('INCONCLUSIVE REPOSITORY_UNREACHABLE');
  }
});

it('G25 keeps just above the pace that is asked for: ended by the clock, helpers and all, INCONCLUSIVE', async () => {
  const server = await bench.startServer({ bytesPerSecond: 200 });
  const { said, reasons } = await bench.attack('main', ids.base, {
    repository: server.url('main.git'),
    commit: ids.fix,
    intake: { limits: { gitWallSecondsMax: 1, stallSecondsMax: 20, bytesPerSecondMin: 1 } },
  });
  expect(said).toMatch(/^INCONCLUSIVE REPOSITORY_UNREACHABLE/);
  expect(reasons[0]?.message).toContain('1 seconds');
});

it('G26 floods what git prints with three megabytes of escapes: PASS, and not one is shown', async () => {
  const server = await bench.startServer({ stderrFloodBytes: 3_000_000 });
  const { said, result } = await bench.attack('main', ids.base, {
    repository: server.url('main.git'),
    commit: ids.fix,
    intake: {},
  });
  expect(said).toBe('PASS');
  expect(JSON.stringify(result)).not.toMatch(/\\u001b|owned|pay this solver/);
});
