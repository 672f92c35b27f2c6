import type { EventRow } from '@kervyxa/db';
import { z } from 'zod';
import { seesEvent, type Sight, type SubmissionSubject } from '../auth/access.ts';
import { principalOf } from '../auth/authenticate.ts';
import type { Api, ApiContext } from '../context.ts';
import { PROBLEM_ANSWER, textAnswer } from '../http/openapi.ts';
import { streamEvents } from '../stream/event-stream.ts';
import { toEventText } from '../views/event-view.ts';
import { ContractIdField, RunIdField } from '../views/fields.ts';
import { seenRun } from './runs.ts';

const STREAM = textAnswer(
  'text/event-stream',
  'Events with a cursor as their id; send it as Last-Event-ID to go on. The last one is `end`.',
);

const CONTRACT_ENDS = ['contract_settled', 'contract_expired', 'contract_cancelled'];

export function registerEvents(app: Api, context: ApiContext): void {
  const { reads } = context.database;

  app.get(
    '/v1/runs/:id/events',
    {
      config: { access: 'any_key', isStream: true },
      schema: {
        tags: ['runs'],
        summary: 'What happens in a run, as it happens',
        params: z.strictObject({ id: RunIdField }),
        response: { 200: STREAM, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { run, submission, sight } = await seenRun(
        context,
        principalOf(request),
        request.params.id,
      );
      const subject = {
        stream: { runId: run.id },
        present: async (event: EventRow) =>
          seesEvent(sight, event.audience, submission)
            ? toEventText(event, sight, submission)
            : null,
        isLast: ({ name }: EventRow) => name === 'run_sealed' || name === 'run_abandoned',
        isAtEnd: async () => {
          const state = (await reads.run(run.id))?.state ?? 'ABANDONED';
          return state === 'SEALED' || state === 'ABANDONED';
        },
      };
      await streamEvents(request, reply, { context, subject });
      return reply;
    },
  );

  app.get(
    '/v1/contracts/:id/events',
    {
      config: { access: 'any_key', isStream: true },
      schema: {
        tags: ['contracts'],
        summary: 'What happens to a contract and its submissions, as it happens',
        params: z.strictObject({ id: ContractIdField }),
        response: { 200: STREAM, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const sight = await context.sights.ofContract(principalOf(request), request.params.id);
      const contractId = request.params.id;
      const subject = {
        stream: { contractId },
        present: createPresenter(context, sight),
        isLast: ({ name }: EventRow) => CONTRACT_ENDS.includes(name),
        isAtEnd: async () => (await reads.contract(contractId))?.endedAt !== null,
      };
      await streamEvents(request, reply, { context, subject });
      return reply;
    },
  );
}

/** Many events are about few submissions, whose solver never changes and whose first pass is told by its event. */
function createPresenter({ database }: ApiContext, sight: Sight) {
  const submissions = new Map<string, SubmissionSubject>();

  async function subjectOf(submissionId: string): Promise<SubmissionSubject | null> {
    const known = submissions.get(submissionId);
    if (known !== undefined) return known;
    const row = await database.reads.submission(submissionId);
    if (row === null) return null;
    const { solverId, windowOpensAt } = row;
    submissions.set(submissionId, { solverId, windowOpensAt });
    return { solverId, windowOpensAt };
  }

  return async (event: EventRow): Promise<string | null> => {
    const { name, audience, submissionId } = event;
    if (submissionId !== null && name === 'submission_passed') submissions.delete(submissionId);
    // Also for those who see the event anyway: what is said in it may be more than they may know.
    const isAsked = audience !== 'PUBLIC' && submissionId !== null;
    const submission = isAsked ? await subjectOf(submissionId) : null;
    return seesEvent(sight, audience, submission) ? toEventText(event, sight, submission) : null;
  };
}
