import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '@kervyxa/core';
import type { Intake } from '@kervyxa/intake';
import { createGitIntake } from '@kervyxa/intake/git';
import { createDockerSandbox } from '@kervyxa/sandbox/docker';
import { ensureReady } from '@kervyxa/setup';
import { startGitServer } from '@kervyxa/testing';
import { benchGit } from './git.ts';
import { buildHistory, buildTree } from './material.ts';
import type { Ratio, Sample } from './measure.ts';
import { say } from './run.ts';
import { benchVerification } from './verification.ts';

const HELP = `npm run bench [-- --rounds N]

Measures side by side, interleaved, and prints medians and ratios; writes bench/results.json.
  --rounds N   rounds that count, after one to warm up (default 7)
`;

const RUNTIME = 'kervyxa-runtime/node:22';
const LARGE = { name: 'large', fileCount: 20_000, fileBytes: 15_000 };

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '7' },
      help: { type: 'boolean', default: false },
    },
  });
  const rounds = Number(values.rounds);
  if (values.help || !Number.isInteger(rounds) || rounds < 1) {
    process.stdout.write(HELP);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const root = await mkdtemp(join(tmpdir(), 'kervyxa-bench-'));
  try {
    await runBench(root, rounds);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function runBench(root: string, rounds: number): Promise<void> {
  const { dockerHost, runtimes } = await ensureReady({ log: say, interactive: false });
  const image = runtimes.get(RUNTIME)?.imageId;
  if (image === undefined) throw new Error(`expected runtime ${RUNTIME} after set-up, got none`);
  say('building repositories: 10 files; 20,000 files of 300 MB; 5,000 commits of 2,000 files');
  const small = await buildTree(root, { name: 'small', fileCount: 10, fileBytes: 1_000 });
  const large = await buildTree(root, LARGE);
  const history = await buildHistory(root, {
    name: 'history',
    commitCount: 5_000,
    fileCount: 2_000,
    fresh: rounds + 1,
  });
  const server = await startGitServer({ root });
  try {
    const newIntake = (folder: string): Intake =>
      createGitIntake({
        cacheFolder: join(root, folder),
        allowedOrigins: [server.origin],
        clock: systemClock,
      });
    const sandbox = createDockerSandbox({ dockerHost, toolsImage: image, clock: systemClock });
    const deps = {
      intake: newIntake('cache'),
      sandbox,
      clock: systemClock,
      coreCount: cpus().length,
      runtimes: new Map([[RUNTIME, image]]),
    };
    const bench = { root, dockerHost, image, deps, newIntake, serverUrl: server.url };
    const [verification, verified] = await benchVerification(bench, { small, large }, rounds);
    const [git, fetched] = await benchGit(bench, history, rounds);
    await report([...verification, ...git], { ...verified, ...fetched }, rounds);
  } finally {
    await server.close();
  }
}

async function report(
  ratios: readonly Ratio[],
  samples: Readonly<Record<string, Sample>>,
  rounds: number,
): Promise<void> {
  const medians = Object.fromEntries(
    Object.values(samples).map(({ name, medianMs }) => [name, Math.round(medianMs)]),
  );
  const results = { rounds, cpuCount: cpus().length, ratios, mediansMs: medians };
  await writeFile(
    join(import.meta.dirname, 'results.json'),
    `${JSON.stringify(results, null, 2)}\n`,
  );
  console.log('');
  for (const [name, ms] of Object.entries(medians))
    console.log(`${String(ms).padStart(7)} ms  ${name}`);
  console.log('');
  for (const { title, ratio: value, target } of ratios) {
    const verdict =
      target === null
        ? ''
        : value <= target
          ? `(at most ${target}: met)`
          : `(at most ${target}: MISSED)`;
    console.log(`${value.toFixed(3).padStart(7)}  ${title} ${verdict}`);
  }
  if (ratios.some(({ ratio: value, target }) => target !== null && !(value <= target)))
    process.exitCode = 1;
}

await main();
