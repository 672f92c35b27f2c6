import type { CheckCase, ProblemCase } from '@kervyxa/checker';
import { canonicalDigest, canonicalJson, sha256Hex } from '@kervyxa/core';
import type { AuditHead, CheckTask } from '@kervyxa/db';
import {
  type EvaluationRecord,
  signStatement,
  type Statement,
  toPublicPem,
  toStagesEvaluation,
  toStatement,
} from '@kervyxa/evidence';
import type { JobDeps } from './job.ts';

type RecordTask = Extract<CheckTask, { readonly kind: 'record' }>;

/** Writes down, once, what each declared stage of a check that has ended said, and signs it. Throws what `openKey` throws. */
export async function recordCheck(
  { database, signing }: Pick<JobDeps, 'database' | 'signing'>,
  { check: { facts }, contract, entry }: RecordTask,
): Promise<void> {
  const problem = await database.checkers.reads.problem(facts.problemId);
  if (problem === null) throw new Error(`expected the problem of ${facts.id}, got no row`);
  const key = signing.openKey();
  const { verifierId } = signing;
  const evaluation = canonicalJson(toCheckEvaluation(facts, contract));
  const attested = { check: facts, contract, entry, problem: problem.facts };
  await database.work.useSigningKey({ keyid: key.keyid, publicKey: toPublicPem(key) });
  await database.checkers.work.recordCheck(facts.id, {
    evaluation,
    keyid: key.keyid,
    attest: (at) =>
      signStatement(toCheckStatement(attested, { ...at, evaluation, verifierId }), key),
  });
}

/** The declared checks are the stages of the contract; those after the one that ended it were not run. */
export function toCheckEvaluation(
  { stages, results, id }: CheckCase,
  contract: Pick<RecordTask['contract'], 'id' | 'digest'>,
): EvaluationRecord {
  return toStagesEvaluation({
    runRef: id,
    verifier: { ref: contract.id, digest: contract.digest },
    result: { ref: `${id}/results`, digest: canonicalDigest(results) },
    stages: stages.map(({ key }) => {
      const result = results.find(({ stage }) => stage === key);
      if (result === undefined) return { key, result: 'not_run', problem: null };
      return { key, result: result.outcome, problem: result.broken ?? result.reason };
    }),
  });
}

export interface AttestedCheck {
  readonly check: CheckCase;
  readonly contract: Pick<RecordTask['contract'], 'id' | 'digest'>;
  readonly entry: Pick<RecordTask['entry'], 'id' | 'summaryText'> & {
    readonly artifacts: readonly Pick<RecordTask['entry']['artifacts'][number], 'role' | 'blob'>[];
  };
  readonly problem: Pick<ProblemCase, 'slots' | 'bindings'>;
}

interface AttestedAt {
  readonly recordedAt: Date;
  readonly audit: AuditHead;
  /** JSON text. */
  readonly evaluation: string;
  readonly verifierId: string;
}

/** About the entry's bytes, under the contract's terms; its inputs are what decided. */
export function toCheckStatement(
  { check, contract, entry, problem }: AttestedCheck,
  { recordedAt, audit, evaluation, verifierId }: AttestedAt,
): Statement {
  const summary = entry.summaryText;
  return toStatement({
    subjects: [
      ...entry.artifacts.map(({ role, blob }) => file(role, blob)),
      // An entry without artifacts is its text, even where that is empty.
      ...(summary !== null || entry.artifacts.length === 0
        ? [file('summary.md', sha256Hex(summary ?? ''))]
        : []),
    ],
    verifierId,
    timeVerified: recordedAt,
    resourceUri: `urn:kervyxa:entry:${entry.id}`,
    policy: { uri: `urn:kervyxa:checker:${contract.id}`, digest: contract.digest },
    inputs: [
      ...toPrograms(check),
      ...toReference(check, problem),
      file('results.json', hexOf(canonicalDigest(check.results))),
      file('evaluation.json', sha256Hex(evaluation)),
    ],
    outcome: {
      ...toVerdict(check),
      runRef: `urn:kervyxa:check:${check.id}`,
      audit: { seq: Number(audit.seq), head: audit.hash },
      view: 'public',
    },
  });
}

function toPrograms({ results }: CheckCase) {
  return results.flatMap(({ stage, decidedBy }) => {
    if (decidedBy.kind !== 'program') return [];
    const program = file(`programs/${stage}`, hexOf(decidedBy.digest));
    if (decidedBy.image === null) return [program];
    return [program, file(`images/${stage}`, hexOf(decidedBy.image))];
  });
}

/** What programs were shown. Nothing of sealed bytes: who guesses them could try the guess on their digest. */
function toReference(
  { stages, results }: CheckCase,
  { slots, bindings }: AttestedCheck['problem'],
) {
  const ran = results.flatMap(({ stage, decidedBy }) =>
    decidedBy.kind === 'program' ? [stage] : [],
  );
  const shown = stages.flatMap((stage) =>
    stage.kind === 'sandbox' && ran.includes(stage.key) ? stage.slots : [],
  );
  return slots.flatMap(({ key, sealed }) => {
    const binding = bindings[key];
    // A link is only stated: no program was shown its bytes.
    if (sealed || !shown.includes(key) || binding === undefined || binding.url !== null) return [];
    return [file(`reference/${key}`, hexOf(binding.contentHash))];
  });
}

function toVerdict({ state, results }: CheckCase) {
  const reason = results.at(-1)?.reason ?? null;
  if (state === 'VERIFIED') return { verdict: 'PASS', reason: null } as const;
  if (state === 'REFUTED') return { verdict: 'FAIL', reason: reason ?? 'REFUTED' } as const;
  return { verdict: 'INCONCLUSIVE', reason: reason ?? 'CHECK_INCONCLUSIVE' } as const;
}

function file(name: string, sha256: string) {
  return { name, digest: { sha256 } };
}

function hexOf(digest: string): string {
  return digest.replace(/^sha256:/, '');
}
