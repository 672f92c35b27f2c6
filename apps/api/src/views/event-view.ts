import type { EventRow } from '@kervyxa/db';
import { seesHidden, seesOwners, type Sight } from '../auth/access.ts';
import { toTime } from './fields.ts';

/** The JSON text of an event's data line; for callers that may see the event at all. */
export function toEventText(row: EventRow, sight: Sight): string {
  return JSON.stringify({
    at: toTime(row.at),
    contractId: row.contractId,
    submissionId: row.submissionId,
    runId: row.runId,
    challengeId: row.challengeId,
    actorId: seesOwners(sight) ? row.actorId : null,
    data: seesHidden(sight) ? row.data : withoutHidden(row.data),
  });
}

/** Of a hidden criterion nothing but its status, even where the writer said more. */
const HIDDEN_MAY_TELL = ['criterionId', 'visibility', 'status', 'reason'];

function withoutHidden(data: EventRow['data']): EventRow['data'] {
  if (data.visibility !== 'hidden') return data;
  return Object.fromEntries(Object.entries(data).filter(([key]) => HIDDEN_MAY_TELL.includes(key)));
}
