import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openAttackBench, type AttackBench } from './attack-bench.ts';

let bench: AttackBench;
beforeAll(async () => {
  bench = await openAttackBench();
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

// What is locked is the same file in each container of a verification.
const TELL = `case $1 in
  hidden) for file in /etc/hosts /etc/passwd "$KERVYXA_DEPS" "$KERVYXA_PROBE"; do flock "$file" sleep 2 & done; wait ;;
  public)
    for at in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
      for file in /etc/hosts /etc/passwd "$KERVYXA_DEPS" "$KERVYXA_PROBE"; do
        flock -n "$file" true || echo "heard of $file"
      done
      sleep 0.2
    done
    ;;
esac
exit 0
`;

it('C37 tells a public run from a hidden one what it saw, by locking files that both have: PASS, and nothing is heard', async () => {
  const { base, cheat } = await bench.build('beside', [
    { name: 'base', files: { 'check.sh': 'sh hello.sh\n', 'hello.sh': 'exit 1\n' } },
    { name: 'cheat', parents: ['base'], files: { 'hello.sh': TELL } },
  ]);
  const { said, output } = await bench.attack('beside', base, {
    commit: cheat,
    hidden: { 'secret.sh': 'exit 0' },
    contract: (contract) => {
      contract.criteria = (['hidden', 'public'] as const).map((visibility) => ({
        id: visibility,
        title: `It runs, ${visibility}`,
        type: 'exit_code',
        visibility,
        command: `sh hello.sh ${visibility}`,
        timeoutSeconds: 30,
      }));
    },
  });
  expect(said).toBe('PASS');
  expect(output.get('criterion:public') ?? '').toBe('');
});
