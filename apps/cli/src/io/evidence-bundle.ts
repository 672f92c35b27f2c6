import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createIdSource,
  isAppError,
  Sha256HexSchema,
  type Clock,
  type TreeArchive,
} from '@kervyxa/core';
import { packBundle, signStatement, toRunEvidence, type FileRef } from '@kervyxa/evidence';
import type { VerificationResult } from '@kervyxa/verifier';
import type { WorkRequest } from '../commands/verify.ts';
import type { Captures } from './captures.ts';
import { unwritable } from './own-folder.ts';
import type { SigningKeys } from './signing-key.ts';

/** How this command line signs. */
export interface Signer {
  readonly verifierId: string;
  /** Throws CLI_KEY_UNUSABLE. */
  readonly openKeys: () => SigningKeys;
}

export interface RunToLeave {
  readonly request: WorkRequest;
  readonly result: VerificationResult;
  readonly captures: Captures;
  /** The archives of the checker packages that were given. */
  readonly checkers: readonly TreeArchive[];
  readonly signer: Signer;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Names of what `leaveBundle` makes; the captures lie there only while it works. */
export const BUNDLE_FILES = [
  'evaluation.json',
  'attestation.json',
  'evidence.tar',
  'base.bundle',
  'source.bundle',
] as const;

/** An archive, and how to read it. */
interface Blob {
  readonly ref: FileRef;
  readonly open: () => AsyncIterable<Uint8Array>;
}

/**
 * Leaves in the folder the evaluation, the attestation and the bundle of a run, all of them of the full view. What
 * could not be fetched is said to be absent. Throws CLI_EVIDENCE_UNWRITABLE, CLI_KEY_UNUSABLE and what the captures
 * throw.
 */
export async function leaveBundle(folder: string, run: RunToLeave): Promise<void> {
  const { request, result, signer, clock } = run;
  const captured = [
    ...(await saveCapture(folder, 'base.bundle', run.captures.base)),
    ...(await saveCapture(folder, 'source.bundle', run.captures.source)),
  ];
  const blobs = [...captured, ...(await measureArchives(run))];
  const { repositoryUrl, commit } = request;
  const { current } = signer.openKeys();
  const evidence = toRunEvidence({
    view: 'full',
    contract: request.contract,
    result,
    run: {
      runRef: `urn:kervyxa:run:${createIdSource(randomBytes)('run')}`,
      purpose: 'verification',
      repositoryUrl,
      commit,
      claimToken: null,
    },
    verifierId: signer.verifierId,
    timeVerified: clock.now(),
    audit: null,
    blobs: blobs.map(({ ref }) => ref),
  });
  const attestation = signStatement(evidence.statement, current);
  const openBlob = ({ path }: FileRef) => {
    const blob = blobs.find(({ ref }) => ref.path === path);
    if (blob === undefined) throw new Error(`expected ${path}, got none`);
    return blob.open();
  };
  const bundle = packBundle({ ...evidence, attestation, key: current, openBlob });
  await write(folder, 'evaluation.json', [evidence.texts['evaluation.json']]);
  await write(folder, 'attestation.json', [attestation]);
  await write(folder, 'evidence.tar', bundle);
  for (const { ref } of captured) await rm(join(folder, ref.path));
}

async function saveCapture(
  folder: string,
  path: 'base.bundle' | 'source.bundle',
  capture: AsyncIterable<Uint8Array> | null,
): Promise<Blob[]> {
  if (capture === null) return [];
  try {
    const ref = { path, ...(await write(folder, path, capture)) };
    return [{ ref, open: () => createReadStream(join(folder, path)) }];
  } catch (error) {
    // Of a commit that can't be captured there is no capture, which the bundle says.
    if (!isAppError(error) || error.code !== 'INTAKE_CAPTURE_TOO_LARGE') throw error;
    await rm(join(folder, path), { force: true });
    return [];
  }
}

async function measureArchives({ request, checkers, signal }: RunToLeave): Promise<Blob[]> {
  const { verifierPackage, dependencies } = request;
  const archives: readonly (readonly [FileRef['path'], TreeArchive | null])[] = [
    ['dependencies.tar', dependencies],
    ['package.tar', verifierPackage],
    ...checkers.map((each) => [`checkers/${each.digest}.tar`, each] as const),
  ];
  const blobs: Blob[] = [];
  for (const [path, archive] of archives) {
    if (archive === null) continue;
    const read = () => archive.open(signal);
    blobs.push({ ref: { path, ...(await measure(read())) }, open: read });
  }
  return blobs;
}

async function measure(content: AsyncIterable<Uint8Array>): Promise<Omit<FileRef, 'path'>> {
  const digest = createHash('sha256');
  let size = 0;
  for await (const piece of content) {
    digest.update(piece);
    size += piece.length;
  }
  return { size, sha256: Sha256HexSchema.parse(digest.digest('hex')) };
}

/** Made anew, never through a link. */
async function write(
  folder: string,
  name: string,
  content: AsyncIterable<Uint8Array> | Iterable<string>,
): Promise<Omit<FileRef, 'path'>> {
  const path = join(folder, name);
  const file = await open(path, 'wx').catch((error: unknown) => {
    throw unwritable(folder, { name: 'evidence' }, error);
  });
  try {
    return await measure(
      (async function* () {
        for await (const each of content) {
          const piece = Buffer.from(each);
          await file.writeFile(piece).catch((error: unknown) => {
            throw unwritable(folder, { name: 'evidence' }, error);
          });
          yield piece;
        }
      })(),
    );
  } finally {
    await file.close();
  }
}
