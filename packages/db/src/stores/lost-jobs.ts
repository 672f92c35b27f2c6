import type { QueueName } from '../ports.ts';
import { QUEUE_SCHEMA } from '../queue/turns.ts';
import type { ExecuteDeps } from './execute.ts';
import type { Connections } from './in-transaction.ts';
import { queryRows } from './sql.ts';

interface LostJob {
  readonly queue: QueueName;
  readonly subjectId: string;
  readonly contractId: string;
  readonly solverId: string;
}

/**
 * Sends the jobs of what waits for work and has none, at most `limit`, and answers how many. Jobs are sent in the
 * transaction that makes them needed, so that none is ever missing, unless somebody lost the queue's tables: a backup
 * without them, say. Then nothing else would ever end what waits.
 */
export async function resendLost(
  { pool, transact }: Connections,
  { sendJob }: Pick<ExecuteDeps, 'sendJob'>,
  limit: number,
): Promise<number> {
  const lost = await queryRows<LostJob>(pool, LOST, [limit]);
  for (const { queue, subjectId, contractId, solverId } of lost) {
    await transact(async ({ sql, queues }) => {
      await sendJob(sql, queue, subjectId, { contractId, solverId, delayMs: 0 });
      queues.add(queue);
    });
  }
  return lost.length;
}

const LOST = `
  SELECT * FROM (
    SELECT 'verify' AS queue, r.id AS "subjectId", r.contract_id AS "contractId", s.solver_id AS "solverId"
    FROM runs r JOIN submissions s ON s.id = r.submission_id
    WHERE r.state IN ('QUEUED', 'RUNNING')
    UNION ALL
    SELECT 'capture', id, contract_id, solver_id FROM submissions WHERE state = 'RECEIVED'
    UNION ALL
    SELECT 'approve', id, id, requester_id FROM contracts WHERE approval_state IN ('QUEUED', 'RUNNING')
    UNION ALL
    SELECT 'conformance', id, contract_id, published_by_id FROM implementations WHERE state = 'PENDING'
    UNION ALL
    SELECT 'check', k.id, k.problem_id, k.facts ->> 'solverId' FROM checks k
    WHERE k.ended_at IS NOT NULL AND k.evaluation IS NULL OR k.state = 'WAITING_SANDBOX' AND NOT EXISTS (
      -- What waits for a program to conform is sent when one does.
      SELECT FROM problems p JOIN implementations i ON i.contract_id = p.contract_id
      WHERE p.id = k.problem_id
        AND i.stage_key = k.facts #>> ARRAY['stages', jsonb_array_length(k.facts -> 'results')::text, 'key']
      HAVING bool_or(i.state IN ('PENDING', 'FAILED')) AND NOT bool_or(i.state = 'CONFORMANT')
    )
  ) AS waiting
  WHERE NOT EXISTS (
    SELECT 1 FROM ${QUEUE_SCHEMA}.job j
    WHERE j.name = waiting.queue AND j.singleton_key = waiting."subjectId" AND j.state < 'completed'
  )
  LIMIT $1`;
