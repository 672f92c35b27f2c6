import { toPrintable } from '@kervyxa/core';
import type { Fixture, FixtureFile } from '../contract/schema.ts';
import type { CheckerPackage, InputFile } from '../package/checker-package.ts';
import type { CheckDeps } from './check-deps.ts';
import { runStage } from './run-stage.ts';
import type { StageEnd } from './stage-end.ts';

/** How one conformance fixture went. */
export interface FixtureReport {
  readonly key: string;
  readonly expected: { readonly result: string; readonly score: number | null };
  readonly got: { readonly result: StageEnd['kind']; readonly score: number | null };
  readonly ok: boolean;
  /** One printable sentence. */
  readonly message: string;
}

/** Puts a fixture before its stage, as a submission would be. Throws what `runStage` throws. */
export async function runFixture(
  deps: CheckDeps,
  checker: CheckerPackage,
  fixture: Fixture,
  signal: AbortSignal,
): Promise<FixtureReport> {
  const { inputs, stage_key: stageKey } = fixture;
  const toInput = (file: FixtureFile) => toInputFile(checker, file);
  const end = await runStage(
    deps,
    {
      package: checker,
      stageKey,
      submission: {
        artifacts: inputs.artifacts.map(({ role, ...file }) => ({ role, ...toInput(file) })),
        summaryText: inputs.summary_text,
      },
      reference: new Map(
        Object.entries(inputs.reference).map(([key, file]) => [key, toInput(file)]),
      ),
    },
    signal,
  );
  return toReport(fixture, end);
}

function toInputFile(
  { fixtureFiles }: CheckerPackage,
  { filename, content_hash: hash }: FixtureFile,
): InputFile {
  const content = fixtureFiles.get(hash);
  if (content === undefined) throw new TypeError(`a read package lacks its fixture file ${hash}`);
  return { filename, mediaType: null, content };
}

function toReport(
  { key, expected_result: result, expected_score: score }: Fixture,
  end: StageEnd,
): FixtureReport {
  const got = { result: end.kind, score: 'score' in end ? end.score : null };
  // What can't be put before a program is inconclusive to whoever submits it.
  const counted = end.kind === 'unmet' ? 'inconclusive' : end.kind;
  const ok = counted === result && got.score === score;
  return { key, expected: { result, score }, got, ok, message: toMessage({ result, score }, end) };
}

function toMessage(expected: FixtureReport['expected'], end: StageEnd): string {
  const wanted = `expected ${named(expected)}`;
  if (end.kind === 'broken') return toPrintable(`${wanted}, got ${end.code}: ${end.message}`);
  if (end.kind === 'unmet') return toPrintable(`${wanted}, got unmet: ${end.message}`);
  const got = named({ result: end.kind, score: end.score });
  const why = end.reason === null ? '' : `: ${end.reason}`;
  return toPrintable(`${wanted}, got ${got}${why}`);
}

function named({ result, score }: FixtureReport['expected']): string {
  return score === null ? result : `${result} with score ${score}`;
}
