import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openAttackBench, type AttackBench } from './attack-bench.ts';

let bench: AttackBench;
beforeAll(async () => {
  bench = await openAttackBench();
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

const CONTENT = 'SECRET_CONTENT';
/** All that a program without privileges can ask the system about what is there and what there was. */
const LOOK = `
git log --all -p 2>&1 | head -c 20000
find / -xdev -name '*verifier*' 2>&1
find / -name '*SECRET*' 2>/dev/null
for each in "$KERVYXA_VERIFIER_PACKAGE" "$KERVYXA_PROBE"; do ls -laR --time-style=+- "$each"; du -a "$each"; df -ki "$each"; df -k "$each"; done 2>&1
env | sort
sort /proc/mounts
for file in /proc/[0-9]*/environ /proc/[0-9]*/cmdline; do tr '\\0' '\\n' < "$file"; done 2>/dev/null
for link in /proc/[0-9]*/fd/* /proc/[0-9]*/root /proc/[0-9]*/cwd; do readlink "$link"; done 2>/dev/null
grep -rls ${CONTENT} / --exclude-dir=proc --exclude-dir=sys --exclude-dir=dev 2>/dev/null | grep -v '^/workspace'
true
`;

/** What each run of code of the solver's saw, with the numbers and names that are new with every container left out. */
async function lookAround(hidden: Readonly<Record<string, string>>, base: string, cheat: string) {
  const { said, output } = await bench.attack('looking', base, {
    commit: cheat,
    hidden,
    contract: (contract) => {
      contract.submission.privacy = 'PUBLIC_WITH_HIDDEN_VERIFIER';
      contract.environment.setup = [{ command: 'sh hello.sh', timeoutSeconds: 20 }];
      contract.environment.outputKB = 1_024;
      contract.criteria.push({
        id: 'secret',
        title: 'Secret',
        type: 'exit_code',
        visibility: 'hidden',
        command: 'ls "$KERVYXA_VERIFIER_PACKAGE" | grep -q SECRET',
        timeoutSeconds: 20,
      });
    },
  });
  const seen = ['setup:0', 'criterion:says-hello'].map((step) => output.get(step) ?? '');
  return { said, seen };
}

/** What was seen, whatever number a process had and however many a shell has at a time. */
function toComparable(text: string): string[] {
  const lines = text
    .replaceAll(/[0-9a-f]{12,}/g, 'ID')
    .replaceAll(/\/l\/[A-Z0-9]{26}/g, '/l/LAYER')
    .replaceAll(/\b([ug]id=)?\d{6,7}\b/g, '$1OWNER')
    .replaceAll(/\/proc\/\d+/g, '/proc/PID')
    .replaceAll(/(pipe|socket|anon_inode|pid|mnt):\[?\d*\]?/g, '$1')
    .split('\n');
  return [...new Set(lines)].toSorted();
}

it('BUG-37 looks through git, files, environment, mounts and processes for the hidden package: PASS, and the same with any package', async () => {
  const { base, cheat } = await bench.build('looking', [
    { name: 'base', files: { 'check.sh': 'sh hello.sh\n', 'hello.sh': 'exit 1\n' } },
    { name: 'cheat', parents: ['base'], files: { 'hello.sh': LOOK } },
  ]);
  const small = await lookAround({ 'SECRET_NAME.txt': CONTENT }, base, cheat);
  const many = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [`SECRET_${index}.txt`, CONTENT.repeat(5_000)]),
  );
  const large = await lookAround(many, base, cheat);
  expect([small.said, large.said]).toEqual(['PASS', 'PASS']);
  for (const [index, text] of small.seen.entries()) {
    expect(text.length).toBeGreaterThan(1_000);
    // The script itself is what names it, and is in no output.
    expect(text.match(/SECRET_\w+/g) ?? []).toEqual([]);
    expect(toComparable(large.seen[index] ?? '')).toEqual(toComparable(text));
  }
});
