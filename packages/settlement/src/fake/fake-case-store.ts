import { type AppError, type IdSource, isAppError } from '@kervyxa/core';
import type { ContractCase, ContractFacts, SubmissionCase, SubmissionState } from '../case.ts';
import type { Command } from '../command.ts';
import { decide } from '../decide.ts';
import type { Decision, Effect } from '../decision.ts';
import { nextDueAt } from '../due.ts';
import { createSettlementError } from '../errors.ts';
import { planDeposit } from '../ledger/plans.ts';
import type { SettlementPolicy } from '../policy.ts';
import type { CaseStore } from '../store.ts';
import { createFakeLedger, type FakeLedger } from './fake-ledger.ts';

export interface FakeCaseStore extends CaseStore {
  readonly ledger: FakeLedger;
  /** What was done besides saving, in order. */
  readonly effects: readonly (Effect & { readonly contractId: string })[];
  now(): Date;
  elapse(ms: number): void;
  /** A contract in DRAFT. */
  addContract(facts: ContractFacts): void;
  deposit(input: Parameters<typeof planDeposit>[0]): void;
  /** With all that has ended, too. */
  readCase(contractId: string): ContractCase;
}

/** Cases in memory, with a clock that only tests move. */
export function createFakeCaseStore(options: {
  readonly policy: SettlementPolicy;
  readonly newId: IdSource;
  readonly startsAt: Date;
}): FakeCaseStore {
  const { policy, newId } = options;
  const ledger = createFakeLedger();
  const cases = new Map<string, ContractCase>();
  const effects: (Effect & { readonly contractId: string })[] = [];
  let now = options.startsAt;
  let lastSeq = 0n;

  const readCase = (contractId: string): ContractCase => {
    const found = cases.get(contractId);
    if (found !== undefined) return found;
    throw createSettlementError('SETTLEMENT_CONTRACT_UNKNOWN', {
      message: `expected the id of a contract, got ${JSON.stringify(contractId)}`,
    });
  };

  const execute = (contractId: string, command: Command): Decision => {
    const whole = readCase(contractId);
    const held = toHeld(whole, command);
    const decision = decide(held, command, { now, newId, policy });
    if (decision.kind === 'refused') return decision;
    const transfers = decision.effects.flatMap((each) =>
      each.kind === 'transfer' ? [each.transfer] : [],
    );
    const refusal = findRefusal(() => ledger.record(transfers, now));
    if (refusal !== null) return { kind: 'refused', error: refusal };
    const isNew = ({ id }: SubmissionCase): boolean =>
      !whole.submissions.some((each) => each.id === id);
    const submissions = decision.next.submissions.map((each) =>
      isNew(each) ? { ...each, seq: (lastSeq += 1n) } : each,
    );
    const next = { ...decision.next, submissions };
    cases.set(contractId, merge(whole, next));
    effects.push(...decision.effects.map((effect) => ({ ...effect, contractId })));
    return { ...decision, next };
  };

  return {
    ledger,
    effects,
    execute: async (contractId, command) => execute(contractId, command),
    listDue: async (limit) =>
      [...cases]
        .map(([id, each]) => ({ id, at: nextDueAt(toHeld(each, { kind: 'advance' })) }))
        .filter(({ at }) => at !== null && at <= now)
        .toSorted((a, b) => Number(a.at) - Number(b.at))
        .slice(0, limit)
        .map(({ id }) => id),
    now: () => now,
    elapse: (ms) => {
      now = new Date(now.getTime() + ms);
    },
    addContract: (contract) => {
      cases.set(contract.id, { contract, submissions: [], runs: [], challenges: [] });
    },
    deposit: (input) => ledger.record([planDeposit(input)], now),
    readCase,
  };
}

/** What a store reads for a decision: ends are left out, as their number has no bound. */
function toHeld(
  { contract, submissions, runs, challenges }: ContractCase,
  command: Command,
): ContractCase {
  const subject = subjectOf({ runs, challenges }, command);
  const held = submissions.filter(({ id, state }) => id === subject || !ENDS.includes(state));
  const ids = new Set(held.map(({ id }) => id));
  const isOfHeld = ({ submissionId }: { readonly submissionId: string }): boolean =>
    ids.has(submissionId);
  return {
    contract,
    submissions: held,
    runs: runs.filter(isOfHeld),
    challenges: challenges.filter(isOfHeld),
  };
}

const ENDS: readonly SubmissionState[] = [
  'FAILED',
  'INCONCLUSIVE',
  'OVERTURNED',
  'PAID',
  'SUPERSEDED',
];

/** The submission that a command is about. */
function subjectOf(
  { runs, challenges }: Pick<ContractCase, 'runs' | 'challenges'>,
  command: Command,
): string | undefined {
  if ('submissionId' in command) return command.submissionId;
  if ('runId' in command) return runs.find(({ id }) => id === command.runId)?.submissionId;
  if (!('challengeId' in command)) return undefined;
  return challenges.find(({ id }) => id === command.challengeId)?.submissionId;
}

function merge(whole: ContractCase, next: ContractCase): ContractCase {
  return {
    contract: next.contract,
    submissions: mergeById(whole.submissions, next.submissions).toSorted((a, b) =>
      a.seq < b.seq ? -1 : 1,
    ),
    runs: mergeById(whole.runs, next.runs),
    challenges: mergeById(whole.challenges, next.challenges),
  };
}

function mergeById<T extends { readonly id: string }>(
  before: readonly T[],
  next: readonly T[],
): readonly T[] {
  return [...new Map([...before, ...next].map((each) => [each.id, each])).values()];
}

function findRefusal(record: () => void): AppError | null {
  try {
    record();
    return null;
  } catch (error) {
    if (isAppError(error) && error.code === 'SETTLEMENT_FUNDS_INSUFFICIENT') return error;
    throw error;
  }
}
