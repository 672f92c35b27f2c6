import { readContractText } from '@kervyxa/contract';
import { canonicalJson, isAppError, toPrintable } from '@kervyxa/core';
import type { FileReading } from '@kervyxa/sandbox';
import type { JsonObject } from '../contract/schema-parts.ts';
import { isJsonObject } from '../contract/schema-parts.ts';
import type { ResultKind } from '../contract/schema.ts';
import { checkAgainstSchema } from '../thread/check-schema.ts';
import { broken, type StageEnd } from './stage-end.ts';

/** Below /output: where a program leaves its answer, and how large it may be. */
export const RESULT_PATH = 'result.json';
export const RESULT_BYTES_MAX = 64 * 1_024;
export const EVIDENCE_PATH = 'evidence/summary.json';
export const EVIDENCE_BYTES_MAX = 1_024 * 1_024;

const REASON_CHARACTERS_MAX = 2_000;
const ANSWERS = ['verified', 'refuted', 'inconclusive'] as const;
const WRITE_RESULT =
  'write a JSON object such as {"result": "verified"} to /output/result.json before it ends with 0';

/** What a program that ended with 0 left in /output. */
export interface LeftFiles {
  readonly result: FileReading;
  readonly evidence: FileReading;
}

/** What the contract asks of the answer. */
export interface AnswerTerms {
  readonly resultKind: ResultKind;
  /** Null: evidence is not needed. */
  readonly evidenceSchema: JsonObject | null;
}

/** Reads the answer of a program that ended with 0; all that is wrong with it is the program's fault. */
export async function readAnswer(terms: AnswerTerms, left: LeftFiles): Promise<StageEnd> {
  const answer = readResult(terms.resultKind, left.result);
  if (answer.kind === 'broken') return answer;
  const evidence = await readEvidence(terms.evidenceSchema, left.evidence);
  if (evidence.kind === 'broken') return evidence;
  return { ...answer, evidence: evidence.value };
}

type Broken = Extract<StageEnd, { kind: 'broken' }>;
type Answer = Omit<Exclude<StageEnd, Broken | { kind: 'unmet' }>, 'evidence'>;
type Read = { readonly kind: 'read'; readonly value: unknown };

function readResult(resultKind: ResultKind, file: FileReading): Answer | Broken {
  if (file.kind === 'absent') {
    return broken(
      'RESULT_MISSING',
      `expected /output/result.json, got no such file; ${WRITE_RESULT}`,
    );
  }
  const read = readJsonFile(file);
  if (read.kind === 'problem') {
    return broken('RESULT_MALFORMED', `expected JSON in /output/result.json, got ${read.got}`);
  }
  const { value } = read;
  if (!isJsonObject(value)) {
    return broken(
      'RESULT_MALFORMED',
      `expected a JSON object in /output/result.json, got ${nameOf(value)}; ${WRITE_RESULT}`,
    );
  }
  const { result, reason = null, score = null } = value;
  if (result === 'error') {
    return broken(
      'ERROR_CLAIMED',
      `expected result to be ${ANSWERS.join(', ')}, got "error", which is not a program's to say; where it can't decide, it says "inconclusive", and where it fails, it ends with another status than 0`,
    );
  }
  const kind = ANSWERS.find((each) => each === result);
  if (kind === undefined) {
    return broken(
      'RESULT_UNKNOWN',
      `expected result to be ${ANSWERS.join(', ')}, got ${nameOf(result)}`,
    );
  }
  if (reason !== null && typeof reason !== 'string') {
    return broken('RESULT_MALFORMED', `expected reason to be text, got ${nameOf(reason)}`);
  }
  if (score !== null && typeof score !== 'number') {
    return broken('RESULT_MALFORMED', `expected score to be a number, got ${nameOf(score)}`);
  }
  if (score !== null && resultKind === 'pass_fail') {
    return broken(
      'SCORE_UNEXPECTED',
      `expected no score of a stage whose result_kind is pass_fail, got ${score}`,
    );
  }
  const isScored = resultKind === 'score' && kind === 'verified';
  if (isScored && score === null) {
    return broken(
      'SCORE_MISSING',
      'expected a score with "verified", as the result_kind of the stage is score, got none',
    );
  }
  return {
    kind,
    reason: reason === null ? null : toPrintable(reason, REASON_CHARACTERS_MAX),
    score: isScored ? score : null,
  };
}

async function readEvidence(schema: JsonObject | null, file: FileReading): Promise<Read | Broken> {
  if (file.kind === 'absent') {
    if (schema === null) return { kind: 'read', value: null };
    return broken(
      'EVIDENCE_MISSING',
      'expected /output/evidence/summary.json, as the stage has an evidence_schema, got no such file; write it with every result, also "refuted" and "inconclusive"',
    );
  }
  const read = readJsonFile(file);
  if (read.kind === 'problem') {
    return broken(
      'EVIDENCE_MALFORMED',
      `expected JSON in /output/evidence/summary.json, got ${read.got}`,
    );
  }
  if (schema === null) return read;
  const check = await checkAgainstSchema(schema, read.value);
  if (check.kind === 'valid') return read;
  const problem =
    check.kind === 'schema_broken'
      ? `expected an evidence_schema that evidence can be checked against, got one that is not: ${check.message}`
      : `expected evidence that the stage's evidence_schema takes, got ${check.problems
          .map(({ pointer, message }) => `${pointer === '' ? 'the whole' : pointer}: ${message}`)
          .join('; ')}`;
  return broken('EVIDENCE_REFUSED', toPrintable(problem));
}

type JsonFile = Read | { readonly kind: 'problem'; readonly got: string };

function readJsonFile(file: Exclude<FileReading, { kind: 'absent' }>): JsonFile {
  if (file.kind === 'not_regular') return toProblem(`a ${file.found}, which is not followed`);
  if (file.kind === 'too_large') return toProblem(`more than ${file.bytesMax} bytes`);
  try {
    const { document } = readContractText(file.head, 'json');
    // Numbers beyond all bounds and half characters: JSON text that is no JSON value.
    canonicalJson(document);
    return { kind: 'read', value: document };
  } catch (error) {
    if (isAppError(error)) return toProblem(`bytes that are none: ${error.message}`);
    if (error instanceof Error) return toProblem('a number or text that JSON can not hold');
    throw error;
  }
}

function toProblem(got: string): JsonFile {
  return { kind: 'problem', got };
}

function nameOf(value: unknown): string {
  if (typeof value === 'string') return `"${toPrintable(value, 100)}"`;
  if (value === undefined) return 'none';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
