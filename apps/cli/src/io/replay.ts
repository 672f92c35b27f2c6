import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  createConformance,
  readArchiveFiles,
  readCheckerPackage,
  type CheckerPackage,
} from '@kervyxa/checker';
import { CommitShaSchema, isAppError, type TreeArchive } from '@kervyxa/core';
import { believing, bundleRefused, type FileRef, type VerifiedBundle } from '@kervyxa/evidence';
import { createGitIntake } from '@kervyxa/intake/git';
import { openBundle, readPackageArchive } from '@kervyxa/intake/package';
import { verifyCommit, type VerifyRequest } from '@kervyxa/verifier';
import type { OpenReplay, Replay } from '../commands/evidence/replay.ts';
import type { Host } from '../host.ts';
import { parseSettings } from '../settings.ts';
import { openEngine } from './engine.ts';

/**
 * A folder of its own for one bundle, and what runs from it: an intake that knows nothing but the captures of the
 * bundle, and this machine's engine.
 */
export function createReplay(host: Host): OpenReplay {
  return async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kervyxa-replay-'));
    return {
      saveBlob: (blob, content) => save(join(folder, blob.path), content),
      run: (bundle, contract, options) => run(host, folder, { bundle, contract, options }),
      close: () => rm(folder, { recursive: true, force: true }),
    };
  };
}

async function save(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const piece of content) await file.writeFile(piece);
  } finally {
    await file.close();
  }
}

interface Run {
  readonly bundle: VerifiedBundle;
  readonly contract: Parameters<Replay['run']>[1];
  readonly options: Parameters<Replay['run']>[2];
}

async function run(
  { clock, interactive, env }: Host,
  folder: string,
  { bundle, contract, options }: Run,
): ReturnType<Replay['run']> {
  const { log, live, onEvent, signal } = options;
  const { containerRuntime } = parseSettings(env);
  const places = { allowedOrigins: [], containerRuntime };
  const engine = await openEngine({ clock, interactive, ...places, log, live, signal });

  const { repositoryUrl, commit: id, claimToken } = bundle.run;
  const { url: baseRepositoryUrl, baseCommit } = contract.repository;
  const commit = CommitShaSchema.parse(id);
  const intake = createGitIntake({
    cacheFolder: join(folder, 'git'),
    // Names only: nothing is fetched, so no address is ever looked up.
    allowedOrigins: [baseRepositoryUrl, repositoryUrl].flatMap(
      (url) => URL.parse(url)?.origin ?? [],
    ),
    resolveHost: () => Promise.reject(new Error('expected no server to be asked in a replay')),
    clock,
  });
  const request = { baseRepositoryUrl, baseCommit, repositoryUrl, commit };
  const pathOf = (path: FileRef['path']) => join(folder, path);
  const inputs = await refusing(async () => {
    await intake.importBase(request, createReadStream(pathOf('base.bundle')), signal);
    await intake.importCommit(request, createReadStream(pathOf('source.bundle')), signal);
    return loadInputs(bundle, pathOf, signal);
  });
  const { image } = contract.environment;
  const { imageDigest } = bundle.result;
  const runtimes = imageDigest === null ? [] : ([[image, imageDigest]] as const);
  return verifyCommit(
    {
      ...engine,
      intake,
      clock,
      conformance: believing(bundle.result, createConformance()),
      coreCount: availableParallelism(),
      runtimes: new Map([...engine.runtimes, ...runtimes]),
    },
    {
      contract,
      contractDigest: bundle.policyDigest,
      repositoryUrl,
      commit,
      claimToken,
      ...inputs,
    },
    { signal, onEvent },
  );
}

/**
 * Archives are their signer's word: those that can't be read, or are captures of something else, are no trouble of this
 * machine. Throws EVIDENCE_BUNDLE_REFUSED.
 */
async function refusing<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isAppError(error)) throw error;
    const isOfBundle = error.traits.fault === 'caller' || error.code === 'INTAKE_CAPTURE_DAMAGED';
    throw isOfBundle ? bundleRefused(error.message, error) : error;
  }
}

async function loadInputs(
  bundle: VerifiedBundle,
  pathOf: (path: FileRef['path']) => string,
  signal: AbortSignal,
): Promise<Pick<VerifyRequest, 'verifierPackage' | 'dependencies' | 'checkers'>> {
  const has = (path: FileRef['path']) => bundle.blobs.some((blob) => blob.path === path);
  return {
    verifierPackage: has('package.tar') ? await loadArchive(pathOf('package.tar')) : null,
    dependencies: has('dependencies.tar') ? await openBundle(pathOf('dependencies.tar')) : null,
    checkers: await loadCheckers(bundle, pathOf, signal),
  };
}

async function loadArchive(path: string): Promise<TreeArchive> {
  return (await readPackageArchive(createReadStream(path))).archive;
}

/** Those that lint lets through; a run had no others. */
async function loadCheckers(
  { blobs }: VerifiedBundle,
  pathOf: (path: FileRef['path']) => string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, CheckerPackage>> {
  const checkers = new Map<string, CheckerPackage>();
  for (const { path } of blobs.filter((blob) => blob.path.startsWith('checkers/'))) {
    const archive = await loadArchive(pathOf(path));
    const files = await readArchiveFiles(archive, signal);
    const { package: checker } = readCheckerPackage(files, archive.digest);
    if (checker !== null) checkers.set(archive.digest, checker);
  }
  return checkers;
}
