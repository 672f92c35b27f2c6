import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EventRow } from '@kervyxa/db';
import { principalOf } from '../auth/authenticate.ts';
import type { ApiContext } from '../context.ts';
import { invalidRequest } from '../http/problem.ts';

export interface EventSubject {
  readonly stream: { readonly contractId: string } | { readonly runId: string };
  /** The data line of an event, or null where the caller may not see it. */
  present(event: EventRow): Promise<string | null>;
  /**
   * Whether this is its end. Told by events and not by its state, which may be seen before the events that led to it:
   * those wait for every older transaction.
   */
  isLast(event: EventRow): boolean;
  /** Whether its state says that nothing can happen to it any more. */
  isAtEnd(): Promise<boolean>;
}

const BATCH_SIZE = 100;

/**
 * Sends what happened and what happens as server-sent events, from Last-Event-ID on, until the subject is at its end
 * (`event: end`), the caller goes, its key is revoked, or the server closes.
 *
 * Throws API_REQUEST_INVALID and API_WATCHERS_EXCEEDED before anything is sent.
 */
export async function streamEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  { context, subject }: { readonly context: ApiContext; readonly subject: EventSubject },
): Promise<void> {
  const after = cursorOf(request);
  // What the database refuses it would refuse after the head is sent, again and again.
  if (after !== null) await context.database.reads.events(subject.stream, after, 1);
  const leave = context.watchers.enter(principalOf(request).id);
  const gone = new AbortController();
  const { raw } = reply;
  raw.once('close', () => gone.abort());
  reply.hijack();
  try {
    const signal = AbortSignal.any([gone.signal, context.watchers.closing]);
    openStream(reply);
    await follow(raw, { request, context, subject, after, signal });
  } catch (error) {
    // The head is sent: all that is left is to break off, so that the client comes again with its cursor.
    if (!gone.signal.aborted) request.log.error({ err: error }, 'event stream broke off');
  } finally {
    leave();
    raw.end();
  }
}

/** EventSource sends the header by itself when it comes again. */
function cursorOf({ headers }: FastifyRequest): string | null {
  const cursor = headers['last-event-id'];
  if (cursor === undefined || cursor === '') return null;
  if (typeof cursor !== 'string') throw invalidRequest('Last-Event-ID');
  return cursor;
}

function openStream(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  reply.raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // A connection that is kept after its stream would hold up a server that stops.
    connection: 'close',
    // Proxies would wait for more.
    'x-accel-buffering': 'no',
  });
  reply.raw.write('retry: 2000\n\n');
}

interface Following {
  readonly request: FastifyRequest;
  readonly context: ApiContext;
  readonly subject: EventSubject;
  readonly after: string | null;
  readonly signal: AbortSignal;
}

async function follow(raw: ServerResponse, following: Following): Promise<void> {
  const { request, context, subject, signal } = following;
  const { reads } = context.database;
  const { heartbeatMs, stalledReaderMs } = context.settings;
  let { after } = following;
  let isEnding = false;
  let wasAtEnd = false;
  // Asked as often where there is no silence: a stream that never rests must not outlive its key.
  let isKeyDue = AbortSignal.timeout(heartbeatMs);
  // Begins anew with everything that is sent, and not with every look: those come without a reason, too.
  const beginSilence = () => AbortSignal.any([signal, AbortSignal.timeout(heartbeatMs)]);
  let tick = beginSilence();
  while (!signal.aborted) {
    if (isKeyDue.aborted) {
      if (!(await isKeyGood(request, context))) return;
      isKeyDue = AbortSignal.timeout(heartbeatMs);
    }
    // Listening begins before reading, so that nothing that comes in between is waited for in vain.
    const woken = isEnding ? null : reads.waitForEvents(subject.stream, tick);
    const events = await reads.events(subject.stream, after, BATCH_SIZE);
    for (const event of events) {
      const data = await subject.present(event);
      if (data !== null) {
        const text = `id: ${event.cursor}\nevent: ${event.name}\ndata: ${data}\n\n`;
        await send(raw, text, { signal, stalledReaderMs });
        tick = beginSilence();
      }
      after = event.cursor;
      isEnding ||= subject.isLast(event);
    }
    // What was stored together with the last one may still have to be read.
    if (events.length > 0) continue;
    if (isEnding) return end(raw);
    await woken;
    if (signal.aborted || !tick.aborted) continue;
    // Who goes on after the last event gets no other one. A whole silence later nothing is on its way any more.
    const isAtEnd = await subject.isAtEnd();
    if (isAtEnd && wasAtEnd) return end(raw);
    wasAtEnd = isAtEnd;
    await send(raw, ': still here\n\n', { signal, stalledReaderMs });
    tick = beginSilence();
  }
}

function end(raw: ServerResponse): void {
  raw.write('event: end\ndata: {}\n\n');
}

/** Waits for a slow reader, but not for ever: what it has not taken lies in memory. */
async function send(
  raw: ServerResponse,
  text: string,
  { signal, stalledReaderMs }: { readonly signal: AbortSignal; readonly stalledReaderMs: number },
): Promise<void> {
  if (raw.write(text)) return;
  const stalled = AbortSignal.timeout(stalledReaderMs);
  try {
    await once(raw, 'drain', { signal: AbortSignal.any([signal, stalled]) });
  } catch (error) {
    if (!stalled.aborted && !signal.aborted) throw error;
    raw.destroy();
  }
}

async function isKeyGood({ keyHash }: FastifyRequest, { principals }: ApiContext) {
  return keyHash !== null && (await principals.find(keyHash)) !== null;
}
