import { afterAll, beforeAll, expect, it } from 'vitest';
import { FORETOLD } from '../../demo/life/foretold.ts';
import { openStage, type Stage } from '../../demo/life/stage.ts';
import { playLife } from '../../demo/life/story.ts';
import { loadFixture } from '../../fixtures/load.ts';

// The story of `npm run demo` on its real parts: kervyxa as an operator starts it, PostgreSQL, git, containers, HTTP.

const STORY_MS_MAX = 240_000;
const { signal } = new AbortController();
let stage: Stage;

const fixture = await loadFixture('parse-numbers');
const refused = await loadFixture('perf-benchmark');
beforeAll(async () => {
  stage = await openStage({ fixtures: [fixture, refused], signal, log: () => undefined });
});
afterAll(() => stage.close());

// Keeps R-LIFE.
it('plays the life of a contract to its last posting', { timeout: STORY_MS_MAX }, async () => {
  const told: string[] = [];
  const narrator = {
    chapter: () => undefined,
    act: () => undefined,
    state: (what: string, state: string, reason: string) => {
      told.push([what, state, reason].join(' ').trim());
    },
  };
  const story = playLife({ stage, fixture, refused, signal, narrator });
  expect(await Promise.race([story, stage.ended])).toEqual(FORETOLD);
  expect(told).toContain("carl's submission FAILED EXIT_CODE_MISMATCH");
  const inOrder = told.filter((line) => /^(ana|bela)'s submission [A-Z]+$/.test(line));
  const decisive = ['PASSED', 'OVERTURNED', 'DEFERRED', 'PAID'];
  expect(inOrder.filter((line) => decisive.includes(line.split(' ').at(-1) ?? ''))).toEqual([
    "ana's submission PASSED",
    "bela's submission DEFERRED",
    "ana's submission OVERTURNED",
    "bela's submission PASSED",
    "bela's submission PAID",
  ]);
});
