import { toPrintable, type Clock } from '@kervyxa/core';
import { Webhook } from 'standardwebhooks';
import type { DuePayout, PayoutRail, SendOutcome } from './rail.ts';

const TIMEOUT_MS = 10_000;
/** Of an answer: the rest is not read. */
const ANSWER_BYTES_MAX = 4_096;
const PROBLEM_LENGTH_MAX = 300;

export interface WebhookRailOptions {
  /** https, or http on loopback: the caller has checked. */
  readonly url: string;
  /** `whsec_` and base64. */
  readonly secret: string;
  readonly clock: Clock;
  readonly timeoutMs?: number;
}

/**
 * Posts a payout to the operator's own service, signed as the Standard Webhooks specification says. The message id is the
 * payout's: whoever answers late, or dies after paying, is asked again with the same id and pays once. Only 2xx is an
 * acceptance; a redirect is not followed, as the signature would go with it.
 */
export function createWebhookRail({
  url,
  secret,
  clock,
  timeoutMs = TIMEOUT_MS,
}: WebhookRailOptions): PayoutRail {
  const webhook = new Webhook(secret);
  return {
    send: async (payout) => {
      const body = toBody(payout);
      const at = clock.now();
      const headers = {
        'content-type': 'application/json',
        'webhook-id': payout.id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': webhook.sign(payout.id, at, body),
      };
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        const request = { method: 'POST', headers, body, signal, redirect: 'manual' } as const;
        return await toOutcome(await fetch(url, request));
      } catch (error) {
        if (signal.aborted) return failed(`no answer within ${timeoutMs} ms`);
        return failed(`no answer: ${sayCause(error)}`);
      }
    },
  };
}

/** The same bytes at every try. */
function toBody({ id, contractId, solverId, amountMinor, currency, createdAt }: DuePayout): string {
  return JSON.stringify({
    type: 'payout.due',
    timestamp: createdAt.toISOString(),
    data: { payoutId: id, contractId, solverId, amountMinor: String(amountMinor), currency },
  });
}

async function toOutcome(response: Response): Promise<SendOutcome> {
  if (response.ok) {
    await response.body?.cancel();
    return { kind: 'accepted' };
  }
  const text = await readStart(response.body);
  if (response.status >= 300 && response.status < 400) {
    return failed(`answered with status ${response.status}, a redirect, which is not followed`);
  }
  return failed(`answered with status ${response.status}${text === '' ? '' : `: ${text}`}`);
}

async function readStart(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the stream, and with it the connection.
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= ANSWER_BYTES_MAX) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, ANSWER_BYTES_MAX).trim();
}

function failed(problem: string): SendOutcome {
  return { kind: 'failed', problem: toPrintable(problem, PROBLEM_LENGTH_MAX) };
}

/** fetch hides what went wrong in the cause. */
function sayCause(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}
