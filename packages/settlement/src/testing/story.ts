import { canonicalDigest, type SealedVerdict } from '@kervyxa/core';
import type {
  ChallengeCase,
  ChallengeKind,
  ContractCase,
  RunCase,
  RunPurpose,
  SubmissionCase,
} from '../case.ts';
import type { Command } from '../command.ts';
import { DEFAULT_POLICY, type SettlementPolicy } from '../policy.ts';
import type { CaseBench, ContractTerms } from './case-bench.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Small limits, and a time for everything that no other has. */
export const POLICY: SettlementPolicy = {
  ...DEFAULT_POLICY,
  captureGraceMs: 0.25 * HOUR_MS,
  heldGraceMs: 3 * DAY_MS,
  arbitrationMs: 7 * DAY_MS,
};

export const TERMS: Omit<ContractTerms, 'requesterId'> = {
  closesInMs: 10 * DAY_MS,
  rewardMinor: 1_001n,
  feeBps: 250,
  bondMinor: 101n,
  challengeWindowMs: 2 * DAY_MS,
  responseWindowMs: DAY_MS,
};

export const PASS = sealed('PASS', null);
export const FAIL = sealed('FAIL', 'EXIT_CODE_MISMATCH');
export const BROKEN = sealed('INCONCLUSIVE', 'VERIFIER_BROKEN');
export const UNREACHABLE = sealed('INCONCLUSIVE', 'COMMIT_NOT_FOUND');

/** One contract, and short words for what people and workers do with it. */
export interface Story {
  readonly bench: CaseBench;
  readonly contractId: string;
  readonly requesterId: string;
  /** The code of the refusal, or null where the command was accepted. */
  try(command: Command): Promise<string | null>;
  /** Throws the refusal. */
  do(command: Command): Promise<void>;
  /** A submission of a new solver. Its id. */
  handIn(solverId?: string): Promise<string>;
  /** One whose commit a worker looks for. */
  receive(solverId?: string): Promise<string>;
  /** One that is captured, too. */
  submit(solverId?: string): Promise<string>;
  /** A worker takes the run that is under way and ends it with the verdict. */
  seal(submissionId: string, verdict: SealedVerdict, purpose?: RunPurpose): Promise<void>;
  /** All tries of the run that is under way end in trouble of ours. */
  breakDown(submissionId: string, purpose?: RunPurpose): Promise<void>;
  /** A challenge of somebody new, who has the bond and no more. Its id. */
  challenge(submissionId: string, challenge: ChallengeKind, challengerId?: string): Promise<string>;
  /** The command of a new arbiter. */
  resolution(challengeId: string, decision: ChallengeKind): Promise<Command>;
  elapse(ms: number): Promise<void>;
  /** Lets time pass and does what it brings. */
  advance(ms: number): Promise<void>;
  read(): Promise<ContractCase>;
  submission(id: string): Promise<SubmissionCase>;
  challengeOf(id: string): Promise<ChallengeCase>;
  run(submissionId: string, purpose?: RunPurpose): Promise<RunCase>;
  /** Zero where the account was never posted to. */
  balance(account: string): Promise<bigint>;
}

/** A contract that is OPEN and funded, unless said otherwise. */
export async function beginStory(
  bench: CaseBench,
  terms: Partial<ContractTerms> = {},
  { open = true }: { readonly open?: boolean } = {},
): Promise<Story> {
  const requesterId = await bench.addPrincipal();
  const all = { ...TERMS, requesterId, ...terms };
  const contractId = await bench.seedContract(all);
  const story = tellStory(bench, contractId, all);
  if (!open) return story;
  await bench.deposit(requesterId, all.rewardMinor);
  await story.do({ kind: 'prove' });
  await story.do({ kind: 'fund' });
  return story;
}

function tellStory(
  bench: CaseBench,
  contractId: string,
  { requesterId, bondMinor }: ContractTerms,
): Story {
  const execute = async (command: Command) =>
    command.kind === 'submit'
      ? bench.submit(contractId, command.submissionId, command.solverId)
      : bench.store.execute(contractId, command);
  const story: Story = {
    bench,
    contractId,
    requesterId,
    try: async (command) => {
      const decision = await execute(command);
      return decision.kind === 'refused' ? decision.error.code : null;
    },
    do: async (command) => {
      const decision = await execute(command);
      if (decision.kind === 'refused') throw decision.error;
    },
    handIn: async (solverId) => {
      const submissionId = bench.newId('submission');
      const solver = solverId ?? (await bench.addPrincipal());
      await story.do({ kind: 'submit', submissionId, solverId: solver });
      return submissionId;
    },
    receive: async (solverId) => {
      const submissionId = await story.handIn(solverId);
      await story.do({ kind: 'try_capture', submissionId });
      return submissionId;
    },
    submit: async (solverId) => {
      const submissionId = await story.receive(solverId);
      await story.do({ kind: 'capture', submissionId });
      return submissionId;
    },
    seal: async (submissionId, verdict, purpose) => {
      const { id: runId } = await story.run(submissionId, purpose);
      await story.do({ kind: 'start', runId });
      const { attempt } = await story.run(submissionId, purpose);
      await story.do({ kind: 'seal', runId, attempt, verdict });
    },
    breakDown: async (submissionId, purpose) => {
      const { id: runId } = await story.run(submissionId, purpose);
      for (let attempt = 1; attempt <= POLICY.runTriesMax; attempt += 1) {
        await story.do({ kind: 'start', runId });
        await story.do({ kind: 'fail', runId, attempt, reason: 'ENGINE_UNAVAILABLE' });
      }
    },
    challenge: async (submissionId, challenge, challenger) => {
      const challengeId = bench.newId('challenge');
      const challengerId = challenger ?? (await bench.addPrincipal());
      if (challenge !== 'UPHOLD_PASS') await bench.deposit(challengerId, bondMinor);
      await story.do({ kind: 'challenge', challengeId, submissionId, challengerId, challenge });
      return challengeId;
    },
    resolution: async (challengeId, decision) => {
      const arbiterId = await bench.addPrincipal();
      return { kind: 'resolve', challengeId, arbiterId, decision };
    },
    elapse: (ms) => bench.elapse(ms),
    advance: async (ms) => {
      await bench.elapse(ms);
      await story.do({ kind: 'advance' });
    },
    read: () => bench.readCase(contractId),
    submission: async (id) => find((await story.read()).submissions, (each) => each.id === id),
    challengeOf: async (id) => find((await story.read()).challenges, (each) => each.id === id),
    run: async (submissionId, purpose = 'VERIFY') =>
      find(
        (await story.read()).runs,
        (each) => each.submissionId === submissionId && each.purpose === purpose,
      ),
    balance: async (account) => {
      const accounts = await bench.trialBalance();
      return accounts.find((each) => each.account === account)?.balanceMinor ?? 0n;
    },
  };
  return story;
}

function sealed(verdict: SealedVerdict['verdict'], reason: SealedVerdict['reason']): SealedVerdict {
  return { verdict, reason, resultDigest: canonicalDigest({ verdict, reason }) };
}

/** The newest. */
function find<T>(all: readonly T[], isWanted: (each: T) => boolean): T {
  const found = all.findLast(isWanted);
  if (found === undefined) throw new Error('expected one that the story tells of, got none');
  return found;
}
