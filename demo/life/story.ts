import { z } from 'zod';
import { withOrigin, type Fixture } from '../../fixtures/load.ts';
import { createClient, type Client } from './client.ts';
import { watchContract, type LifeEvent } from './events.ts';
import {
  AnythingSchema,
  approve,
  type Cast,
  draft,
  hire,
  IdSchema,
  type Name,
  NAMES,
  prepare,
} from './opening.ts';
import type { Stage } from './stage.ts';

const WINDOW_SECONDS = 8;

/** In order of submission: a cheat, and two honest ones. */
const SOLVERS = ['carl', 'ana', 'bela'] as const satisfies readonly Name[];
type Solver = (typeof SOLVERS)[number];
/** Names of commits of the fixture. */
export type Submitted = Readonly<Record<Solver, string>>;
const SUBMITTED: Submitted = {
  carl: 'throws-but-for-the-tests',
  ana: 'honest-regex',
  bela: 'honest-number',
};

/** Accounts that are nobody's, by the first part of their names. */
const ACCOUNT_KINDS = ['treasury', 'escrow', 'bond', 'outside'] as const;

const StateSchema = z.looseObject({ state: z.string() });
const ProvingSchema = z.looseObject({
  columns: z.array(z.looseObject({ kind: z.string(), verdict: z.string() })),
  replays: z.array(z.looseObject({ runs: z.array(z.looseObject({ status: z.string() })) })),
});
/** All other columns of a report are cheats that proving made. */
const KNOWN_KINDS: readonly string[] = ['base', 'known_good', 'known_bad'];
const LedgerSchema = z.looseObject({
  transferCount: z.string(),
  problem: z.string().nullable(),
  sums: z.array(z.looseObject({ currency: z.string(), balanceMinor: z.string() })),
  accounts: z.array(z.looseObject({ account: z.string(), balanceMinor: z.string() })),
});

/** What is told while it happens. */
export interface Narrator {
  chapter(title: string): void;
  /** Somebody did something. */
  act(who: string, what: string): void;
  /** The machine says what became of something. `reason` empty: none. */
  state(what: string, state: string, reason: string): void;
}

/** What proving saw before money came in: verdicts by what was tried. */
export interface ProvingOutcome {
  readonly base: string;
  readonly knownGood: string;
  readonly knownBad: string;
  /** Of all commits that were made to be caught. */
  readonly cheats: string;
  readonly replays: string;
}

/** What it came to: states as the API gives them, and the ledger added up by account. */
export interface LifeOutcome {
  readonly refusedWith: readonly string[];
  readonly proving: ProvingOutcome;
  readonly contract: string;
  readonly submissions: Readonly<Record<Solver, string>>;
  readonly challenges: Readonly<Record<'rerun' | 'overturn', string>>;
  readonly transferCount: number;
  /** Where the chain of transfers breaks; null where it holds. */
  readonly chainProblem: string | null;
  /** All accounts together, by currency. */
  readonly sums: Readonly<Record<string, bigint>>;
  /** Principals by name, other accounts by kind, in the order of a page. */
  readonly balances: Readonly<Record<string, bigint>>;
}

export interface StoryOptions {
  readonly stage: Stage;
  readonly fixture: Fixture;
  readonly refused: Fixture;
  /** Who hands in what; those of parse-numbers where left out. */
  readonly submitted?: Submitted;
  readonly signal: AbortSignal;
  readonly narrator: Narrator;
}

/**
 * 1. A contract that no machine can decide is refused. 2. A good one is approved, proved and funded. 3. A cheat and two honest
 * solvers submit, in this order. 4. The first that passes is challenged twice. 5. The arbiter overturns it, the next one
 * is promoted. 6. Its window ends, it is paid. 7. The ledger is added up.
 */
export async function playLife(options: StoryOptions): Promise<LifeOutcome> {
  const { stage, fixture, refused, submitted = SUBMITTED, signal, narrator } = options;
  const clientOf = (apiKey: string): Client => createClient(stage.origin, apiKey, signal);
  const operator = clientOf(stage.operatorKey);

  narrator.chapter('An operator opens accounts, a requester writes contracts');
  const cast = await hire(operator, clientOf);
  narrator.act('operator', `opens accounts of ${NAMES.join(', ')}, and books what they bring`);
  const rita = cast.rita.client;
  const refusedWith = await seeRefused(rita, refused, stage.gitOrigin, narrator);
  const teller = createTeller(narrator);
  const contract = await prepare(rita, {
    fixture,
    gitOrigin: stage.gitOrigin,
    windowSeconds: WINDOW_SECONDS,
  });
  narrator.act('rita', `drafts "${contract.title}", with hidden tests`);
  const contractId = await draft(rita, contract);
  const watch = await watchContract({
    url: `${stage.origin}/v1/contracts/${contractId}/events`,
    apiKey: stage.operatorKey,
    signal,
    onEvent: teller.tell,
  });
  const proving = await seeProved(rita, contractId, narrator);
  narrator.act('rita', 'puts 500.00 USD into escrow');
  await rita.post(`/contracts/${contractId}/fund`, {}, StateSchema);
  await watch.until('contract_open', null);

  narrator.chapter('A cheat and two honest solvers submit');
  const submissions = new Map<Solver, string>();
  for (const solver of SOLVERS) {
    const body = {
      repositoryUrl: withOrigin(fixture.contract, stage.gitOrigin).repository.url,
      commit: shaOf(fixture, submitted[solver]),
    };
    const path = `/contracts/${contractId}/submissions`;
    const { id } = await cast[solver].client.post(path, body, IdSchema);
    submissions.set(solver, id);
    narrator.act(solver, `submits ${attemptOf(fixture, submitted[solver])}`);
    teller.name(id, `${solver}'s submission`);
  }
  const idOf = (solver: Solver): string => submissions.get(solver) ?? '';
  await watch.until('submission_passed', idOf('ana'));

  narrator.chapter('The pass is challenged while its window is open');
  const challenge = async (who: Name, kind: string, evidence: string): Promise<string> => {
    const path = `/submissions/${idOf('ana')}/challenges`;
    const { id } = await cast[who].client.post(path, { kind, evidence }, IdSchema);
    narrator.act(who, `files ${kind}: ${evidence}`);
    teller.name(id, `${who}'s challenge`);
    return id;
  };
  const rerun = await challenge('dina', 'RERUN_VERIFICATION', 'It passed by luck.');
  const overturn = await challenge('otto', 'OVERTURN_PASS', 'It is copied from a closed source.');
  await challenge('ana', 'UPHOLD_PASS', 'I wrote it myself.');
  await watch.until('challenge_upheld', rerun);
  narrator.act('alma', 'decides OVERTURN_PASS: the licence forbids the copy');
  await cast.alma.client.post(
    `/challenges/${overturn}/resolve`,
    { decision: 'OVERTURN_PASS', statement: 'The licence forbids the copy.' },
    AnythingSchema,
  );

  narrator.chapter('The next in line has the pass, and nobody objects');
  await watch.until('submission_passed', idOf('bela'));
  await watch.until('contract_settled', null);

  const stateOf = async (path: string): Promise<string> =>
    (await operator.get(path, StateSchema)).state;
  return {
    refusedWith,
    proving,
    contract: await stateOf(`/contracts/${contractId}`),
    submissions: {
      carl: await stateOf(`/submissions/${idOf('carl')}`),
      ana: await stateOf(`/submissions/${idOf('ana')}`),
      bela: await stateOf(`/submissions/${idOf('bela')}`),
    },
    challenges: {
      rerun: await stateOf(`/challenges/${rerun}`),
      overturn: await stateOf(`/challenges/${overturn}`),
    },
    ...(await addUp(operator, cast)),
  };
}

/** The codes that refuse it. */
async function seeRefused(
  rita: Client,
  fixture: Fixture,
  gitOrigin: string,
  narrator: Narrator,
): Promise<readonly string[]> {
  const { title } = fixture.contract;
  narrator.act('rita', `drafts "${title}": p95 latency under 5 ms`);
  const contract = await prepare(rita, { fixture, gitOrigin, windowSeconds: WINDOW_SECONDS });
  const { approval } = await approve(rita, await draft(rita, contract));
  const codes = approval.findings
    .filter(({ severity }) => severity === 'refuse')
    .map(({ code }) => code);
  narrator.state(`"${title}"`, approval.state, [...new Set(codes)].join(', '));
  return codes;
}

/** Waits until a worker has proved it, and says what that saw. Throws where it is refused. */
async function seeProved(
  rita: Client,
  contractId: string,
  narrator: Narrator,
): Promise<ProvingOutcome> {
  narrator.act('kervyxa', 'proves it: runs the base, known commits, and cheats made from them');
  const { state, approval } = await approve(rita, contractId);
  if (state !== 'PROVED') {
    const codes = approval.findings.map(({ code }) => code).join(', ');
    throw new Error(`expected the contract to be PROVED, got ${approval.problem ?? codes}`);
  }
  const { columns, replays } = await rita.get(`/contracts/${contractId}/proving`, ProvingSchema);
  const verdictsOf = (isWanted: (kind: string) => boolean): string =>
    columns
      .filter(({ kind }) => isWanted(kind))
      .map(({ verdict }) => verdict)
      .filter((verdict, index, all) => all.indexOf(verdict) === index)
      .join(', ');
  const outcome = {
    base: verdictsOf((kind) => kind === 'base'),
    knownGood: verdictsOf((kind) => kind === 'known_good'),
    knownBad: verdictsOf((kind) => kind === 'known_bad'),
    cheats: verdictsOf((kind) => !KNOWN_KINDS.includes(kind)),
    replays: replays.every(({ runs }) => runs.every(({ status }) => status === runs[0]?.status))
      ? 'agree'
      : 'differ',
  };
  const cheats = columns.filter(({ kind }) => !KNOWN_KINDS.includes(kind)).length;
  narrator.state('the base, which is to be mended', outcome.base, '');
  narrator.state(
    'the known-good commit',
    outcome.knownGood,
    `${replays[0]?.runs.length} replays ${outcome.replays}`,
  );
  narrator.state(
    'known-bad commits',
    outcome.knownBad,
    `and ${cheats} cheats made from the good one: ${outcome.cheats}`,
  );
  return outcome;
}

async function addUp(
  operator: Client,
  cast: Cast,
): Promise<Pick<LifeOutcome, 'transferCount' | 'chainProblem' | 'sums' | 'balances'>> {
  const names = new Map(NAMES.map((name) => [cast[name].id, name]));
  const ledger = await operator.get('/ledger/check', LedgerSchema);
  const balances: Record<string, bigint> = {};
  for (const name of [...NAMES, ...ACCOUNT_KINDS]) balances[name] = 0n;
  for (const { account, balanceMinor } of ledger.accounts) {
    const name = nameOf(account, names);
    balances[name] = (balances[name] ?? 0n) + BigInt(balanceMinor);
  }
  return {
    transferCount: Number(ledger.transferCount),
    chainProblem: ledger.problem,
    sums: Object.fromEntries(
      ledger.sums.map(({ currency, balanceMinor }) => [currency, BigInt(balanceMinor)]),
    ),
    balances,
  };
}

function nameOf(account: string, names: ReadonlyMap<string, Name>): string {
  const [kind = '', id = ''] = account.split('/');
  return kind === 'principal' ? (names.get(id) ?? account) : kind;
}

/** Tells what happens by names. An event can be quicker than the answer that says which id it is about: it waits. */
function createTeller(narrator: Narrator): {
  name(id: string, title: string): void;
  tell(event: LifeEvent): void;
} {
  const titles = new Map<string, string>();
  const untold: LifeEvent[] = [];
  const flush = (): void => {
    for (let event = untold[0]; event !== undefined; event = untold[0]) {
      const id = event.challengeId ?? event.submissionId ?? null;
      const title = id === null ? 'the contract' : titles.get(id);
      if (title === undefined) return;
      tellState(event, title, narrator);
      untold.shift();
    }
  };
  return {
    name: (id, title) => {
      titles.set(id, title);
      flush();
    },
    tell: (event) => {
      untold.push(event);
      flush();
    },
  };
}

/** Places in a queue, and the runs of submissions, are left out. */
function tellState({ name, data }: LifeEvent, title: string, narrator: Narrator): void {
  const [, what, state = ''] = /^(contract|submission|challenge|run)_(.*)$/.exec(name) ?? [];
  const isRerun = what === 'run' && data.purpose === 'RERUN';
  if (what === undefined || state === 'queued' || (what === 'run' && !isRerun)) return;
  narrator.state(isRerun ? `the rerun of ${title}` : title, state.toUpperCase(), data.reason ?? '');
}

function shaOf({ expected }: Fixture, commit: string): string {
  const outcome = expected.commits[commit];
  if (outcome === undefined) throw new Error(`expected.json lacks ${commit}`);
  return outcome.sha;
}

function attemptOf({ history }: Fixture, commit: string): string {
  return `a commit that ${history.commits.find(({ name }) => name === commit)?.attempt}`;
}
