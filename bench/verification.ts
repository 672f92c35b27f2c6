import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { contractDigest } from '@kervyxa/contract';
import { CommitShaSchema } from '@kervyxa/core';
import { type VerificationEvent, type VerifierDeps, verifyCommit } from '@kervyxa/verifier';
import { type BenchRepository, trivialContract } from './material.ts';
import { measureInterleaved, median, ratio, type Ratio, type Sample, timed } from './measure.ts';
import { run, say } from './run.ts';

const CRITERIA = 4;

export interface VerificationBench {
  /** Holds the repositories. */
  readonly root: string;
  readonly serverUrl: (name: string) => string;
  readonly deps: VerifierDeps;
  readonly dockerHost: string;
  readonly image: string;
}

/** Milliseconds of one verification, in parts. */
interface Parts {
  readonly totalMs: number;
  readonly prepareMs: number;
  readonly criteriaMs: number;
}

/** (a) and (b): a commit in the local mirror to its verdict, against what a script would do. */
export async function benchVerification(
  bench: VerificationBench,
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
    // Two series: what a run with 300 MB leaves to the kernel to clear away is no part of the small ones.
    const trivial = await measureInterleaved(
      {
        'docker run x 4': () =>
          timed(async () => {
            for (let count = 0; count < CRITERIA; count += 1) await dockerRun(bench.image, 'true');
          }),
        'kervyxa, 10 files': async () => (await verifyTrivially(bench, small)).totalMs,
      },
      rounds,
      (round) => say(`trivial criteria, round ${round} of ${rounds}`),
    );
    const large300 = await measureInterleaved(
      {
        'docker run cp -a': () =>
          timed(() => dockerRun(...tmpfs, bench.image, 'cp', '-a', '/tree/.', '/workspace/')),
        'docker run true': () => timed(() => dockerRun(...tmpfs, bench.image, 'true')),
        'kervyxa, 10 files, beside 300 MB': () =>
          keepParts(verifyTrivially(bench, small), smallParts),
        'kervyxa, 300 MB': () => keepParts(verifyTrivially(bench, large), largeParts),
      },
      rounds,
      (round) => say(`300 MB, round ${round} of ${rounds}`),
    );
    const samples = { ...trivial, ...large300 };
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

async function verifyTrivially(
  { deps, serverUrl }: VerificationBench,
  repository: BenchRepository,
): Promise<Parts> {
  const url = serverUrl(repository.name);
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
  { root, image, dockerHost }: VerificationBench,
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
