import { keepSeed, readSeeds } from './seeds.ts';
import { TARGETS } from './targets/index.ts';

const SECONDS_DEFAULT = 600;

/** Each target in turn, or those whose names hold a word of the command line. What breaks one is kept as a seed. */
async function main(): Promise<void> {
  const words = process.argv.slice(2);
  const targets = TARGETS.filter(({ name }) => words.every((word) => name.includes(word)));
  const seconds = Number(process.env['FUZZ_SECONDS'] ?? SECONDS_DEFAULT);
  if (targets.length === 0 || !(seconds > 0)) {
    const names = TARGETS.map(({ name }) => `  ${name}\n`).join('');
    const problem =
      targets.length === 0
        ? `no target whose name has ${words.join(' and ')}`
        : `expected FUZZ_SECONDS above 0, got ${process.env['FUZZ_SECONDS']}`;
    process.stderr.write(
      `${problem}\n\nFUZZ_SECONDS=${SECONDS_DEFAULT} npm run fuzz [-- WORD…]\n\n${names}`,
    );
    process.exitCode = 2;
    return;
  }
  const seeds = readSeeds();
  const chosen = process.env['FUZZ_SEED'];
  const seed = chosen === undefined ? undefined : Number(chosen);
  for (const { name, run } of targets) {
    process.stdout.write(`${name}: `);
    const milliseconds = (seconds * 1_000) / targets.length;
    const { runCount, failure } = await run({ milliseconds, seeds: seeds[name] ?? [], seed });
    process.stdout.write(`${runCount} inputs${failure === null ? '' : ', BROKEN'}\n`);
    if (failure === null) continue;
    process.stdout.write(`${JSON.stringify(failure.seed)}\n${failure.why}\n`);
    keepSeed(name, failure.seed);
    process.exitCode = 1;
  }
}

await main();
