import { ProblemCaseSchema, type ProblemCase } from '@kervyxa/checker';
import { createIdSource } from '@kervyxa/core';
import type { PrincipalRow, Role } from '@kervyxa/db';
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { problemSightOf, seesEntry } from './problem-access.ts';

const newId = createIdSource(randomBytes);

function principal(...roles: Role[]): PrincipalRow {
  const id = newId('principal');
  return { id, name: id, roles, invitedById: null, createdAt: new Date(0) };
}

const VIEWERS = {
  operator: principal('operator'),
  owner: principal('requester'),
  otherRequester: principal('requester'),
  solver: principal('solver'),
  rival: principal('solver'),
  arbiter: principal('arbiter'),
  twoHats: principal('arbiter', 'solver'),
};
type Viewer = keyof typeof VIEWERS;
const NAMES = Object.keys(VIEWERS) as Viewer[];

function toProblem(fields: Partial<ProblemCase> = {}): ProblemCase {
  return ProblemCaseSchema.parse({
    id: newId('problem'),
    ownerId: VIEWERS.owner.id,
    contractId: newId('verifierContract'),
    state: 'OPEN',
    slots: [],
    bindings: {},
    sealing: {
      sealed_until: '2026-01-02T00:00:00Z',
      submission_limit: 1,
      entries: 'independent',
      cutoff: '2026-01-01T00:00:00Z',
    },
    releasedAt: null,
    invited: null,
    actedIds: [],
    entrants: {},
    ...fields,
  });
}

const whoSees = (problem: ProblemCase) =>
  NAMES.filter((name) => problemSightOf(VIEWERS[name], problem) !== null);

// Keeps R-API-SIGHT.
describe('who sees a problem', () => {
  it('is owner and operator while it is a draft', () => {
    expect(whoSees(toProblem({ state: 'DRAFT' }))).toEqual(['operator', 'owner']);
    const invited = [VIEWERS.solver.id];
    expect(whoSees(toProblem({ state: 'DRAFT', invited }))).toEqual(['operator', 'owner']);
  });

  it('is everybody once it is open, and after its end', () => {
    for (const state of ['OPEN', 'CLOSED'] as const)
      expect(whoSees(toProblem({ state }))).toEqual(NAMES);
  });

  it('is the invited, and arbiters who are nothing else, where anybody is invited', () => {
    const problem = toProblem({ invited: [VIEWERS.solver.id] });
    expect(whoSees(problem)).toEqual(['operator', 'owner', 'solver', 'arbiter']);
  });
});

// Keeps R-SEALED-ENTRIES.
describe('who sees an independent entry', () => {
  const whoSeesEntry = (time: string) =>
    NAMES.filter((name) => {
      const problem = toProblem();
      const sight = problemSightOf(VIEWERS[name], problem);
      const entry = { solverId: VIEWERS.solver.id };
      return sight !== null && seesEntry(sight, problem, entry, new Date(time));
    });

  it('is owner, operator and solver before the cutoff, and everybody from then on', () => {
    expect(whoSeesEntry('2025-12-31T23:59:59.999Z')).toEqual(['operator', 'owner', 'solver']);
    expect(whoSeesEntry('2026-01-01T00:00:00Z')).toEqual(NAMES);
  });
});
