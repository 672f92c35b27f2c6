import { escapeJson } from '@kervyxa/core';
import type { EventRow } from '@kervyxa/db';
import { isTellable } from '@kervyxa/evidence';
import {
  seesHidden,
  seesOwners,
  seesSource,
  type Sight,
  type SubmissionSubject,
} from '../auth/access.ts';
import { toTime } from './fields.ts';

/** The JSON text of an event's data line; for callers that may see the event at all. `submission`: what it is about. */
export function toEventText(
  row: EventRow,
  sight: Sight,
  submission: SubmissionSubject | null,
): string {
  const data = submission === null ? row.data : withoutSentences(row.data, sight, submission);
  const text = JSON.stringify({
    at: toTime(row.at),
    contractId: row.contractId,
    submissionId: row.submissionId,
    runId: row.runId,
    challengeId: row.challengeId,
    actorId: seesOwners(sight) ? row.actorId : null,
    data: seesHidden(sight) ? data : withoutHidden(data),
  });
  return escapeJson(text);
}

/** Of a hidden criterion nothing but its status, even where the writer said more. */
const HIDDEN_MAY_TELL = ['criterionId', 'visibility', 'status', 'reason'];

/** How long our own steps took tells of the package's size, and of steps that waited for a hidden criterion. */
function withoutHidden(data: EventRow['data']): EventRow['data'] {
  if (data.visibility !== 'hidden') return withNull(data, ['durationMs']);
  return Object.fromEntries(Object.entries(data).filter(([key]) => HIDDEN_MAY_TELL.includes(key)));
}

/** What is said of a step may name the commit, the package or the machine, as sentences of results may. */
function withoutSentences(
  data: EventRow['data'],
  sight: Sight,
  submission: SubmissionSubject,
): EventRow['data'] {
  const isOurs = typeof data.reason === 'string' && !isTellable(data.reason);
  if (data.kind !== 'criterion' && !seesSource(sight, submission)) {
    return withNull(data, ['title', 'message']);
  }
  return isOurs && !seesHidden(sight) ? withNull(data, ['message']) : data;
}

function withNull(data: EventRow['data'], keys: readonly string[]): EventRow['data'] {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, keys.includes(key) ? null : value]),
  );
}
