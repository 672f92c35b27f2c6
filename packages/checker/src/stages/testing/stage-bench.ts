import { randomBytes } from 'node:crypto';
import { createIdSource } from '@kervyxa/core';
import { expect } from 'vitest';
import type { StageEnd } from '../../run/stage-end.ts';
import { type CheckCase, CheckCaseSchema, type CheckStage } from '../check-case.ts';
import type { CheckCommand, Judge } from '../check-command.ts';
import { decideCheck, nextDueOfCheck, openCheck } from '../decide-check.ts';
import { decideProblem } from '../decide-problem.ts';
import type { CheckDecision, CheckEffect } from '../decision.ts';
import { DEFAULT_STAGE_POLICY } from '../policy.ts';
import {
  type Binding,
  type ProblemCase,
  ProblemCaseSchema,
  type Sealing,
} from '../problem-case.ts';
import type { ProblemCommand } from '../problem-command.ts';
import { type ReviewProtocol, ReviewProtocolSchema } from '../review-protocol.ts';

export const newId = createIdSource(randomBytes);
export const STARTS_AT = new Date('2026-03-01T00:00:00.000Z');
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export const OWNER = newId('principal');
export const SOLVER = newId('principal');
export const JUDGES = Array.from({ length: 6 }, () => toJudge(newId('principal')));

export const PROGRAM = {
  implementationId: newId('implementation'),
  digest: `sha256:${'a'.repeat(64)}`,
  image: null,
};
export const BYTES: Binding = {
  filename: 'labels.csv',
  mediaType: 'text/csv',
  sizeBytes: 12,
  contentHash: `sha256:${'b'.repeat(64)}`,
  url: null,
};

export const SANDBOX: CheckStage = {
  kind: 'sandbox',
  key: 'form',
  resultKind: 'pass_fail',
  slots: ['instance'],
};
export const SCORED: CheckStage = {
  kind: 'sandbox',
  key: 'scoring',
  resultKind: 'score',
  slots: ['instance', 'labels'],
};
export const PARTNER: CheckStage = {
  kind: 'external',
  key: 'deposit',
  system: 'Open Reaction Database',
  ruleOwner: 'partner',
  acceptance: null,
};
export const MEASURED: CheckStage = {
  kind: 'external',
  key: 'yield',
  system: 'Diffractometer 7',
  ruleOwner: 'contract',
  acceptance: { field: 'phase/fraction', op: 'gte', value: 0.5 },
};

export const VERIFIED = { kind: 'verified', reason: null, score: null, evidence: null } as const;
export const REFUTED = { ...VERIFIED, kind: 'refuted', reason: 'no such colouring' } as const;

export function toJudge(id: string, fields: Partial<Judge> = {}): Judge {
  return { id, roles: ['arbiter'], invitedBy: null, ...fields };
}

/** Two of three arbiters, unless told otherwise. */
export function toProtocol(nodes: readonly unknown[] = [TWO_OF_THREE]): ReviewProtocol {
  return ReviewProtocolSchema.parse({
    id: newId('reviewProtocol'),
    title: 'Is the translation faithful?',
    instructions_md: 'Compare it with the source.',
    judges: { roles: ['arbiter'], people: [] },
    seat_expiry_seconds: 3_600,
    deadline_seconds: 86_400,
    nodes,
  });
}
export const TWO_OF_THREE = { key: 'readers', reducer: { kind: 'k_of_n', k: 2, n: 3 } };

export function toReview(protocol: ReviewProtocol | null): CheckStage {
  const protocolId = protocol?.id ?? newId('reviewProtocol');
  return { kind: 'review', key: 'reading', protocolId, protocol };
}

/** Sealed until the tenth day; nothing is nominated unless told otherwise. */
export function toSealing(fields: Partial<Sealing> = {}): Sealing {
  return {
    sealed_until: at(10 * DAY_MS),
    score_release: null,
    submission_limit: 2,
    entries: 'shared',
    cutoff: null,
    ...fields,
  };
}

/** `instance` is public and required, `labels` sealed. Open, with both bound, unless told otherwise. */
export function toProblem(fields: Partial<ProblemCase> = {}): ProblemCase {
  return ProblemCaseSchema.parse({
    id: newId('problem'),
    ownerId: OWNER,
    contractId: newId('verifierContract'),
    state: 'OPEN',
    slots: [
      { key: 'instance', required: true, sealed: false, mediaTypes: [], maxBytes: 100 },
      { key: 'labels', required: false, sealed: true, mediaTypes: ['text/csv'], maxBytes: 100 },
    ],
    bindings: { instance: { ...BYTES, filename: 'instance.csv' }, labels: BYTES },
    sealing: toSealing(),
    releasedAt: null,
    invited: null,
    actedIds: [],
    entrants: {},
    ...fields,
  } satisfies ProblemCase);
}

export function at(ms: number): string {
  return new Date(STARTS_AT.getTime() + ms).toISOString();
}

/** One check and its problem, with a clock that only tests move. */
export function createStageBench(
  stages: readonly CheckStage[],
  fields: Partial<ProblemCase> = {},
  entryId: string = newId('entry'),
) {
  let now = STARTS_AT;
  let problem = toProblem({ sealing: null, ...fields });
  const effects: CheckEffect[] = [];
  const context = () => ({ now, policy: DEFAULT_STAGE_POLICY, problem });
  const keep = (decision: CheckDecision): CheckCase => {
    if (decision.kind === 'refused') throw decision.error;
    effects.push(...decision.effects);
    return CheckCaseSchema.parse(structuredClone(decision.next));
  };
  let check = keep(openCheck({ id: newId('check'), entryId, solverId: SOLVER, stages }, context()));

  const bench = {
    effects,
    now: () => now,
    check: () => check,
    problem: () => problem,
    context,
    /** The code of a refusal, or null. */
    try(command: CheckCommand): string | null {
      const decision = decideCheck(check, command, context());
      if (decision.kind === 'refused') return decision.error.code;
      check = keep(decision);
      return null;
    },
    do(command: CheckCommand): CheckCase {
      expect(bench.try(command)).toBeNull();
      return check;
    },
    decideProblem(command: ProblemCommand): void {
      const decision = decideProblem(problem, command, context());
      if (decision.kind === 'refused') throw decision.error;
      problem = decision.next;
    },
    setProblem(change: Partial<ProblemCase>): void {
      problem = ProblemCaseSchema.parse({ ...problem, ...change });
    },
    elapse(ms: number): void {
      now = new Date(now.getTime() + ms);
    },
    /** Lets time pass, and what it brings come. */
    advance(ms: number): CheckCase {
      bench.elapse(ms);
      return bench.do({ kind: 'advance' });
    },
    run(end: StageEnd): CheckCase {
      const { attempt } = bench.do({ kind: 'start' });
      return bench.do({ kind: 'seal', attempt, end, program: PROGRAM });
    },
    /** Claims a seat; answers its id. */
    claim(judge: Judge, node = 'readers'): string {
      const seatId = newId('seat');
      bench.do({ kind: 'claim', seatId, node, judge });
      return seatId;
    },
    judge(judge: Judge, judgment: 'accept' | 'reject' | 'unresolved', node = 'readers'): CheckCase {
      const seatId = bench.claim(judge, node);
      return bench.do({ kind: 'judge', seatId, judge, judgment, statement: 'I have read it.' });
    },
    nextDue: () => nextDueOfCheck(check),
  };
  return bench;
}
export type StageBench = ReturnType<typeof createStageBench>;
