import type { Effect } from '@kervyxa/settlement';
import type { Audience } from '../ports.ts';
import { runChange, type Sql, toJson } from './sql.ts';

export interface NewEvent {
  readonly name: string;
  readonly actorId: string | null;
  readonly contractId: string | null;
  readonly submissionId: string | null;
  readonly runId: string | null;
  readonly challengeId: string | null;
  readonly audience: Audience;
  readonly data: Readonly<Record<string, unknown>>;
}

/** In one statement, in this order. */
export async function addEvents(sql: Sql, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await runChange(
    sql,
    `INSERT INTO events (xid, name, actor_id, contract_id, submission_id, run_id, challenge_id, audience, data)
     SELECT pg_current_xact_id()::text::bigint, n.name, n."actorId", n."contractId",
       n."submissionId", n."runId", n."challengeId", n.audience, n.data
     FROM ROWS FROM (jsonb_to_recordset($1) AS (name text, "actorId" text, "contractId" text,
       "submissionId" text, "runId" text, "challengeId" text, audience text, data jsonb))
       WITH ORDINALITY AS n
     ORDER BY n.ordinality`,
    [toJson(events)],
  );
}

/** What a decision tells, for the record and the watchers. */
export function toNewEvent(
  effect: Extract<Effect, { kind: 'event' }>,
  contractId: string,
  actorId: string | null,
): NewEvent {
  const { name, submissionId, challengeId, data } = effect;
  const runId = typeof data['runId'] === 'string' ? data['runId'] : null;
  const audience = audienceOf(name);
  return { name, actorId, contractId, submissionId, runId, challengeId, audience, data };
}

// What becomes of a submission before it has the pass is between its solver and the owner: others could guess whose
// commit to copy.
const PUBLIC_EVENTS = /^(contract_|challenge_|submission_(passed|overturned|paid)$)/;

function audienceOf(name: string): Audience {
  return PUBLIC_EVENTS.test(name) ? 'PUBLIC' : 'PARTIES';
}
