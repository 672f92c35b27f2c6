import type { PrincipalRow } from '@kervyxa/db';
import { expect, it } from 'vitest';
import { createPrincipals } from './principals.ts';

const PRINCIPAL: PrincipalRow = {
  id: 'prn_1',
  name: 'a',
  roles: [],
  invitedById: null,
  createdAt: new Date(0),
};

it('trusts a good key for a while and asks again then, and never remembers a bad one', async () => {
  let nowMs = 0;
  let asked = 0;
  let isGood = true;
  const clock = { now: () => new Date(nowMs), monotonicMs: () => nowMs };
  const lookUp = async () => {
    asked += 1;
    return isGood ? PRINCIPAL : null;
  };
  const principals = createPrincipals(lookUp, { clock, trustMs: 2_000 });

  expect(principals.recall('h')).toBeUndefined();
  expect(await principals.find('h')).toBe(PRINCIPAL);
  nowMs = 1_999;
  expect(principals.recall('h')).toBe(PRINCIPAL);
  isGood = false;
  nowMs = 2_000;
  expect(principals.recall('h')).toBeUndefined();
  expect(await principals.find('h')).toBeNull();
  expect(principals.recall('h')).toBeUndefined();
  expect(asked).toBe(2);
});
