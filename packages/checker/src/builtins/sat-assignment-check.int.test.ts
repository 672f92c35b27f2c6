import { readFile } from 'node:fs/promises';
import { sealTree, type TreeEntry } from '@kervyxa/core';
import { beforeAll, describe, expect, it } from 'vitest';
import { engineDeps } from '../testing/engine-deps.ts';

const MIB = 1_024 * 1_024;
const never = new AbortController().signal;

// (1 or not 2) and (2 or 3) and (not 1 or not 3)
const THREE = 'p cnf 3 3\n1 -2 0\n2 3 0\n-1 -3 0\n';
const RIGHT = 'v 1 2 -3 0\n';

/** What is right about each by hand: instance, assignment. */
const CASES: Readonly<Record<'verified' | 'refuted' | 'inconclusive', [string, string, string][]>> =
  {
    verified: [
      ['satisfies every clause', THREE, RIGHT],
      ['says so first', THREE, 's SATISFIABLE\nv 1 2 -3 0'],
      [
        'is spread over lines, with comments between',
        THREE,
        'c a\nv 1\nc v -1 0\nv\nv 2 -3\nv 0\n',
      ],
      [
        'has lines of Windows and tabs',
        THREE.replaceAll('\n', '\r\n'),
        's SATISFIABLE\r\nv\t1 2\t -3 0\r\n',
      ],
      ['names a literal twice', THREE, 'v 1 1 2 -3 2 0'],
      ['is of clauses that share lines', 'c x\np  cnf 3 3\n1 -2 0 2\n3 0 -1 -3 0\n%\n0\n', RIGHT],
      ['has a clause with both signs', 'p cnf 1 1\n1 -1 0\n', 'v -1 0'],
      ['is of nothing', 'p cnf 0 0\n', 'v 0'],
      ['has bytes that are no text in a comment', THREE, `c \u00ff\u2028\0\n${RIGHT}`],
    ],
    refuted: [
      ['leaves a clause false', THREE, 'v 1 2 3 0'],
      ['leaves a variable out', THREE, 'v 1 2 0'],
      ['assigns nothing', THREE, 'v 0'],
      ['names a variable that there is not', THREE, 'v 1 2 -3 4 0'],
      ['names one beyond all integers', THREE, `v 1 2 -3 ${'9'.repeat(5_000)} 0`],
      ['names one whose last digits are right', THREE, 'v 1 2 -18446744073709551619 0'],
      ['contradicts itself', THREE, 'v 1 2 -3 3 0'],
      ['contradicts itself the other way round', THREE, 'v -1 1 2 -3 0'],
      ['says that there is none', THREE, 's UNSATISFIABLE\n'],
      ['says so and assigns all the same', THREE, `s UNSATISFIABLE\n${RIGHT}`],
      ['can not satisfy an empty clause', 'p cnf 1 1\n0\n', 'v 1 0'],
    ],
    inconclusive: [
      ['is empty', THREE, ''],
      ['only says so', THREE, 's SATISFIABLE\n'],
      ['says so twice', THREE, `s SATISFIABLE\ns SATISFIABLE\n${RIGHT}`],
      ['has no end', THREE, 'v 1 2 -3\n'],
      ['has its end in the middle', THREE, 'v 1 2 0 -3 0'],
      ['goes on after its end', THREE, `${RIGHT}v -3 0`],
      ['has literals on no v-line', THREE, '1 2 -3 0'],
      ['has words for literals', THREE, 'v 1 2 not3 0'],
      ['has digits of another script', THREE, 'v 1 2 -\u0663 0'],
      ['has NUL between', THREE, 'v 1 2\0-3 0'],
      ['has a number with a sign too many', THREE, 'v 1 2 --3 0'],
      ['has a number that Python alone reads', THREE, 'v 1 2 -3_0 0'],
      ['is of an instance without its first line', '1 0\n', RIGHT],
      ['is of an instance with two of them', `p cnf 3 3\n${THREE}`, RIGHT],
      ['is of an instance that lacks a clause', THREE.replace('3 3', '3 4'), RIGHT],
      ['is of an instance whose last clause has no end', THREE.slice(0, -2), RIGHT],
      ['is of an instance with a variable too many', THREE.replace('3 3', '2 3'), RIGHT],
      ['is of an instance that takes all memory', 'p cnf 9999999999 0\n', RIGHT],
      ['is of an instance in another format', 'p wcnf 3 3\n', RIGHT],
    ],
  };

// All of them in one container: the program's own function, asked again and again.
const ASK = `import importlib.util, json
spec = importlib.util.spec_from_file_location('checker', '/input/checker.py')
checker = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checker)
for number in range(COUNT):
    print(json.dumps(checker.decide('/input/%d.cnf' % number, '/input/%d.txt' % number)))
`;

const rows = Object.entries(CASES).flatMap(([result, cases]) =>
  cases.map(([name, instance, assignment]) => ({ name, result, instance, assignment })),
);
let answers: [string, string][] = [];

beforeAll(async () => {
  const program = await readFile(new URL('sat-assignment-check.py', import.meta.url));
  const { sandbox, runtimes } = await engineDeps();
  const toFile = (path: string, text: string | Uint8Array): TreeEntry => {
    // One byte a character, where it is one.
    const content = typeof text === 'string' ? toBytes(text) : text;
    return { type: 'file', path, executable: false, size: content.length, content };
  };
  const tree = await sealTree([
    toFile('checker.py', program),
    ...rows.flatMap(({ instance, assignment }, number) => [
      toFile(`${number}.cnf`, instance),
      toFile(`${number}.txt`, assignment),
    ]),
  ]);
  const session = await sandbox.openSession(
    {
      image: runtimes.get('kervyxa-runtime/python:1') ?? '',
      layout: 'inputs',
      tree,
      limits: {
        memoryBytes: 256 * MIB,
        cpuCount: 1,
        pidsMax: 64,
        workspaceBytes: MIB,
        outputBytes: MIB,
      },
      verifierPackage: null,
      runsMax: 1,
    },
    never,
  );
  try {
    const command = `python3 - <<'END'\n${ASK.replace('COUNT', String(rows.length))}END`;
    const staged = await session.stage({ command, timeoutMs: 60_000, package: 'none' }, never);
    const { stdout, stderr } = await staged.release(never);
    if (stderr.bytesTotal > 0) throw new Error(Buffer.from(stderr.head).toString());
    const lines = Buffer.from(stdout.head).toString().trim().split('\n');
    answers = lines.map((line) => JSON.parse(line));
    await staged.dispose();
  } finally {
    await session.close();
  }
});

function toBytes(text: string): Buffer {
  const isLatin = [...text].every((character) => character.charCodeAt(0) < 256);
  return Buffer.from(text, isLatin ? 'latin1' : 'utf8');
}

describe('an assignment', () => {
  it.each(rows.map(({ name, result }, number) => [name, result, number] as const))(
    'that %s: %s',
    (_, result, number) => {
      expect(answers[number]).toEqual([result, expect.stringMatching(/^[ -~]{10,200}$/)]);
    },
  );
});
