import { parseContract, PublicContractSchema, type Contract } from '@kervyxa/contract';
import { canonicalJson, isAppError, sha256Hex } from '@kervyxa/core';
import { z } from 'zod';
import { verifyEnvelope, type Expectations } from '../attestation/envelope.ts';
import {
  parsePublicKeys,
  toPublicPem,
  type PublicKey,
  type PublicKeys,
} from '../attestation/keys.ts';
import { EXTENSION, type Statement, type View } from '../attestation/statement.ts';
import { parseCanonical } from '../canonical-text.ts';
import { EvaluationRecordSchema, type EvaluationRecord } from '../evaluation/record.ts';
import { RecordedResultSchema } from '../result/recorded.ts';
import { evaluationOf, statementOf, type Judged } from './derive.ts';
import { expectedBlobs, frozenDigest } from './expected.ts';
import {
  ATTESTATION,
  KEY,
  MANIFEST,
  ManifestSchema,
  TEXTS,
  type FileRef,
  type Manifest,
} from './manifest.ts';
import { bundleRefused } from './refused.ts';
import { RunFactsSchema } from './run-facts.ts';

export interface VerifiedBundle extends Judged {
  readonly view: View;
  readonly evaluation: EvaluationRecord;
  readonly statement: Statement;
  /** Whose signature it is; where no keys were given, nobody knows whose key that is. */
  readonly key: PublicKey;
  readonly blobs: readonly FileRef[];
  /** As in the manifest. */
  readonly absent: Manifest['absent'];
}

type Texts = ReadonlyMap<string, Buffer>;

/**
 * 1. The signature is good with one of the keys that were given, or else with the key in the bundle.
 * 2. The key in the bundle is that one.
 * 3. Every text is the one text of its value, and of the size and digest that `bundle.json` has.
 * 4. Evaluation and statement are those that follow from contract, result and run.
 *
 * Throws EVIDENCE_BUNDLE_REFUSED and what `verifyEnvelope` throws.
 */
export function verifyTexts(
  texts: Texts,
  keys: PublicKeys | null,
  expected: Expectations,
): VerifiedBundle {
  const pem = bytesOf(texts, KEY).toString('latin1');
  const attestation = bytesOf(texts, ATTESTATION);
  const { statement, key } = verifyEnvelope(attestation, keys ?? readOwnKey(pem), expected);
  if (toPublicPem(key) !== pem) throw bundleRefused('expected the key that signed, got another');

  const manifest = parse(texts, MANIFEST, ManifestSchema);
  assertListed(texts, manifest);
  const judged = readJudged(texts, manifest.view);
  assertComplete(manifest, expectedBlobs(judged.contract));
  assertFrozen(manifest, judged.contract);
  const evaluation = parse(texts, 'evaluation.json', EvaluationRecordSchema);
  if (canonicalJson(evaluation) !== canonicalJson(evaluationOf(judged))) {
    throw bundleRefused('expected the evaluation that follows from the result, got another');
  }
  if (evaluation.passed !== (judged.result.verdict === 'PASS')) {
    throw bundleRefused('expected a PASS exactly where the evaluation passed, got another verdict');
  }
  assertStated(statement, judged, manifest, sha256Hex(bytesOf(texts, MANIFEST)));
  const { view, absent } = manifest;
  const blobs = manifest.files.slice(TEXTS.length);
  return { ...judged, view, absent, blobs, evaluation, statement, key };
}

function readOwnKey(pem: string): PublicKeys {
  try {
    return parsePublicKeys(pem);
  } catch (error) {
    if (!isAppError(error)) throw error;
    throw bundleRefused(`key.pem: ${error.message}`, error);
  }
}

/** The texts are there in full, in order and to the byte. */
function assertListed(texts: Texts, { files }: Manifest): void {
  for (const [index, name] of TEXTS.entries()) {
    const { path, sha256, size } = files[index] ?? {};
    const bytes = bytesOf(texts, name);
    if (path !== name || size !== bytes.length || sha256 !== sha256Hex(bytes)) {
      throw bundleRefused(`expected ${name} as bundle.json has it, got another`);
    }
  }
}

/** What the contract calls for is there or is said to be absent; nothing else is, and all in order. */
function assertComplete({ files, absent }: Manifest, wanted: readonly string[]): void {
  const there = files.slice(TEXTS.length).map(({ path }) => path);
  const missing = new Set<string>(absent);
  const isWhole =
    canonicalJson(there) === canonicalJson(wanted.filter((path) => !missing.has(path))) &&
    canonicalJson(absent) === canonicalJson(wanted.filter((path) => missing.has(path)));
  if (!isWhole)
    throw bundleRefused('expected the archives that the contract calls for, got others');
}

/** Packages and dependencies are those that the contract names by digest. */
function assertFrozen({ files }: Manifest, contract: Judged['contract']): void {
  for (const { path, sha256 } of files) {
    const frozen = frozenDigest(contract, path);
    if (frozen === null || frozen === sha256) continue;
    throw bundleRefused(
      `expected ${path} with SHA-256 ${frozen}, as the contract has it, got ${sha256}`,
    );
  }
}

function assertStated(
  statement: Statement,
  judged: Judged,
  manifest: Manifest,
  manifestSha256: string,
): void {
  const { verifier, timeVerified, [EXTENSION]: extension } = statement.predicate;
  const follows = statementOf(judged, {
    view: manifest.view,
    manifest,
    manifestSha256,
    verifierId: verifier.id,
    timeVerified: new Date(timeVerified),
    audit: extension.audit,
  });
  if (canonicalJson(statement) === canonicalJson(follows)) return;
  throw bundleRefused('expected the files that were signed, got those of another bundle');
}

function readJudged(texts: Texts, view: View): Judged {
  const contract =
    view === 'full' ? readContract(texts) : parse(texts, 'contract.json', PublicContractSchema);
  const policyDigest = `sha256:${sha256Hex(bytesOf(texts, 'contract.json'))}`;
  const result = parse(texts, 'result.json', RecordedResultSchema);
  const run = parse(texts, 'run.json', RunFactsSchema);
  if (result.commit !== run.commit) throw bundleRefused('expected one commit, got two');
  if (result.contractDigest !== (view === 'full' ? policyDigest : null)) {
    throw bundleRefused('expected a result under this contract, got one under another');
  }
  return { contract, policyDigest, result, run };
}

function readContract(texts: Texts): Contract {
  try {
    return parseContract(parseCanonical(bytesOf(texts, 'contract.json')));
  } catch (error) {
    if (!isAppError(error)) throw error;
    throw bundleRefused(`contract.json: ${error.message}`, error);
  }
}

function parse<T>(texts: Texts, name: string, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(parseCanonical(bytesOf(texts, name)));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw bundleRefused(
    `expected ${name} in its one form, got a problem at "${issue?.path.join('.') ?? ''}"`,
  );
}

function bytesOf(texts: Texts, name: string): Buffer {
  const bytes = texts.get(name);
  if (bytes === undefined) throw bundleRefused(`expected ${name}, got none`);
  return bytes;
}
