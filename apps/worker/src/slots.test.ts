import { QUEUES } from '@kervyxa/db';
import { describe, expect, it } from 'vitest';
import { planSlots } from './slots.ts';

describe('the slots of a worker', () => {
  it('give each verification two cores where there are enough', () => {
    expect(planSlots(8, null)).toMatchObject({ verify: 4, coreCount: 2 });
    expect(planSlots(2, null)).toMatchObject({ verify: 1, coreCount: 2 });
    expect(planSlots(1, null)).toMatchObject({ verify: 1, coreCount: 1 });
  });

  it('share the cores out as the operator says, a whole one at least', () => {
    expect(planSlots(8, 2)).toMatchObject({ verify: 2, coreCount: 4 });
    expect(planSlots(2, 5)).toMatchObject({ verify: 5, coreCount: 1 });
  });

  it('are of every queue, once', () => {
    const named = planSlots(2, null).loops.flatMap(({ names }) => names);
    expect(named.toSorted()).toEqual([...QUEUES].toSorted());
  });
});
