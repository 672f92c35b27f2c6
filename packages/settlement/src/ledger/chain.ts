import { canonicalJson, isAppError, sha256Hex } from '@kervyxa/core';
import { assertTransfer } from './check-transfer.ts';
import type { PlannedTransfer, RecordedTransfer } from './transfer.ts';

const INPUT_VERSION = 'kervyxa.transfer-input.v1';
const LINK_VERSION = 'kervyxa.transfer.v1';

/** The last link of a chain. */
export interface ChainHead {
  readonly seq: bigint;
  readonly hash: string;
}

/** The head of a ledger in which nothing is recorded yet. */
export const CHAIN_START: ChainHead = { seq: 0n, hash: '0'.repeat(64) };

/** What is recorded for a key, in a fixed order of fields; 64 hex digits. */
export function inputHashOf(transfer: PlannedTransfer): string {
  const { kind, idempotencyKey, currency, postings } = transfer;
  return sha256Hex(
    canonicalJson([INPUT_VERSION, kind, idempotencyKey, currency, toList(postings)]),
  );
}

/** The transfer as the next link. Throws SETTLEMENT_TRANSFER_INVALID. */
export function linkTransfer(
  head: ChainHead,
  planned: PlannedTransfer,
  { id, recordedAt }: { readonly id: string; readonly recordedAt: Date },
): RecordedTransfer {
  assertTransfer(planned);
  const link = {
    ...planned,
    id,
    seq: head.seq + 1n,
    inputHash: inputHashOf(planned),
    prevHash: head.hash,
    recordedAt,
  };
  return { ...link, hash: hashOf(link) };
}

/**
 * Walks transfers in order of `seq`, beginning after `head`. The first problem in words, or null and the new head: so
 * a long chain can be walked page by page.
 */
export function checkChain(
  transfers: Iterable<RecordedTransfer>,
  head: ChainHead = CHAIN_START,
): { readonly problem: string | null; readonly head: ChainHead } {
  let last = head;
  for (const transfer of transfers) {
    const problem = problemOf(transfer, last);
    if (problem !== null) return { problem: `transfer ${transfer.id}: ${problem}`, head: last };
    last = { seq: transfer.seq, hash: transfer.hash };
  }
  return { problem: null, head: last };
}

function problemOf(transfer: RecordedTransfer, last: ChainHead): string | null {
  if (transfer.seq !== last.seq + 1n)
    return `expected number ${last.seq + 1n}, got ${transfer.seq}`;
  if (transfer.prevHash !== last.hash) return 'does not follow from the transfer before it';
  if (transfer.inputHash !== inputHashOf(transfer)) return 'its postings were changed';
  if (transfer.hash !== hashOf(transfer)) return 'its record was changed';
  try {
    assertTransfer(transfer);
    return null;
  } catch (error) {
    if (isAppError(error)) return error.message;
    throw error;
  }
}

/** Money as text: JSON numbers don't hold 63 bits. */
function toList(postings: PlannedTransfer['postings']): string[][] {
  return postings.map(({ source, destination, amountMinor }) => [
    source,
    destination,
    String(amountMinor),
  ]);
}

function hashOf(link: Omit<RecordedTransfer, 'hash'>): string {
  const { id, seq, inputHash, prevHash, recordedAt } = link;
  return sha256Hex(
    canonicalJson([LINK_VERSION, String(seq), id, inputHash, prevHash, recordedAt.toISOString()]),
  );
}
