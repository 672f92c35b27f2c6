import { isAppError } from '@kervyxa/core';
import type { SubmittedRow } from '../ports.ts';
import type { ExecuteDeps } from './execute.ts';
import type { Transact } from './in-transaction.ts';
import { submitAll } from './submit.ts';
import type { Submit, Submitted } from './submitting.ts';

const TOGETHER_MAX = 50;

interface Waiting extends Submit {
  readonly resolve: (row: SubmittedRow) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Submits those of one contract one transaction after the other, in the order in which they came; who comes while one
 * is under way shares the next with all others who did. So many cost little more than one, and nobody waits for anybody
 * else's contract. Throws what refuses the submission.
 */
export function createSubmitLines(
  transact: Transact,
  deps: ExecuteDeps,
): (submit: Submit) => Promise<SubmittedRow> {
  const lines = new Map<string, Waiting[]>();

  const serve = async (contractId: string, line: Waiting[]) => {
    while (line.length > 0) {
      await submitTogether(transact, deps, contractId, line.splice(0, TOGETHER_MAX));
    }
    lines.delete(contractId);
  };

  return (submit) =>
    new Promise((resolve, reject) => {
      const { contractId } = submit.input;
      const waiting = { ...submit, resolve, reject };
      const line = lines.get(contractId);
      if (line !== undefined) {
        line.push(waiting);
        return;
      }
      const opened = [waiting];
      lines.set(contractId, opened);
      void serve(contractId, opened);
    });
}

/** Never throws: everybody gets an answer of their own. */
async function submitTogether(
  transact: Transact,
  deps: ExecuteDeps,
  contractId: string,
  submits: readonly Waiting[],
): Promise<void> {
  try {
    const [alone, again] = partByKey(submits);
    const answers = await transact((transaction) =>
      submitAll(transaction, deps, contractId, alone),
    );
    alone.forEach((each, index) => answer(each, answers[index]));
    // Equal requests at once: the second finds what the first left.
    for (const each of again) await submitTogether(transact, deps, contractId, [each]);
  } catch (error) {
    // Of several, one that the database refuses takes none of the others with it. Trouble that has a name is everybody's.
    if (submits.length > 1 && !isAppError(error)) {
      for (const each of submits) await submitTogether(transact, deps, contractId, [each]);
      return;
    }
    for (const { reject } of submits) reject(error);
  }
}

/** Those with a key that one before them has are left for later. */
function partByKey(submits: readonly Waiting[]): readonly [alone: Waiting[], again: Waiting[]] {
  const keys = new Set<string>();
  const [alone, again]: [Waiting[], Waiting[]] = [[], []];
  for (const each of submits) {
    const { actorId, idempotency } = each.call;
    const key = idempotency === null ? null : `${actorId} ${idempotency.key}`;
    (key !== null && keys.has(key) ? again : alone).push(each);
    if (key !== null) keys.add(key);
  }
  return [alone, again];
}

function answer({ resolve, reject }: Waiting, submitted: Submitted | undefined): void {
  if (submitted === undefined) reject(new Error('expected an answer to a submission, got none'));
  else if (submitted instanceof Error) reject(submitted);
  else resolve(submitted);
}
