import { describe, expect, it } from 'vitest';

import { lintContract } from './lint.ts';
import { benchmark, editedContract, GOOD_SETTINGS } from './testing/good-contract.ts';

const fixOf = (command: string, unit: string, languages: readonly string[]) =>
  lintContract(
    editedContract([
      ['/criteria/3', benchmark({ unit }, command)],
      ['/constraints/allowedLanguages', languages],
    ]),
    null,
    GOOD_SETTINGS,
  ).find(({ code }) => code === 'TIME_UNIT_BENCHMARK')?.fix;

describe('the fix of TIME_UNIT_BENCHMARK', () => {
  it.each([
    ['node bench.js', 'ms', ['Python'], 'source node_block_count'],
    ['npm run bench', 'seconds', [], 'source node_block_count'],
    ['python3 bench.py', 'ms', [], 'source python_opcode_count'],
    ['pytest -q bench', 's', ['Python'], 'source python_opcode_count'],
    ['sh bench.sh', 'p95', ['TypeScript'], 'source node_block_count'],
    ['sh bench.sh', 'ops/s', ['C'], 'source instructions'],
    ['./bench', 'ms', [], 'source instructions'],
    ['node bench.js', 'MB/s', [], 'source node_peak_heap_bytes or artifact_bytes'],
    ['python3 bench.py', 'bytes per second', [], 'source python_peak_bytes or artifact_bytes'],
    ['./bench', 'MiB/s', ['C'], 'source artifact_bytes'],
  ])('for %j in %j by %j names %s', (command, unit, languages, source) => {
    expect(fixOf(command, unit, languages)).toContain(source);
  });
});
