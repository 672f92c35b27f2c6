import type { CheckCase } from '@kervyxa/checker';
import { canonicalDigest, canonicalJson, sha256Hex } from '@kervyxa/core';
import type { AuditHead, CheckTask } from '@kervyxa/db';
import {
  type EvaluationRecord,
  signStatement,
  type SigningKey,
  toPublicPem,
  toStagesEvaluation,
  toStatement,
} from '@kervyxa/evidence';
import type { JobDeps } from './job.ts';

type RecordTask = Extract<CheckTask, { readonly kind: 'record' }>;

/** Writes down, once, what each declared stage of a check that has ended said, and signs it. Throws what `openKey` throws. */
export async function recordCheck(
  { database, signing }: Pick<JobDeps, 'database' | 'signing'>,
  task: RecordTask,
): Promise<void> {
  const key = signing.openKey();
  const evaluation = canonicalJson(toCheckEvaluation(task.check.facts, task.contract));
  await database.work.useSigningKey({ keyid: key.keyid, publicKey: toPublicPem(key) });
  await database.checkers.work.recordCheck(task.check.id, {
    evaluation,
    keyid: key.keyid,
    attest: (facts) => attest(task, { ...facts, evaluation, key, verifierId: signing.verifierId }),
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

interface Attesting {
  readonly recordedAt: Date;
  readonly audit: AuditHead;
  readonly evaluation: string;
  readonly key: SigningKey;
  readonly verifierId: string;
}

/** About the entry's bytes, under the contract's terms; the programs that decided are its inputs. */
function attest(
  { check: { id, facts }, contract, entry }: RecordTask,
  { recordedAt, audit, evaluation, key, verifierId }: Attesting,
): string {
  const summary = entry.summaryText;
  const programs = facts.results.flatMap(({ stage, decidedBy }) =>
    decidedBy.kind === 'program' ? [file(`programs/${stage}`, hexOf(decidedBy.digest))] : [],
  );
  const statement = toStatement({
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
      ...programs,
      file('results.json', hexOf(canonicalDigest(facts.results))),
      file('evaluation.json', sha256Hex(evaluation)),
    ],
    outcome: {
      ...toVerdict(facts),
      runRef: `urn:kervyxa:check:${id}`,
      audit: { seq: Number(audit.seq), head: audit.hash },
      view: 'public',
    },
  });
  return signStatement(statement, key);
}

function toVerdict({ state, results }: RecordTask['check']['facts']) {
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
