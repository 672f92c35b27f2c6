import type { ChallengeCase, ContractCase, RunCase, SubmissionCase } from '../case.ts';
import { bond, escrow } from '../ledger/accounts.ts';
import type { Balance } from '../ledger/balances.ts';

/** What is wrong with a case and the money of all accounts, in words; empty where all is well. */
export function problemsOf(held: ContractCase, balances: readonly Balance[], now: Date): string[] {
  return [
    ...problemsOfMoney(held, balances),
    ...problemsOfPass(held, now),
    ...held.submissions.flatMap((submission) => problemsOfWork(held, submission)),
  ];
}

/** By currency all balances add up to zero, and only the outside world is below it. */
export function problemsOfLedger(balances: readonly Balance[]): string[] {
  const sums = new Map<string, bigint>();
  for (const { currency, balanceMinor } of balances)
    sums.set(currency, (sums.get(currency) ?? 0n) + balanceMinor);
  return [
    ...[...sums]
      .filter(([, sum]) => sum !== 0n)
      .map(([currency, sum]) => `${currency} sums to ${sum}`),
    ...balances
      .filter(({ account, balanceMinor }) => balanceMinor < 0n && !account.startsWith('outside/'))
      .map(({ account, balanceMinor }) => `${account} has ${balanceMinor}`),
  ];
}

export function hasEnded({ contract }: ContractCase): boolean {
  return ['SETTLED', 'EXPIRED', 'CANCELLED'].includes(contract.state);
}

export function isOpen({ state }: ChallengeCase): boolean {
  return state === 'RERUNNING' || state === 'AWAITING_ARBITER';
}

export function isLive({ state }: RunCase): boolean {
  return state === 'QUEUED' || state === 'RUNNING';
}

/** Escrow and bonds hold what they must, exactly as long as they must. */
function problemsOfMoney(held: ContractCase, balances: readonly Balance[]): string[] {
  const { id, state, rewardMinor } = held.contract;
  const isFunded = state === 'OPEN' || state === 'IN_CHALLENGE';
  const expected: [account: string, balanceMinor: bigint][] = [
    [escrow(id), isFunded ? rewardMinor : 0n],
    ...held.challenges.map((each): [string, bigint] => [
      bond(each.id),
      isOpen(each) ? each.bondMinor : 0n,
    ]),
  ];
  return expected.flatMap(([account, amount]) => {
    const balance = balances.find((each) => each.account === account)?.balanceMinor ?? 0n;
    return balance === amount ? [] : [`expected ${amount} in ${account}, got ${balance}`];
  });
}

function problemsOfPass({ contract, submissions, challenges }: ContractCase, now: Date): string[] {
  const problems: string[] = [];
  const [holder, ...others] = submissions.filter(({ state }) => state === 'PASSED');
  const [paid, ...more] = submissions.filter(({ state }) => state === 'PAID');
  if (others.length > 0) problems.push('two hold the pass');
  if (more.length > 0) problems.push('two are paid');
  if ((contract.state === 'IN_CHALLENGE') !== (holder !== undefined))
    problems.push(`${contract.state} with holder ${holder?.id}`);
  if ((contract.state === 'SETTLED') !== (paid !== undefined))
    problems.push(`${contract.state} with ${paid?.id} paid`);
  if (paid !== undefined) {
    if (paid.window === null || now < paid.window.closesAt) problems.push('paid early');
    const before = submissions.filter(
      ({ seq, state }) =>
        seq < paid.seq && !['FAILED', 'INCONCLUSIVE', 'OVERTURNED'].includes(state),
    );
    problems.push(...before.map((each) => `${each.id} was before ${paid.id}: ${each.state}`));
  }
  const strays = challenges.filter((each) => isOpen(each) && each.submissionId !== holder?.id);
  problems.push(...strays.map(({ id }) => `${id} is open and its submission has no pass`));
  return problems;
}

/** A submission has the runs that its state says, and none that nobody waits for. */
function problemsOfWork(held: ContractCase, { id, state }: SubmissionCase): string[] {
  const live = held.runs.filter((run) => run.submissionId === id && isLive(run));
  const verifying = live.filter(({ purpose }) => purpose === 'VERIFY').map((run) => run.state);
  const rerunning = live.filter(({ purpose }) => purpose === 'RERUN');
  const waiting = held.challenges.filter(
    (each) => each.submissionId === id && each.state === 'RERUNNING',
  );
  const problems: string[] = [];
  const isQueuedOrRunning = state === 'QUEUED' || state === 'RUNNING';
  if (isQueuedOrRunning ? verifying.join() !== state : state !== 'DEFERRED' && verifying.length > 0)
    problems.push(`${id} is ${state} and its runs are ${verifying.join() || 'none'}`);
  if (state === 'DEFERRED' && !['', 'RUNNING'].includes(verifying.join()))
    problems.push(`${id} is DEFERRED and its runs are ${verifying.join()}`);
  if (rerunning.length !== (waiting.length > 0 ? 1 : 0))
    problems.push(`${waiting.length} challenges of ${id} wait for ${rerunning.length} reruns`);
  for (const challenge of waiting) {
    if (challenge.runIds.at(-1) !== rerunning[0]?.id)
      problems.push(`${challenge.id} waits for ${challenge.runIds.at(-1)}`);
  }
  return problems;
}
