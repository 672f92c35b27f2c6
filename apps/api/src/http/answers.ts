import { Readable } from 'node:stream';
import { canonicalJson, sha256Hex } from '@kervyxa/core';
import type { Answer, Call } from '@kervyxa/db';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { principalOf } from '../auth/authenticate.ts';
import { invalidRequest } from './problem.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const KEY = /^[\x21-\x7e]{1,255}$/;

/** Who asks, and under which Idempotency-Key. `input` is the body as it came. Throws API_REQUEST_INVALID. */
export function callOf(request: FastifyRequest, input: unknown): Call {
  const actorId = principalOf(request).id;
  const key = request.headers['idempotency-key'];
  if (key === undefined) return { actorId, idempotency: null };
  if (typeof key !== 'string' || !KEY.test(key)) throw invalidRequest('Idempotency-Key header');
  const inputHash = sha256Hex(`${request.method}\n${request.url}\n${canonicalJson(input ?? null)}`);
  return { actorId, idempotency: { key, inputHash } };
}

/** Makes the answer that is kept under the key. */
export type Keep = (
  status: number,
  view: object,
  /** Where the store made it again instead of keeping it. */
  options?: { readonly isRepeat: boolean },
) => Answer;

/**
 * Runs a command and sends its answer byte for byte as it is kept; says in headers if it is an earlier one, and where
 * to find what was made: `locate` has its path.
 */
export async function answerWith(
  reply: FastifyReply,
  run: (keep: Keep) => Promise<Answer>,
  locate?: (id: string) => string,
): Promise<FastifyReply> {
  const { answer, isReplay } = await runKept(run);
  if (isReplay) reply.header('idempotency-replayed', 'true');
  if (locate !== undefined) reply.header('location', locate(idIn(answer)));
  return sendJson(reply, answer.status, answer.body);
}

const MadeSchema = z.looseObject({ id: z.string().default('') });

function idIn({ body }: Answer): string {
  return MadeSchema.parse(JSON.parse(body)).id;
}

export async function runKept(
  run: (keep: Keep) => Promise<Answer>,
): Promise<{ answer: Answer; isReplay: boolean }> {
  const made = { body: '', isRepeat: false };
  const answer = await run((status, view, { isRepeat } = { isRepeat: false }) => {
    const body = JSON.stringify(view);
    Object.assign(made, { body, isRepeat });
    return { status, body };
  });
  // A transaction that was tried twice may have made an answer and then found an earlier one.
  return { answer, isReplay: made.isRepeat || answer.body !== made.body };
}

/** Sends text that is JSON already. */
export function sendJson(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).header('content-type', JSON_TYPE).serializer(asIs).send(text);
}

/** Sends what may have megabytes, and is asked for as often as somebody likes, without holding it. */
export function sendJsonAsItComes(
  reply: FastifyReply,
  chunks: AsyncIterable<Uint8Array>,
): FastifyReply {
  return reply.header('content-type', JSON_TYPE).send(Readable.from(chunks));
}

function asIs(text: unknown): string {
  return String(text);
}
