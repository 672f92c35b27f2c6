import { loadFixture } from '../../fixtures/load.ts';
import { createLifePage } from './page.ts';
import { checkEvidence } from './evidence.ts';
import { findDifferences } from './foretold.ts';
import { openStage } from './stage.ts';
import { playLife } from './story.ts';

/** A story that hangs is a story that went wrong; it takes a third of it on two cores. */
const STORY_MS_MAX = 300_000;

/**
 * Plays the life of a contract before the reader's eyes. Exit code: 0 where it came out as foretold, 1 where not.
 * Throws once the signal aborts; kervyxa, its database and the git server are gone by then.
 */
export async function showLife(signal: AbortSignal): Promise<number> {
  const page = createLifePage(process.stdout);
  page.title();
  const fixture = await loadFixture('parse-numbers');
  const refused = await loadFixture('perf-benchmark');
  const stage = await openStage({ fixtures: [fixture, refused], signal, log: page.note });
  try {
    const clock = AbortSignal.timeout(STORY_MS_MAX);
    const story = playLife({
      stage,
      fixture,
      refused,
      signal: AbortSignal.any([signal, clock]),
      narrator: page,
    });
    const outcome = await Promise.race([story, stage.ended]);
    page.chapter('Anybody can check what was paid for');
    const evidence = await Promise.race([checkEvidence(stage), stage.ended]);
    page.state("the evidence of bela's commit", toWord(evidence.verified), 'by the published keys');
    page.state('the same, of another commit', toWord(evidence.verifiedAsOther), '');
    page.state('run again from the evidence alone', evidence.replay, '');
    page.state('the audit log', evidence.auditProblem ?? 'WHOLE', '');
    const differences = findDifferences(outcome, evidence);
    page.end(outcome, differences);
    return differences.length === 0 ? 0 : 1;
  } catch (error) {
    if (signal.aborted) throw error;
    page.broken(error, stage.lastLines());
    return 1;
  } finally {
    await stage.close();
  }
}

/** Of `kervyxa evidence verify`. */
function toWord(exitCode: number | null): string {
  if (exitCode === 0) return 'VERIFIED';
  return exitCode === 1 ? 'REFUSED' : `exit code ${exitCode}`;
}
