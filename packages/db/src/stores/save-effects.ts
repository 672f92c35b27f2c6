import type { IdSource } from '@kervyxa/core';
import type { ContractCase, Effect } from '@kervyxa/settlement';
import type { SendJob } from '../queue/send.ts';
import { addEvents, toNewEvent } from './add-events.ts';
import type { Transaction } from './in-transaction.ts';
import { recordTransfer } from './record-transfer.ts';
import { runChange, type Sql } from './sql.ts';

/** Records the transfers; answers the one that funded or resolved the escrow, or null. */
export async function moveMoney(
  sql: Sql,
  newId: IdSource,
  effects: readonly Effect[],
  { contractId, now }: { readonly contractId: string; readonly now: Date },
): Promise<string | null> {
  let resolutionId: string | null = null;
  for (const effect of effects) {
    if (effect.kind !== 'transfer') continue;
    const { transfer } = effect;
    const id = await recordTransfer(sql, transfer, { id: newId('transfer'), contractId, now });
    if (transfer.kind === 'escrow_funded') await saveEscrow(sql, { contractId, id, now });
    if (transfer.kind === 'payout' || transfer.kind === 'escrow_refunded') resolutionId = id;
  }
  return resolutionId;
}

export interface EffectFacts {
  readonly next: ContractCase;
  readonly effects: readonly Effect[];
  readonly actorId: string | null;
  readonly resolutionId: string | null;
  readonly now: Date;
}

/** Everything that was decided besides money and states, in its order. */
export async function saveEffects(
  transaction: Transaction,
  sendJob: SendJob,
  facts: EffectFacts,
): Promise<void> {
  const { sql, queues, streams } = transaction;
  const { next, effects, actorId, resolutionId, now } = facts;
  const contractId = next.contract.id;
  const events = [];
  for (const effect of effects) {
    switch (effect.kind) {
      case 'transfer':
        break;
      case 'enqueue_run': {
        const { runId, delayMs } = effect;
        const run = next.runs.find(({ id }) => id === runId);
        const solverId = solverOf(next, run?.submissionId ?? '');
        await sendJob(sql, 'verify', runId, { contractId, solverId, delayMs });
        queues.add('verify');
        break;
      }
      case 'enqueue_capture': {
        const solverId = solverOf(next, effect.submissionId);
        await sendJob(sql, 'capture', effect.submissionId, { contractId, solverId, delayMs: 0 });
        queues.add('capture');
        break;
      }
      case 'escrow_resolved':
        await runChange(
          sql,
          `INSERT INTO escrow_resolutions (contract_id, resolution, transfer_id, at)
           VALUES ($1, $2, $3, $4)`,
          [contractId, effect.resolution, resolutionId, now],
        );
        break;
      case 'payout_due':
        await savePayout(sql, contractId, effect, now);
        break;
      case 'event': {
        const event = toNewEvent(effect, contractId, actorId);
        events.push(event);
        streams.add(contractId);
        if (event.runId !== null) streams.add(event.runId);
        break;
      }
    }
  }
  await addEvents(sql, events);
}

async function saveEscrow(
  sql: Sql,
  { contractId, id, now }: { readonly contractId: string; readonly id: string; readonly now: Date },
): Promise<void> {
  await runChange(
    sql,
    `INSERT INTO escrows (contract_id, amount_minor, currency, transfer_id, funded_at)
     SELECT id, reward_minor, currency, $2, $3 FROM contracts WHERE id = $1`,
    [contractId, id, now],
  );
}

async function savePayout(
  sql: Sql,
  contractId: string,
  payout: Extract<Effect, { kind: 'payout_due' }>,
  now: Date,
): Promise<void> {
  const { payoutId, submissionId, solverId, amountMinor, currency } = payout;
  await runChange(
    sql,
    `INSERT INTO payouts (id, contract_id, submission_id, solver_id, amount_minor, currency, next_try_at, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $7)`,
    [payoutId, contractId, submissionId, solverId, amountMinor, currency, now],
  );
}

function solverOf({ submissions }: ContractCase, submissionId: string): string {
  const found = submissions.find(({ id }) => id === submissionId);
  if (found === undefined) throw new Error(`expected submission ${submissionId} in the case`);
  return found.solverId;
}
