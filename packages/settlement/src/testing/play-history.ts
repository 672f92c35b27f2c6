import type { CaseBench } from './case-bench.ts';
import { type History, type Move, type MoveName, type People, toCommand } from './histories.ts';
import { hasEnded, isLive, problemsOf, problemsOfLedger } from './invariants.ts';
import { beginStory, DAY_MS, FAIL, type Story, TERMS } from './story.ts';

const PEOPLE = 5;
/** What nobody can lose in one history. */
const PURSE_MINOR = TERMS.bondMinor * 100n;
const ROUNDS_MAX = 100;

export interface PlayedHistory {
  readonly story: Story;
  /** What was wrong after any of its steps. */
  readonly problems: readonly string[];
}

/** Plays a history on a new contract, the moves of one step side by side, and looks at everything after each step. */
export async function playHistory(bench: CaseBench, history: History): Promise<PlayedHistory> {
  const story = await beginStory(bench);
  const principalIds: string[] = [];
  for (let index = 0; index < PEOPLE; index += 1) {
    const id = await bench.addPrincipal();
    await bench.deposit(id, PURSE_MINOR);
    principalIds.push(id);
  }
  const people = { requesterId: story.requesterId, principalIds };
  for (const [index, step] of history.entries()) {
    await playStep(story, people, step);
    const problems = await findProblems(story);
    if (problems.length > 0)
      return { story, problems: problems.map((problem) => `after step ${index}: ${problem}`) };
  }
  return { story, problems: [] };
}

/**
 * From any case: nobody asks for anything any more, the arbiter is silent, workers do what waits for them, and time
 * passes. What is wrong at the end, with a contract that has not ended among it.
 */
export async function playToTheEnd(story: Story): Promise<readonly string[]> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const held = await story.read();
    if (hasEnded(held)) return findProblems(story);
    for (const { id: submissionId } of held.submissions) {
      await story.try({ kind: 'try_capture', submissionId });
    }
    for (const { id: runId } of held.runs.filter(isLive)) {
      await story.try({ kind: 'start', runId });
      const attempt = (await story.read()).runs.find(({ id }) => id === runId)?.attempt ?? 0;
      await story.try({ kind: 'seal', runId, attempt, verdict: FAIL });
    }
    await story.advance(DAY_MS);
  }
  return [`the contract is still ${(await story.read()).contract.state}`];
}

async function playStep(story: Story, people: People, step: readonly Move[]): Promise<void> {
  await Promise.all(
    step.map((move) =>
      move.kind === 'elapse' ? story.bench.elapse(move.ms) : playDeed(story, people, move),
    ),
  );
}

async function playDeed(
  story: Story,
  people: People,
  deed: Extract<Move, { kind: 'deed' }>,
): Promise<void> {
  for (const name of namesOf(deed.name)) {
    const context = { people, newId: story.bench.newId };
    const command = toCommand(name, deed, await story.read(), context);
    if (command !== null) await story.try(command);
  }
}

function namesOf(name: MoveName): readonly Exclude<MoveName, 'arrive' | 'work'>[] {
  if (name === 'arrive') return ['submit', 'capture'];
  return name === 'work' ? ['start', 'seal'] : [name];
}

async function findProblems({ bench, read }: Story): Promise<string[]> {
  const balances = await bench.trialBalance();
  const problem = await bench.checkLedger();
  return [
    ...problemsOf(await read(), balances, await bench.now()),
    ...problemsOfLedger(balances),
    ...(problem === null ? [] : [problem]),
  ];
}
