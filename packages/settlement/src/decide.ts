import type { ContractCase } from './case.ts';
import type { Command } from './command.ts';
import { capture, refuseCapture, submit, tryCapture } from './commands/capture.ts';
import { challenge } from './commands/challenge.ts';
import { cancel, fund, prove, revise } from './commands/contract.ts';
import { resolve } from './commands/resolve.ts';
import { retry } from './commands/retry.ts';
import { fail, release, seal, start } from './commands/run.ts';
import type { Decision } from './decision.ts';
import { closeDraft, type DecideContext, type Draft, openDraft, type Refusal } from './draft.ts';
import { advanceCase } from './due.ts';
import { commitLine } from './line.ts';

/**
 * Decides what a command does to a contract and its money, and does nothing itself.
 *
 * 1. Open a draft of the case: nothing that was given changes.
 * 2. Do what the command asks, or refuse it, and then nothing changes at all.
 * 3. Commit the verdicts that this lets through, in order of receipt.
 *
 * Throws SETTLEMENT_TRANSITION_ILLEGAL and SETTLEMENT_CASE_INCONSISTENT, which are defects.
 */
export function decide(held: ContractCase, command: Command, context: DecideContext): Decision {
  const draft = openDraft(held, context);
  const refusal = doCommand(draft, command);
  if (refusal !== null) return { kind: 'refused', error: refusal };
  commitLine(draft);
  return { kind: 'accepted', next: closeDraft(draft), effects: draft.effects };
}

function doCommand(draft: Draft, command: Command): Refusal {
  switch (command.kind) {
    case 'prove':
      return prove(draft);
    case 'revise':
      return revise(draft);
    case 'fund':
      return fund(draft);
    case 'cancel':
      return cancel(draft);
    case 'submit':
      return submit(draft, command);
    case 'try_capture':
      return tryCapture(draft, command);
    case 'capture':
      return capture(draft, command);
    case 'refuse_capture':
      return refuseCapture(draft, command);
    case 'start':
      return start(draft, command);
    case 'seal':
      return seal(draft, command);
    case 'fail':
      return fail(draft, command);
    case 'release':
      return release(draft, command);
    case 'retry':
      return retry(draft, command);
    case 'challenge':
      return challenge(draft, command);
    case 'resolve':
      return resolve(draft, command);
    case 'advance':
      advanceCase(draft);
      return null;
  }
}
