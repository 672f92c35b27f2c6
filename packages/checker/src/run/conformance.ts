import { canonicalDigest, isAppError, toPrintable } from '@kervyxa/core';
import type { CheckerPackage } from '../package/checker-package.ts';
import type { Fixture } from '../contract/schema.ts';
import type { CheckDeps } from './check-deps.ts';
import { planProgram } from './program.ts';
import { type FixtureReport, runFixture } from './run-fixture.ts';
import { findStage } from './run-stage.ts';

/** Side by side: a container's start is as long as what most programs do. */
const LANES = 2;
/** Reports that one process remembers; the longest unasked goes first. */
const REMEMBERED_MAX = 1_000;

/** Whether the program of one sandbox stage reproduces every fixture of the stage. */
export interface ConformanceReport {
  readonly stageKey: string;
  /** Of the program, as in `CheckerPackage.programs`. */
  readonly programDigest: string;
  /** The image id that ran it; of an image that can't be run, what names it. */
  readonly image: string;
  readonly isConformant: boolean;
  /** Why not, in one printable sentence; null where it is. */
  readonly problem: string | null;
  /** In the order of the contract. */
  readonly fixtures: readonly FixtureReport[];
}

export interface ConformanceListener {
  /** Only for whoever starts the run; a remembered report comes without. */
  onFixture?(report: FixtureReport): void;
}

export type Conformance = (
  deps: CheckDeps,
  checker: CheckerPackage,
  stageKey: string,
  signal: AbortSignal,
  listener?: ConformanceListener,
) => Promise<ConformanceReport>;

interface SharedRun {
  readonly report: Promise<ConformanceReport>;
  readonly stop: AbortController;
  askers: number;
}

/**
 * Remembers conformant reports by package digest, stage and image id for as long as it lives, so that whoever judges has
 * seen every fixture reproduced itself. Neither a program that misses one, as a machine under load may have it do, nor
 * trouble of ours is remembered. Who asks meanwhile shares the run, which ends early only when all who asked have given
 * up. An image that no worker can run conforms to nothing.
 *
 * Throws what `runStage` throws, but nothing that an image of the package's has to be mended for.
 */
export function createConformance(rememberedMax = REMEMBERED_MAX): Conformance {
  // In the order in which they were asked for last.
  const runs = new Map<string, SharedRun>();
  const remember = (key: string, run: SharedRun): void => {
    runs.delete(key);
    runs.set(key, run);
    const [oldest] = runs.keys();
    if (oldest !== undefined && runs.size > rememberedMax) runs.delete(oldest);
  };
  return async (deps, checker, stageKey, signal, listener = {}) => {
    const { program } = findStage(checker, stageKey);
    try {
      const { image } = await planProgram(deps, program, signal);
      signal.throwIfAborted();
      // Problems of one campaign are one folder, and have contracts of their own.
      const contract = canonicalDigest([checker.contract, checker.contractId]);
      const key = [checker.digest, contract, program.digest, stageKey, image].join(' ');
      const run = runs.get(key) ?? startRun(key, image);
      remember(key, run);
      return await joinRun(run, signal);
    } catch (error) {
      if (program.kind !== 'image') throw error;
      const { digest, reference } = program;
      const problem = await whyUnfit(deps, reference, error, signal);
      if (problem === null) throw error;
      const report = { stageKey, programDigest: digest, image: reference, fixtures: [] };
      return { ...report, isConformant: false, problem };
    }

    function startRun(key: string, image: string): SharedRun {
      const stop = new AbortController();
      const report = runFixtures(deps, checker, stageKey, stop.signal, listener).then((fixtures) =>
        toReport(stageKey, program.digest, image, fixtures),
      );
      const started = { report, stop, askers: 0 };
      const forget = (): void => {
        if (runs.get(key) === started) runs.delete(key);
      };
      report.then(({ isConformant }) => isConformant || forget(), forget);
      stop.signal.addEventListener('abort', forget);
      return started;
    }
  };
}

/** The report, or the reason of the asker's own abort. Whoever is last to give up waits until all is taken down. */
async function joinRun(run: SharedRun, signal: AbortSignal): Promise<ConformanceReport> {
  const gaveUp = Promise.withResolvers<void>();
  const onAbort = (): void => {
    run.askers -= 1;
    if (run.askers === 0) run.stop.abort(signal.reason);
    else gaveUp.resolve();
  };
  run.askers += 1;
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const report = await Promise.race([run.report, gaveUp.promise]);
    if (report !== undefined) return report;
    throw signal.reason;
  } finally {
    signal.removeEventListener('abort', onAbort);
    if (!signal.aborted) run.askers -= 1;
  }
}

async function runFixtures(
  deps: CheckDeps,
  checker: CheckerPackage,
  stageKey: string,
  signal: AbortSignal,
  listener: ConformanceListener,
): Promise<FixtureReport[]> {
  const fixtures = checker.contract.conformance_fixtures.filter(
    ({ stage_key: key }) => key === stageKey,
  );
  const reports: FixtureReport[] = [];
  const waiting = fixtures.entries();
  // One that fails takes the others down with it, and all are gone before anybody is told.
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const lane = async (): Promise<void> => {
    for (const [place, fixture] of waiting) {
      const report = await runFixture(deps, checker, fixture, either);
      reports[place] = report;
      listener.onFixture?.(report);
    }
  };
  const lanes = Array.from({ length: LANES }, () =>
    lane().catch((error: unknown) => {
      stop.abort(error);
      throw error;
    }),
  );
  const ends = await Promise.allSettled(lanes);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return reports;
}

function toReport(
  stageKey: string,
  programDigest: string,
  image: string,
  fixtures: readonly FixtureReport[],
): ConformanceReport {
  const problem = problemOf(stageKey, fixtures);
  return { stageKey, programDigest, image, isConformant: problem === null, problem, fixtures };
}

/** Null for trouble of ours. An image that is here, and starts no shell, is its author's to mend. */
async function whyUnfit(
  { sandbox }: CheckDeps,
  reference: string,
  error: unknown,
  signal: AbortSignal,
): Promise<string | null> {
  if (!isAppError(error)) return null;
  const isUnfit =
    error.code === 'SANDBOX_IMAGE_UNFIT' ||
    (error.code === 'SANDBOX_IMAGE_UNAVAILABLE' &&
      (await sandbox.resolveImage(reference, signal).then(
        () => true,
        () => false,
      )));
  return isUnfit ? toPrintable(error.message) : null;
}

function problemOf(stageKey: string, fixtures: readonly FixtureReport[]): string | null {
  const missed = fixtures.filter(({ ok }) => !ok);
  if (missed.length > 0) {
    const all = missed.map(({ key, message }) => `${key} (${message})`).join('; ');
    return `expected the program of stage ${stageKey} to reproduce its ${fixtures.length} fixtures, but it misses ${missed.length}: ${all}`;
  }
  const lacking = (['verified', 'refuted'] satisfies Fixture['expected_result'][]).filter(
    (result) => !fixtures.some(({ expected }) => expected.result === result),
  );
  if (lacking.length === 0) return null;
  return `expected fixtures of stage ${stageKey} that are verified and that are refuted, got none that is ${lacking.join(' or ')}`;
}
