import type { CheckerCommands, Checkers } from '../../checker-ports.ts';
import type { Answer, Call } from '../../ports.ts';
import { answerOnce } from '../idempotency.ts';
import type { Connections, Transaction } from '../in-transaction.ts';
import { retryConformance } from './conformance.ts';
import { type CheckerDeps, decideHeldCheck } from './decide-check.ts';
import { addPartnerKey, holdPartnerKey, retirePartnerKey } from './partner-keys.ts';
import { createProblem, decideHeldProblem, submitEntry } from './problems.ts';
import { publish, yank } from './publish.ts';
import { createCheckerReads } from './reads.ts';
import { CHECKS, type CheckRecord, toCheckRow } from './rows.ts';
import { queryRows } from '../sql.ts';
import { createCheckerWork } from './work.ts';

export function createCheckers(connections: Connections, deps: CheckerDeps): Checkers {
  return {
    commands: createCheckerCommands(connections, deps),
    reads: createCheckerReads(connections),
    work: createCheckerWork(connections, deps),
  };
}

/** Each one transaction, in which the Idempotency-Key comes first. */
function createCheckerCommands({ transact }: Connections, deps: CheckerDeps): CheckerCommands {
  const once = (call: Call, work: (transaction: Transaction) => Promise<Answer>): Promise<Answer> =>
    transact((transaction) => answerOnce(transaction.sql, call, () => work(transaction)));
  return {
    publish: (call, input, toAnswer) =>
      once(call, async (transaction) =>
        toAnswer(await publish(transaction, deps, call.actorId, input)),
      ),
    yank: (call, contractId, toAnswer) =>
      once(call, async ({ sql }) => toAnswer(await yank(sql, call.actorId, contractId))),
    retryConformance: (call, id, toAnswer) =>
      once(call, async (transaction) => {
        await retryConformance(transaction, deps, id);
        return toAnswer();
      }),
    createProblem: (call, input, toAnswer) =>
      once(call, async (transaction) =>
        toAnswer(await createProblem(transaction, deps, call.actorId, input)),
      ),
    decideProblem: (call, { problemId, command }, toAnswer) =>
      once(call, async (transaction) =>
        toAnswer(await decideHeldProblem(transaction, deps, problemId, command, call.actorId)),
      ),
    submitEntry: (call, input, toAnswer) =>
      once(call, async (transaction) => {
        const { entry, check } = await submitEntry(transaction, deps, call.actorId, input);
        return toAnswer(entry, check);
      }),
    decideCheck: (call, { checkId, command }, toAnswer) =>
      once(call, async (transaction) => {
        if (command.kind === 'report' && command.reporter.kind === 'signature')
          await holdPartnerKey(transaction.sql, command.reporter.key);
        const request = { checkId, command, actorId: call.actorId };
        const decision = await decideHeldCheck(transaction, deps, request);
        if (decision.kind === 'refused') throw decision.error;
        const [row] = await queryRows<CheckRecord>(
          transaction.sql,
          `SELECT ${CHECKS} WHERE k.id = $1`,
          [checkId],
        );
        if (row === undefined) throw new Error(`expected check ${checkId}, got no row`);
        return toAnswer(toCheckRow(row));
      }),
    addPartnerKey: (call, key, toAnswer) =>
      once(call, async ({ sql }) => toAnswer(await addPartnerKey(sql, key))),
    retirePartnerKey: (call, fingerprint, toAnswer) =>
      once(call, async ({ sql }) => toAnswer(await retirePartnerKey(sql, fingerprint))),
  };
}
