import { randomBytes } from 'node:crypto';
import {
  type CheckCase,
  CheckCaseSchema,
  type CheckCommand,
  type CheckDecision,
  decideCheck,
  DEFAULT_STAGE_POLICY,
  openCheck,
  ProblemCaseSchema,
  type StageEnd,
} from '@kervyxa/checker';
import { createIdSource, sha256Hex } from '@kervyxa/core';
import { EvaluationRecordSchema } from '@kervyxa/evidence';
import { describe, expect, it } from 'vitest';
import { toCheckEvaluation, toCheckStatement } from './record-check.ts';

const newId = createIdSource(randomBytes);
const CONTRACT = { id: newId('verifierContract'), digest: `sha256:${'1'.repeat(64)}` };
const PROBLEM = ProblemCaseSchema.parse({
  id: newId('problem'),
  ownerId: newId('principal'),
  contractId: CONTRACT.id,
  state: 'OPEN',
  slots: [],
  bindings: {},
  sealing: null,
  releasedAt: null,
  invited: null,
  actedIds: [],
  entrants: {},
});
const PROGRAM = {
  implementationId: newId('implementation'),
  digest: `sha256:${'2'.repeat(64)}`,
  image: `sha256:${'3'.repeat(64)}`,
};
const AT = new Date('2026-03-01T00:00:00.000Z');
const VERIFIED = { kind: 'verified', reason: null, score: null, evidence: null } as const;

const context = (now = AT) => ({ now, policy: DEFAULT_STAGE_POLICY, problem: PROBLEM });

/** As the database keeps it. */
function keep(decision: CheckDecision): CheckCase {
  if (decision.kind === 'refused') throw decision.error;
  return CheckCaseSchema.parse(JSON.parse(JSON.stringify(decision.next)));
}

/** A check of three stages that has only been opened. */
function opened(): CheckCase {
  const stage = { kind: 'sandbox' as const, resultKind: 'pass_fail' as const, slots: [] };
  const stages = ['form', 'content', 'size'].map((key) => ({ ...stage, key }));
  const facts = { id: newId('check'), entryId: newId('entry'), solverId: newId('principal') };
  return keep(openCheck({ ...facts, stages }, context()));
}

function attempt(check: CheckCase, tell: (attempt: number) => CheckCommand): CheckCase {
  const started = keep(decideCheck(check, { kind: 'start' }, context()));
  return keep(decideCheck(started, tell(started.attempt), context()));
}

/** Whose stages ended like this, the first of them first. */
function checkOf(ends: readonly StageEnd[]): CheckCase {
  return ends.reduce(
    (check, end) =>
      attempt(check, (number) => ({ kind: 'seal', attempt: number, end, program: PROGRAM })),
    opened(),
  );
}

const recordOf = (check: CheckCase) =>
  EvaluationRecordSchema.parse(toCheckEvaluation(check, CONTRACT));

// Keeps R-EVIDENCE-RECORD.
describe('the record of a check', () => {
  it('passes where every stage of the contract does', () => {
    const check = checkOf([VERIFIED, VERIFIED, VERIFIED]);
    const record = recordOf(check);
    expect(record).toMatchObject({
      passed: true,
      'verifier/ref': CONTRACT.id,
      'run/ref': check.id,
    });
    expect(record.checks.map((each) => each['check/ref'])).toEqual(['form', 'content', 'size']);
  });

  it('names the stages behind the one that ended it, and does not pass for them', () => {
    const record = recordOf(checkOf([VERIFIED, { ...VERIFIED, kind: 'refuted' }]));
    expect(record.checks.map(({ status }) => status)).toEqual(['passed', 'failed', 'not_run']);
    expect(record).toMatchObject({ passed: false });
    expect(record['refusal/code']).toBeUndefined();
  });

  it.each([
    ['TIME_LIMIT', 'timed_out'],
    ['RESULT_UNKNOWN', 'result_malformed'],
    ['EVIDENCE_REFUSED', 'result_malformed'],
    ['EXIT_STATUS', undefined],
  ] as const)('of a program that broke on %s has the refusal %s', (code, refusal) => {
    const record = recordOf(checkOf([{ kind: 'broken', code, message: 'it went wrong' }]));
    expect(record.checks[0]?.status).toBe('inconclusive');
    expect(record['refusal/code']).toBe(refusal);
  });

  it('has no refusal where the submission lacks something', () => {
    const record = recordOf(checkOf([{ kind: 'unmet', message: 'no artifact' }]));
    expect(record['refusal/code']).toBeUndefined();
  });

  it('refuses what somebody changed the inputs of, once nobody tries again', () => {
    let check = opened();
    while (check.state === 'WAITING_SANDBOX') {
      check = attempt(check, (number) => {
        return { kind: 'fail', attempt: number, reason: 'INPUTS_CHANGED' };
      });
    }
    const late = context(new Date(check.heldUntil ?? ''));
    const ended = keep(decideCheck(check, { kind: 'advance' }, late));
    expect(recordOf(ended)).toMatchObject({ passed: false, 'refusal/code': 'mutation_detected' });
  });
});

// Keeps R-EVIDENCE-SIGNED, R-EVIDENCE-SIGHT.
describe('the attestation of a check', () => {
  const binding = (text: string, url: string | null = null) => {
    const contentHash = `sha256:${sha256Hex(text)}`;
    return { filename: text, mediaType: null, sizeBytes: text.length, contentHash, url };
  };
  const bindings = {
    instance: binding('instance'),
    labels: binding('sealed labels'),
    paper: binding('paper', 'https://example.org/paper'),
    unread: binding('unread'),
  };
  const slots = ['instance', 'labels', 'paper', 'unread'].map((key) => {
    const sealed = key === 'labels';
    return { key, required: true, sealed, mediaTypes: [], maxBytes: 100 };
  });
  const stated = (check: CheckCase) => {
    const { predicate, subject } = toCheckStatement(
      {
        check: {
          ...check,
          stages: check.stages.map((stage) => ({
            ...stage,
            slots: ['instance', 'labels', 'paper'],
          })),
        },
        contract: CONTRACT,
        entry: { id: check.entryId, summaryText: '42', artifacts: [] },
        problem: { slots, bindings },
      },
      {
        recordedAt: AT,
        audit: { seq: 7n, hash: 'a'.repeat(64) },
        evaluation: '{}',
        verifierId: 'urn:kervyxa:verifier:test',
      },
    );
    return { inputs: predicate.inputAttestations, subject };
  };

  it('is about the bytes of the entry, and names program, image and what they were shown', () => {
    const { inputs, subject } = stated(checkOf([VERIFIED, { ...VERIFIED, kind: 'refuted' }]));
    expect(subject).toEqual([{ name: 'summary.md', digest: { sha256: sha256Hex('42') } }]);
    expect(inputs.slice(0, -2)).toEqual([
      { name: 'programs/form', digest: { sha256: '2'.repeat(64) } },
      { name: 'images/form', digest: { sha256: '3'.repeat(64) } },
      { name: 'programs/content', digest: { sha256: '2'.repeat(64) } },
      { name: 'images/content', digest: { sha256: '3'.repeat(64) } },
      { name: 'reference/instance', digest: { sha256: sha256Hex('instance') } },
    ]);
  });

  it('says nothing of sealed bytes, not even their digest', () => {
    const { inputs } = stated(checkOf([{ ...VERIFIED, kind: 'refuted' }]));
    expect(JSON.stringify(inputs)).not.toContain(sha256Hex('sealed labels'));
  });

  it('names no reference input where no program ran', () => {
    const check = attempt(opened(), (number) => {
      return { kind: 'unavailable', attempt: number, mechanism: 'a program' };
    });
    expect(stated(check).inputs.map(({ name }) => name)).toEqual([
      'results.json',
      'evaluation.json',
    ]);
  });
});
