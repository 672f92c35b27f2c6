import { mayReadEntry, type ProblemCase } from '@kervyxa/checker';
import type { PrincipalRow } from '@kervyxa/db';
import { isPureArbiter } from './access.ts';

// Who sees what of problems, entries and checks (ADR 0042), as pure rules over those of packages/checker.

/** As whom a principal looks at a problem that it may see. */
export interface ProblemSight {
  readonly viewerId: string;
  /** Sees everything: sealed bytes, entries before the cutoff, scores. An operator could read the database anyway. */
  readonly seesAll: boolean;
  readonly isOperator: boolean;
}

/** Null where the problem is none of the viewer's business, so that it must look as if there were none. */
export function problemSightOf(viewer: PrincipalRow, problem: ProblemCase): ProblemSight | null {
  const isOperator = viewer.roles.includes('operator');
  const sight = { viewerId: viewer.id, isOperator, seesAll: isOperator };
  if (problem.ownerId === viewer.id) return { ...sight, seesAll: true };
  if (isOperator) return sight;
  if (problem.state === 'DRAFT') return null;
  const isLetIn = problem.invited === null || problem.invited.includes(viewer.id);
  return isLetIn || isPureArbiter(viewer) ? sight : null;
}

/** An entry, its artifacts and its check. */
export function seesEntry(
  { viewerId, seesAll }: ProblemSight,
  problem: ProblemCase,
  entry: { readonly solverId: string },
  now: Date,
): boolean {
  return seesAll || mayReadEntry(problem, entry, viewerId, now);
}
