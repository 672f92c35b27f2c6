import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openAttackBench, type AttackBench } from './attack-bench.ts';

let bench: AttackBench;
beforeAll(async () => {
  bench = await openAttackBench();
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

it('BUG-1 prints a metric and passed tests, then ends with 1: FAIL, whatever was printed', async () => {
  const { base, cheat } = await bench.build('printed', [
    { name: 'base', files: { 'check.sh': 'sh hello.sh\n', 'hello.sh': 'exit 1\n' } },
    {
      name: 'cheat',
      parents: ['base'],
      files: { 'hello.sh': 'echo KERVYXA_METRIC=999; echo 10 passed; exit 1\n' },
    },
  ]);
  const { said, criteria } = await bench.attack('printed', base, { commit: cheat });
  expect(said).toBe('FAIL EXIT_CODE_MISMATCH');
  expect(criteria[0]?.metric).toBeNull();
});
