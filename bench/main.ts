import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '@kervyxa/core';
import type { Intake } from '@kervyxa/intake';
import { createGitIntake } from '@kervyxa/intake/git';
import { createDockerSandbox } from '@kervyxa/sandbox/docker';
import { ensureReady } from '@kervyxa/setup';
import { startGitServer } from '@kervyxa/testing';
import { benchDaemon } from './daemon.ts';
import { benchGit } from './git.ts';
import { benchHostSafety } from './host-safety.ts';
import { buildHistory, buildTree } from './material.ts';
import { isMet, type Ratio, type Sample } from './measure.ts';
import { say } from './run.ts';
import { benchVerification } from './verification.ts';

const HELP = `npm run bench [-- --rounds N]

Measures side by side, interleaved, and prints medians and ratios; writes bench/results.json.
  --rounds N   rounds that count, after one to warm up (default 7)
  --daemon     only the daemon (API, queue, database), in results.json beside the other results of an earlier run
  --host       only the API beside hostile submissions, likewise
`;

const RUNTIME = 'kervyxa-runtime/node:22';
const LARGE = { name: 'large', fileCount: 20_000, fileBytes: 15_000 };

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '7' },
      daemon: { type: 'boolean', default: false },
      host: { type: 'boolean', default: false },
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
  // PostgreSQL may run as another user, who has to get to its own folder inside.
  await chmod(root, 0o711);
  try {
    const isWhole = !values.daemon && !values.host;
    const found: Measured[] = [];
    if (isWhole) found.push(await benchVerdicts(root, rounds));
    if (isWhole || values.daemon) found.push(await benchDaemon(root, rounds));
    if (isWhole || values.host) found.push(await benchHostSafety());
    await report(toResults(found), { rounds, keepOthers: !isWhole });
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** (a) to (c): from a commit to its verdict. */
async function benchVerdicts(root: string, rounds: number): Promise<Measured> {
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
    return [[...verification, ...git], { ...verified, ...fetched }];
  } finally {
    await server.close();
  }
}

type Measured = [Ratio[], Record<string, Sample>];

interface Results {
  readonly ratios: readonly Ratio[];
  readonly mediansMs: Readonly<Record<string, number>>;
}

function toResults(found: readonly Measured[]): Results {
  const samples = found.flatMap(([, all]) => Object.values(all));
  const mediansMs = Object.fromEntries(
    samples.map(({ name, medianMs }) => [name, Math.round(medianMs)]),
  );
  return { ratios: found.flatMap(([ratios]) => ratios), mediansMs };
}

async function report(
  { ratios, mediansMs }: Results,
  { rounds, keepOthers }: { readonly rounds: number; readonly keepOthers: boolean },
): Promise<void> {
  const file = join(import.meta.dirname, 'results.json');
  const kept: Results = keepOthers
    ? JSON.parse(await readFile(file, 'utf8'))
    : { ratios: [], mediansMs: {} };
  const others = kept.ratios.filter(({ id }) => !ratios.some((each) => each.id === id));
  const results = {
    rounds,
    cpuCount: cpus().length,
    ratios: [...others, ...ratios],
    mediansMs: { ...kept.mediansMs, ...mediansMs },
  };
  await writeFile(file, `${JSON.stringify(results, null, 2)}\n`);
  console.log('');
  for (const [name, ms] of Object.entries(mediansMs))
    console.log(`${String(ms).padStart(7)} ms  ${name}`);
  console.log('');
  for (const each of ratios) {
    const { title, ratio: value, bound, target } = each;
    const verdict =
      target === null ? '' : `(${bound} ${target}: ${isMet(each) ? 'met' : 'MISSED'})`;
    console.log(`${value.toFixed(3).padStart(7)}  ${title} ${verdict}`);
  }
  if (!ratios.every(isMet)) process.exitCode = 1;
}

await main();
