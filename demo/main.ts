import { lintContract } from '@kervyxa/contract';
import { FIXTURE_NAMES, loadFixture, type Fixture, type FixtureName } from '../fixtures/load.ts';
import { openFixtureWorker, type FixtureWorker } from '../fixtures/worker.ts';
import { findDifference } from './compare.ts';
import { createPage, type Page } from './page.ts';

const EXIT_UNEXPECTED = 1;
const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const REFUSED: FixtureName = 'perf-benchmark';
const JUDGED: readonly FixtureName[] = ['parse-numbers', 'data-transform'];

process.exitCode = await main(process.argv.slice(2));

/**
 * 1. A contract that no machine can decide is refused, with what is wrong and the fix.
 * 2. The histories of the other contracts are built and served; engine and images are made ready.
 * 3. Their honest and cheating commits are judged, a line each.
 * 4. What was seen, and what to try next.
 *
 * Exit code: 0 where everything came out as the fixtures' expected.json says, 1 where not, 2 for an unknown name, 130
 * after Ctrl-C; the containers, the server and its files are gone by then.
 */
async function main(names: readonly string[]): Promise<number> {
  const wanted = names.length === 0 ? JUDGED : names.filter(isJudgeable);
  if (names.some((name) => !isJudgeable(name))) {
    const known = FIXTURE_NAMES.filter((name) => name !== REFUSED).join(', ');
    console.error(`expected names of fixtures (${known}), got ${names.join(', ')}`);
    return EXIT_USAGE;
  }
  const page = createPage(process.stdout);
  const interrupt = watchInterrupt(page);
  try {
    const fixtures = await Promise.all(wanted.map(loadFixture));
    page.title();
    const surprises = await showRefusal(await loadFixture(REFUSED), page);
    surprises.push(...(await judgeAll(fixtures, page, interrupt.signal)));
    page.end(surprises);
    return surprises.length === 0 ? 0 : EXIT_UNEXPECTED;
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    return EXIT_INTERRUPTED;
  } finally {
    interrupt.close();
  }
}

function isJudgeable(name: string): name is FixtureName {
  return name !== REFUSED && FIXTURE_NAMES.some((known) => known === name);
}

/** The first Ctrl-C ends the demo after its clean-up, the second at once. A reader that goes away ends it too. */
function watchInterrupt(page: Page): { signal: AbortSignal; close(): void } {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(EXIT_INTERRUPTED);
    page.note('stopping: removing containers and files; once more leaves at once');
    controller.abort(new Error('stopped'));
  };
  const onReaderGone = (): void => controller.abort(new Error('nobody reads the output'));
  process.stdout.on('error', onReaderGone);
  for (const name of STOP_SIGNALS) process.on(name, onSignal);
  return {
    signal: controller.signal,
    close: () => {
      for (const name of STOP_SIGNALS) process.off(name, onSignal);
    },
  };
}

/** Answers what did not come out as expected, a sentence each. */
async function showRefusal(fixture: Fixture, page: Page): Promise<string[]> {
  const findings = lintContract(fixture.contract, null).filter(
    ({ severity }) => severity === 'refuse',
  );
  page.refusal(fixture, findings);
  const isExpected = findings.some(({ code }) => code === 'TIME_UNIT_BENCHMARK');
  return isExpected ? [] : [`${fixture.name}: expected TIME_UNIT_BENCHMARK, got no such finding`];
}

async function judgeAll(
  fixtures: readonly Fixture[],
  page: Page,
  signal: AbortSignal,
): Promise<string[]> {
  const surprises: string[] = [];
  const worker = await openFixtureWorker({ fixtures, signal, log: page.note });
  try {
    for (const [index, fixture] of fixtures.entries()) {
      page.contract(index + 2, fixture);
      surprises.push(...(await judgeFixture(worker, fixture, page, signal)));
    }
  } finally {
    await worker.close();
  }
  return surprises;
}

async function judgeFixture(
  worker: FixtureWorker,
  fixture: Fixture,
  page: Page,
  signal: AbortSignal,
): Promise<string[]> {
  const surprises: string[] = [];
  const { commits } = fixture.history;
  for (const honest of [true, false]) {
    page.group(honest ? 'honest' : 'cheating');
    for (const commit of commits.filter((one) => one.honest === honest)) {
      const outcome = fixture.expected.commits[commit.name];
      if (outcome === undefined) throw new Error(`expected.json lacks ${commit.name}`);
      const line = page.start(commit);
      try {
        const options = { signal, onEvent: line.onEvent };
        const result = await worker.verify(fixture, outcome.sha, options);
        const difference = findDifference(result, outcome);
        line.finish(result, difference);
        if (difference !== null) surprises.push(`${fixture.name}, ${commit.name}: ${difference}`);
      } finally {
        line.stop();
      }
    }
  }
  return surprises;
}
