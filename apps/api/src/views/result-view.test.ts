import { describe, expect, it } from 'vitest';
import type { Sight } from '../auth/access.ts';
import { toResultView } from './result-view.ts';

const SHA = 'c'.repeat(40);
const NOBODY: Sight = {
  viewerId: 'prn_x',
  isOperator: false,
  isRequester: false,
  isArbiter: false,
  isInvited: false,
};
const SOLVER: Sight = { ...NOBODY, viewerId: 'prn_solver' };
const REQUESTER: Sight = { ...NOBODY, isRequester: true };
const OPERATOR: Sight = { ...NOBODY, isOperator: true };
const UNDECIDED = { solverId: 'prn_solver', windowOpensAt: null };

function criterion(id: string, visibility: 'public' | 'hidden') {
  return {
    id,
    type: 'exit_code',
    visibility,
    status: 'fail',
    reason: 'EXIT_CODE_MISMATCH',
    message: `SECRET-${id}`,
    exitCode: 77,
    metric: 4242,
    peakMemoryBytes: 1234,
    durationMs: 567,
    outputSha256: 'e'.repeat(64),
  };
}

const RESULT = JSON.stringify({
  verdict: 'FAIL',
  contractDigest: `sha256:${'d'.repeat(64)}`,
  commit: SHA,
  tree: 'b'.repeat(40),
  imageDigest: null,
  changedFiles: [{ path: 'a.js', status: 'modified' }],
  changedFileCount: 1,
  inputs: { checkout: 'f'.repeat(64), package: '9'.repeat(64), dependencies: '8'.repeat(64) },
  criteria: [
    criterion('open', 'public'),
    criterion('secret', 'hidden'),
    { ...criterion('lost', 'public'), status: 'error', reason: 'ENGINE_UNAVAILABLE' },
    { ...criterion('unmet', 'public'), status: 'inconclusive', reason: 'REQUIREMENTS_UNMET' },
    { ...criterion('asked', 'hidden'), status: 'inconclusive', reason: 'CHECK_INCONCLUSIVE' },
  ],
  reasons: [
    { code: 'EXIT_CODE_MISMATCH', message: 'SECRET-open', subject: 'open' },
    { code: 'EXIT_CODE_MISMATCH', message: 'SECRET-secret', subject: 'secret' },
    { code: 'NOT_A_DESCENDANT', message: `commit ${SHA} has another base`, subject: null },
    { code: 'VERIFIER_BROKEN', message: 'SECRET-package', subject: null },
  ],
  somethingNew: 'SECRET-new',
});

// Keeps R-API-SIGHT.
describe('a result', () => {
  it('S18 reads a hidden answer off the result: a solver sees status and reason of hidden criteria, nothing else', () => {
    const view = toResultView(RESULT, UNDECIDED, SOLVER);
    expect(view.criteria[1]).toEqual({
      id: 'secret',
      type: 'exit_code',
      visibility: 'hidden',
      status: 'fail',
      reason: 'EXIT_CODE_MISMATCH',
      message: null,
      exitCode: null,
      metric: null,
      peakMemoryBytes: null,
      durationMs: null,
      outputSha256: null,
    });
    expect(view.criteria[0]).toMatchObject({ message: 'SECRET-open', exitCode: 77 });
    expect(view.reasons.map(({ message }) => message)).toEqual([
      'SECRET-open',
      null,
      `commit ${SHA} has another base`,
      null,
    ]);
    expect(view.commit).toBe(SHA);
    expect(view.criteria[2]).toMatchObject({ reason: 'ENGINE_UNAVAILABLE', message: null });
    // What a public checker could not be asked about is the solver's to mend; of a hidden one nothing is told.
    expect(view.criteria[3]).toMatchObject({ message: 'SECRET-unmet' });
    expect(view.criteria[4]).toMatchObject({ reason: 'CHECK_INCONCLUSIVE', message: null });
    // So could whoever knows what may be in the package.
    expect(view.inputs).toEqual({
      checkout: 'f'.repeat(64),
      package: null,
      dependencies: '8'.repeat(64),
    });
    // Whoever knows the rest of the document could find its hidden half by trying.
    expect(view.contractDigest).toBeNull();
  });

  it('shows all of them to requester and operator, and what it does not know to nobody', () => {
    for (const sight of [REQUESTER, OPERATOR]) {
      const view = toResultView(RESULT, UNDECIDED, sight);
      expect(view.criteria[1]).toMatchObject({ message: 'SECRET-secret', exitCode: 77 });
      expect(view.inputs).toMatchObject({ package: '9'.repeat(64) });
      expect(JSON.stringify(view)).not.toContain('SECRET-new');
    }
  });

  it('S19 names no commit to the requester before it passed, in no sentence either', () => {
    const view = toResultView(RESULT, UNDECIDED, REQUESTER);
    expect(view).toMatchObject({ commit: null, tree: null, inputs: { checkout: null } });
    expect(JSON.stringify(view)).not.toContain(SHA);
    expect(
      toResultView(RESULT, { ...UNDECIDED, windowOpensAt: new Date(0) }, REQUESTER),
    ).toMatchObject({ commit: SHA, inputs: { checkout: 'f'.repeat(64) } });
  });
});
