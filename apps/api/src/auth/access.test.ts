import type { PrincipalRow, Role } from '@kervyxa/db';
import { describe, expect, it } from 'vitest';
import { seesEvent, seesHidden, seesOwners, seesRuns, seesSource, sightOf } from './access.ts';

const FUNDED = new Date(0);
const HELD = { solverId: 'prn_solver', windowOpensAt: new Date(0) };
const UNDECIDED = { solverId: 'prn_solver', windowOpensAt: null };

function principal(id: string, ...roles: Role[]): PrincipalRow {
  return { id, name: id, roles, invitedById: null, createdAt: new Date(0) };
}

const VIEWERS = {
  operator: principal('prn_operator', 'operator'),
  requester: principal('prn_requester', 'requester'),
  otherRequester: principal('prn_other', 'requester'),
  solver: principal('prn_solver', 'solver'),
  otherSolver: principal('prn_rival', 'solver'),
  challenger: principal('prn_challenger', 'challenger'),
  arbiter: principal('prn_arbiter', 'arbiter'),
  twoHats: principal('prn_hats', 'arbiter', 'solver'),
};
type Viewer = keyof typeof VIEWERS;
const ALL = Object.keys(VIEWERS) as Viewer[];

const CONTRACT = {
  requesterId: 'prn_requester',
  inviteOnly: false,
  invitedIds: [],
  fundedAt: FUNDED,
};

function whoOf(test: (viewer: PrincipalRow) => boolean): Viewer[] {
  return ALL.filter((name) => test(VIEWERS[name]));
}

function sightsWhere(test: (sight: NonNullable<ReturnType<typeof sightOf>>) => boolean): Viewer[] {
  return whoOf((viewer) => {
    const sight = sightOf(viewer, CONTRACT);
    return sight !== null && test(sight);
  });
}

// Keeps R-API-SIGHT.
describe('who sees what', () => {
  it('shows a contract that was never funded to its requester and the operator', () => {
    const draft = { ...CONTRACT, fundedAt: null };
    expect(whoOf((viewer) => sightOf(viewer, draft) !== null)).toEqual(['operator', 'requester']);
  });

  it('shows a funded one to everybody with a key', () => {
    expect(whoOf((viewer) => sightOf(viewer, CONTRACT) !== null)).toEqual(ALL);
  });

  it('shows an invite-only one to the invited and to arbiters besides', () => {
    const closed = { ...CONTRACT, inviteOnly: true, invitedIds: ['prn_solver'] };
    expect(whoOf((viewer) => sightOf(viewer, closed) !== null)).toEqual([
      'operator',
      'requester',
      'solver',
      'arbiter',
    ]);
    expect(sightOf(VIEWERS.solver, closed)?.isInvited).toBe(true);
  });

  it('looks at hidden answers with an arbiter’s eyes and then submits: an arbiter who may submit sees none', () => {
    expect(sightsWhere(seesHidden)).toEqual(['operator', 'requester', 'arbiter']);
    expect(sightsWhere(seesOwners)).toEqual(['operator', 'requester']);
  });

  it('S19 hands in another’s commit as the own: nobody but solver, arbiter and operator knows it before it passed', () => {
    expect(sightsWhere((sight) => seesSource(sight, UNDECIDED))).toEqual([
      'operator',
      'solver',
      'arbiter',
    ]);
    expect(sightsWhere((sight) => seesSource(sight, HELD))).toEqual(ALL);
  });

  it('shows runs to the parties, and to everybody once the submission held the pass', () => {
    expect(sightsWhere((sight) => seesRuns(sight, UNDECIDED))).toEqual([
      'operator',
      'requester',
      'solver',
      'arbiter',
    ]);
    expect(sightsWhere((sight) => seesRuns(sight, HELD))).toEqual(ALL);
  });

  it('shows events to their audience', () => {
    const who = (audience: 'PUBLIC' | 'PARTIES' | 'OWNER', submission: typeof UNDECIDED | null) =>
      sightsWhere((sight) => seesEvent(sight, audience, submission));
    expect(who('PUBLIC', null)).toEqual(ALL);
    expect(who('PARTIES', null)).toEqual(['operator', 'requester']);
    expect(who('PARTIES', UNDECIDED)).toEqual(['operator', 'requester', 'solver', 'arbiter']);
    expect(who('OWNER', UNDECIDED)).toEqual(['operator', 'requester']);
  });
});
