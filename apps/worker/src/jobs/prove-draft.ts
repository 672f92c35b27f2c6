import { escapeJson } from '@kervyxa/core';
import { FINDING_CODES, type Contract, type Finding } from '@kervyxa/contract';
import {
  proveContract,
  type ProvingEvent,
  type ProvingFinding,
  type ProvingReport,
} from '@kervyxa/verifier';
import { z } from 'zod';
import { toImageReference } from '../images.ts';
import { loadCheckers } from './contract-checkers.ts';
import type { JobDeps } from './job.ts';
import { FixturesTooSlow } from './reproduce.ts';
import { loadBundle, loadPackage } from './sources.ts';

/** The draft was edited or cancelled, or another worker has its approval. */
export class NobodyAsks extends Error {
  override readonly name = 'NobodyAsks';
}

/** Its message is for the requester. */
export class ProvingTooLong extends Error {
  override readonly name = 'ProvingTooLong';
}

export interface ProvedDraft {
  readonly isProved: boolean;
  readonly findings: readonly Finding[];
  /** Digest of the report. */
  readonly provingBlob: string;
}

/** A report has a diff of 64 KiB at most for each of a few hundred columns. */
const REPORT_BYTES_MAX = 64 * 1_048_576;
const MINUTE_MS = 60_000;

/**
 * Proves a draft in containers and keeps the report, telling the requester how far it is. It runs beside the
 * verifications of this worker, through the same gate.
 *
 * Throws NobodyAsks, ProvingTooLong, what `proveContract` throws, and the signal's reason after an abort.
 */
export async function proveDraft(
  deps: JobDeps,
  task: { readonly contract: Parameters<typeof loadBundle>[2]; readonly attempt: number },
  { contract, digest }: { readonly contract: Contract; readonly digest: string },
  signal: AbortSignal,
): Promise<ProvedDraft> {
  const { proving, runtimes } = deps;
  const { image } = contract.environment;
  const leave = new AbortController();
  const timer = setTimeout(
    () => leave.abort(tooLong(proving.durationMsMax)),
    proving.durationMsMax,
  );
  const progress = createProgress(
    deps,
    { contractId: task.contract.id, attempt: task.attempt },
    () => leave.abort(new NobodyAsks('the draft is approved elsewhere, or not at all')),
  );
  try {
    const report = await proveContract(
      { ...deps, runtimes: new Map([...runtimes, [image, toImageReference(image, runtimes)]]) },
      {
        contract,
        contractDigest: digest,
        verifierPackage: await loadPackage(deps, contract),
        dependencies: await loadBundle(deps, contract, task.contract),
        checkers: await loadCheckers(deps, contract, task.contract, signal),
        replays: proving.replays,
      },
      { signal: AbortSignal.any([signal, leave.signal]), onEvent: progress.onEvent },
    );
    return await keepReport(deps, report);
  } catch (error) {
    // Whatever it broke off: how it fell apart then is not the reason.
    signal.throwIfAborted();
    leave.signal.throwIfAborted();
    if (error instanceof Error && error.cause instanceof FixturesTooSlow) {
      throw new ProvingTooLong(`${error.cause.message}; have fewer fixtures, or quicker ones`);
    }
    throw error;
  } finally {
    clearTimeout(timer);
    await progress.close();
  }
}

function tooLong(durationMs: number): Error {
  return new ProvingTooLong(
    `expected proving to end within ${Math.round(durationMs / MINUTE_MS)} minutes, got no end; ` +
      'have the criteria take less time, or name fewer commits in proof',
  );
}

async function keepReport({ database }: JobDeps, report: ProvingReport): Promise<ProvedDraft> {
  const bytes = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from(escapeJson(JSON.stringify(report)));
  };
  const { sha256 } = await database.work.saveBlob(bytes(), { bytesMax: REPORT_BYTES_MAX });
  return {
    isProved: report.isProved,
    findings: report.findings.map(toFinding),
    provingBlob: sha256,
  };
}

const CodeSchema = z.enum(FINDING_CODES);

function toFinding({ code, evidence, ...finding }: ProvingFinding): Finding {
  return {
    ...finding,
    code: CodeSchema.parse(code),
    ...(evidence !== undefined && { evidence }),
  };
}

/**
 * Tells the requester each column and replay that begins or ends, in order. What can't be told is dropped; that nobody
 * asks any more is told to the caller.
 */
function createProgress(
  { database, log }: JobDeps,
  { contractId, attempt }: { readonly contractId: string; readonly attempt: number },
  onNobody: () => void,
): { onEvent(event: ProvingEvent): void; close(): Promise<void> } {
  let telling: Promise<void> = Promise.resolve();
  const tell = async (progress: Readonly<Record<string, unknown>>): Promise<void> => {
    try {
      if (!(await database.work.addApprovalProgress(contractId, attempt, progress))) onNobody();
    } catch (error) {
      log.warn({ contractId, err: error }, 'the progress of an approval was not told');
    }
  };
  return {
    onEvent: (event) => {
      if (event.kind === 'column_finished') return;
      const { kind, done, total } = event;
      const step = kind === 'replay_finished' ? 'replays' : 'columns';
      const title = kind === 'column_started' ? event.title : null;
      telling = telling.then(() => tell({ step, done, total, title }));
    },
    close: () => telling,
  };
}
