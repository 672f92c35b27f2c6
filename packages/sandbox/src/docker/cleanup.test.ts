import { describe, expect, it } from 'vitest';
import { planReaping } from './cleanup.ts';

const NOW = 10_000_000;
const part = (role: string, state: string, ageMs = 3_600_000) => ({
  id: role,
  session: 's',
  role,
  state,
  createdMs: NOW - ageMs,
});

describe('the reaper', () => {
  it.each([
    ['a keeper that runs', [part('keeper', 'running'), part('run', 'exited')], []],
    ['a keeper that has ended', [part('keeper', 'exited', 5), part('run', 'running', 5)], ['s']],
    ['a keeper that is dead', [part('keeper', 'dead')], ['s']],
    ['no keeper any more', [part('run', 'running')], ['s']],
    ['only volumes, old ones', [part('volume', '')], ['s']],
    ['only volumes, new ones: it may be opening', [part('volume', '', 1_000)], []],
    ['a keeper that may be about to start', [part('keeper', 'created', 1_000)], []],
    ['a keeper that never started', [part('keeper', 'created')], ['s']],
  ])('finds a session with %s', (_, parts, dead) => {
    expect(planReaping(parts, NOW)).toEqual(dead);
  });
});
