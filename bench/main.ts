import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { contractDigest } from '@kervyxa/contract';
import { CommitShaSchema, systemClock } from '@kervyxa/core';
import { createGitIntake } from '@kervyxa/intake/git';
import type { Intake } from '@kervyxa/intake';
import { createDockerSandbox } from '@kervyxa/sandbox/docker';
import { ensureReady } from '@kervyxa/setup';
import { startGitServer } from '@kervyxa/testing';
import { type VerificationEvent, verifyCommit } from '@kervyxa/verifier';
import { type BenchRepository, buildHistory, buildTree, trivialContract } from './material.ts';
import { measureInterleaved, median, type Sample, timed } from './measure.ts';

const HELP = `npm run bench [-- --rounds N]

Measures side by side, interleaved, and prints medians and ratios; writes bench/results.json.
  --rounds N   rounds that count, after one to warm up (default 7)
`;

const RUNTIME = 'kervyxa-runtime/node:22';
const CRITERIA = 4;
const LARGE = { name: 'large', fileCount: 20_000, fileBytes: 15_000 };

interface Ratio {
  readonly id: string;
  readonly title: string;
  readonly ratio: number;
  /** The most that the project allows itself; null where nothing is promised. */
  readonly target: number | null;
}

/** Milliseconds of one verification, in parts. */
interface Parts {
  readonly totalMs: number;
  readonly prepareMs: number;
  readonly criteriaMs: number;
}

interface Bench {
  readonly root: string;
  readonly serverUrl: (name: string) => string;
  readonly dockerHost: string;
  readonly image: string;
  verify(repository: BenchRepository): Promise<Parts>;
}

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
    const intake = newIntake('cache');
    const deps = {
      intake,
      sandbox,
      clock: systemClock,
      parallelism: cpus().length,
      runtimes: new Map([[RUNTIME, image]]),
    };
    const bench: Bench = {
      root,
      dockerHost,
      image,
      serverUrl: (name) => server.url(name),
      verify: (repository) => verifyTrivially(deps, server.url(repository.name), repository),
    };
    const [verification, verified] = await benchVerification(bench, { small, large }, rounds);
    const [git, fetched] = await benchGit(bench, newIntake, history, rounds);
    await report([...verification, ...git], { ...verified, ...fetched }, rounds);
  } finally {
    await server.close();
  }
}

/** (a) and (b): a commit in the local mirror to its verdict, against what a script would do. */
async function benchVerification(
  bench: Bench,
  { small, large }: { small: BenchRepository; large: BenchRepository },
  rounds: number,
): Promise<[Ratio[], Record<string, Sample>]> {
  const smallParts: Parts[] = [];
  const largeParts: Parts[] = [];
  const treeVolume = await exportTree(bench, large);
  const dockerRun = (...args: string[]): Promise<unknown> =>
    run('docker', ['run', '--rm', '--network', 'none', ...args], { DOCKER_HOST: bench.dockerHost });
  const tmpfs = ['--tmpfs', '/workspace:size=1g,exec', '-v', `${treeVolume}:/tree:ro`];
  try {
    const samples = await measureInterleaved(
      {
        'docker run x 4': () =>
          timed(async () => {
            for (let count = 0; count < CRITERIA; count += 1) await dockerRun(bench.image, 'true');
          }),
        'docker run cp -a': () =>
          timed(() => dockerRun(...tmpfs, bench.image, 'cp', '-a', '/tree/.', '/workspace/')),
        'docker run true': () => timed(() => dockerRun(...tmpfs, bench.image, 'true')),
        'kervyxa, 10 files': () => keepParts(bench.verify(small), smallParts),
        'kervyxa, 300 MB': () => keepParts(bench.verify(large), largeParts),
      },
      rounds,
      (round) => say(`verification, round ${round} of ${rounds}`),
    );
    const ms = (name: string): number => samples[name]?.medianMs ?? Number.NaN;
    const of = (parts: Parts[], part: keyof Parts): number =>
      median(parts.slice(1).map((one) => one[part]));
    const copyMs = ms('docker run cp -a') - ms('docker run true');
    const added = (part: keyof Parts): number =>
      (of(largeParts, part) - of(smallParts, part)) / CRITERIA / copyMs;
    return [
      [
        ratio(
          'a',
          'four trivial criteria, commit to verdict / four docker run',
          ms('kervyxa, 10 files') / ms('docker run x 4'),
          0.6,
        ),
        ratio('b', '300 MB tree: added cost of a criterion / one cp -a', added('criteriaMs'), 0.15),
        ratio(
          'b-prepare',
          '300 MB tree: preparing it once a run / one cp -a',
          (of(largeParts, 'prepareMs') - of(smallParts, 'prepareMs')) / copyMs,
          null,
        ),
        ratio(
          'b-whole',
          '300 MB tree: all that it adds, spread over four criteria / one cp -a',
          added('totalMs'),
          null,
        ),
      ],
      samples,
    ];
  } finally {
    await run('docker', ['volume', 'rm', '-f', treeVolume], { DOCKER_HOST: bench.dockerHost });
  }
}

/** (c): fetch, ancestry and diff on a long history, cold and warm, against a mirror clone and git by hand. */
async function benchGit(
  bench: Bench,
  newIntake: (folder: string) => Intake,
  history: BenchRepository & { readonly heads: readonly string[] },
  rounds: number,
): Promise<[Ratio[], Record<string, Sample>]> {
  const url = bench.serverUrl(history.name);
  const fetchOnce = async (intake: Intake, sha: string): Promise<void> => {
    const [baseCommit, commit] = [CommitShaSchema.parse(history.base), CommitShaSchema.parse(sha)];
    const request = { baseRepositoryUrl: url, baseCommit, repositoryUrl: url, commit };
    const outcome = await intake.fetchCommit(request, new AbortController().signal);
    if (outcome.kind !== 'fetched') throw new Error(`expected the commit, got ${outcome.message}`);
    await outcome.source.close();
  };
  const warm = newIntake('warm');
  await fetchOnce(warm, history.head);
  let round = 0;
  const samples = await measureInterleaved(
    {
      'git clone by hand': () => timed(() => cloneByHand(bench.root, url, history, round)),
      'intake, cold': () => timed(() => fetchOnce(newIntake(`cold-${round}`), history.head)),
      'intake, warm, 5 new commits': () =>
        timed(() => fetchOnce(warm, history.heads[round] ?? history.head)),
      'intake, captured': () => timed(() => fetchOnce(warm, history.head)),
    },
    rounds,
    (current) => {
      round = current;
      say(`git, round ${current} of ${rounds}`);
    },
  );
  const ms = (name: string): number => samples[name]?.medianMs ?? Number.NaN;
  const of = (name: string): number => ms(name) / ms('git clone by hand');
  return [
    [
      ratio(
        'c-cold',
        '5,000 commits: cold intake / git clone + ancestry + diff by hand',
        of('intake, cold'),
        null,
      ),
      ratio(
        'c-warm',
        '5,000 commits: warm intake, 5 new commits / by hand',
        of('intake, warm, 5 new commits'),
        null,
      ),
      ratio(
        'c-captured',
        '5,000 commits: intake of a captured commit / by hand',
        of('intake, captured'),
        null,
      ),
    ],
    samples,
  ];
}

async function verifyTrivially(
  deps: Parameters<typeof verifyCommit>[0],
  url: string,
  repository: BenchRepository,
): Promise<Parts> {
  const contract = trivialContract(url, repository.base, CRITERIA);
  const at = new Map<string, number>();
  const onEvent = (event: VerificationEvent): void => {
    if (event.kind === 'step_finished') at.set(event.step.id, performance.now());
  };
  const startMs = performance.now();
  const result = await verifyCommit(
    deps,
    {
      contract,
      contractDigest: contractDigest(contract),
      repositoryUrl: url,
      commit: CommitShaSchema.parse(repository.head),
      verifierPackage: null,
    },
    { signal: new AbortController().signal, onEvent },
  );
  const endMs = performance.now();
  if (result.verdict !== 'PASS')
    throw new Error(`expected PASS, got ${JSON.stringify(result.reasons)}`);
  const readyMs = at.get('workspace') ?? Number.NaN;
  return { totalMs: endMs - startMs, prepareMs: readyMs - startMs, criteriaMs: endMs - readyMs };
}

async function keepParts(measuring: Promise<Parts>, kept: Parts[]): Promise<number> {
  const parts = await measuring;
  kept.push(parts);
  return parts.totalMs;
}

/** The large tree as files in a volume of the engine: what a script would mount and copy from. */
async function exportTree(
  { root, image, dockerHost }: Bench,
  repository: BenchRepository,
): Promise<string> {
  const volume = 'kervyxa-bench-tree';
  const tar = join(root, 'tree.tar');
  await run('git', [
    '-C',
    join(root, `${repository.name}.git`),
    'archive',
    '-o',
    tar,
    repository.head,
  ]);
  const mounts = ['-v', `${volume}:/tree`, '-v', `${tar}:/tree.tar:ro`];
  await run(
    'docker',
    [
      'run',
      '--rm',
      '--network',
      'none',
      ...mounts,
      image,
      'tar',
      '-xf',
      '/tree.tar',
      '-C',
      '/tree',
    ],
    {
      DOCKER_HOST: dockerHost,
    },
  );
  await rm(tar);
  return volume;
}

async function cloneByHand(
  root: string,
  url: string,
  { base, head }: BenchRepository,
  round: number,
): Promise<void> {
  const folder = join(root, `by-hand-${round}.git`);
  await run('git', ['clone', '-q', '--bare', url, folder]);
  await run('git', ['-C', folder, 'merge-base', '--is-ancestor', base, head]);
  await run('git', ['-C', folder, 'diff', '--name-only', '--no-renames', base, head]);
  await rm(folder, { recursive: true });
}

function run(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, ...env },
    });
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${command} ${args[0]} ended with ${code}`)),
    );
  });
}

function ratio(id: string, title: string, value: number, target: number | null): Ratio {
  return { id, title, ratio: Math.round(value * 1_000) / 1_000, target };
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

function say(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}

await main();
