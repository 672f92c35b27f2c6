import { expect, it } from 'vitest';
import { checkEvidence } from '../../demo/life/evidence.ts';
import { FORETOLD, FORETOLD_EVIDENCE } from '../../demo/life/foretold.ts';
import { openStage } from '../../demo/life/stage.ts';
import { playLife } from '../../demo/life/story.ts';
import { loadFixture } from '../../fixtures/load.ts';

// The story of `npm run demo` on its real parts: kervyxa as an operator starts it, PostgreSQL, git, containers, HTTP.

const STORY_MS_MAX = 600_000;
const DECISIVE = /^(ana|bela)'s submission (PASSED|DEFERRED|OVERTURNED|PAID)$/;
const { signal } = new AbortController();
const SCENES = [
  [
    'one process, parse-numbers',
    'one process',
    'parse-numbers',
    { carl: 'throws-but-for-the-tests', ana: 'honest-regex', bela: 'honest-number' },
  ],
  [
    'several machines, data-transform: of two solvers whose files are byte-identical the first received has the pass, the second is DEFERRED, and promoted when that is overturned',
    'several machines',
    'data-transform',
    { carl: 'knows-the-answer', ana: 'honest-regex', bela: 'honest-scan' },
  ],
] as const;

// Keeps R-LIFE, R-PROVED-FIRST, R-EVIDENCE-REPLAY.
it.concurrent.each(SCENES)(
  'plays the life of a contract to its last posting: %s',
  { timeout: STORY_MS_MAX },
  async (_, layout, name, submitted) => {
    const fixture = await loadFixture(name);
    const refused = await loadFixture('perf-benchmark');
    // One is enough: what evidence is checked with knows of no layout.
    const isChecked = layout === 'one process';
    const told: string[] = [];
    const narrator = {
      chapter: () => undefined,
      act: () => undefined,
      state: (what: string, state: string, reason: string) => {
        told.push([what, state, reason].join(' ').trim());
      },
    };
    const log = (): undefined => undefined;
    const stage = await openStage({ fixtures: [fixture, refused], layout, signal, log });
    try {
      const story = playLife({ stage, fixture, refused, submitted, signal, narrator });
      expect(await Promise.race([story, stage.ended])).toEqual(FORETOLD);
      expect(isChecked ? await checkEvidence(stage) : FORETOLD_EVIDENCE).toEqual(FORETOLD_EVIDENCE);
    } finally {
      await stage.close();
    }
    expect(told).toContain("carl's submission FAILED REFUTED");
    expect(told.filter((line) => DECISIVE.test(line))).toEqual([
      "ana's submission PASSED",
      "bela's submission DEFERRED",
      "ana's submission OVERTURNED",
      "bela's submission PASSED",
      "bela's submission PAID",
    ]);
  },
);
