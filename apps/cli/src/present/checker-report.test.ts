import { expect, it } from 'vitest';
import { fakeScreen } from '../testing/fake-host.ts';
import { toWalkText } from './checker-report.ts';

const SCORED = { result: 'verified', score: 0.75, stages: [] } as const;

it.each([
  ['accuracy', 'verified  score 0.75 accuracy'],
  [null, 'verified  score 0.75'],
])('tells a score with its unit: %s', (unit, text) => {
  expect(toWalkText(SCORED, unit, fakeScreen())).toBe(text);
});
