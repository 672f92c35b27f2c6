import { StringDecoder } from 'node:string_decoder';
import type { Contract } from '@kervyxa/contract';
import { toPrintable } from '@kervyxa/core';
import type { Audience, Database } from '@kervyxa/db';
import type { VerificationEvent } from '@kervyxa/verifier';
import type { Log } from '../scheduler/nudge.ts';
import type { Beats } from './beats.ts';

/** How much of one step's output watchers see while it runs; the log has more. */
export const LIVE_BYTES_MAX = 262_144;

export interface EventfulRun {
  readonly runId: string;
  readonly attempt: number;
  readonly contract: Contract;
  readonly beats: Pick<Beats, 'waitMs'>;
}

type RunEvent = Parameters<Database['work']['addRunEvents']>[1][number];

export interface RunEvents {
  onEvent(event: VerificationEvent): void;
  /** Resolves when all of it is written, or given up. */
  close(): Promise<void>;
}

/** What one stream of one try of a step has said. */
interface Output {
  readonly decoder: StringDecoder;
  readonly facts: { readonly stepId: string; readonly try: number; readonly stream: string };
  bytes: number;
  /** Not written yet; null where it has no place in the batch that waits. */
  text: string | null;
}

/**
 * Tells watchers what happens in a run, a batch at a time, in order; what a stream says meanwhile is one event. The
 * public sees none of it before the run is decided; of hidden criteria even the solver sees nothing here, and nobody
 * their output. What can't be written is dropped: watching is a comfort, and must not hold up a verdict.
 */
export function createRunEvents(
  { work }: Pick<Database, 'work'>,
  { runId, attempt, contract, beats }: EventfulRun,
  log: Log,
): RunEvents {
  const isTold = createIsTold(contract);
  const outputs = new Map<string, Output>();
  let waiting: (() => RunEvent)[] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  const flush = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const batch = waiting.map((toEvent) => toEvent());
    waiting = [];
    if (batch.length === 0) return;
    writing = writing
      .then(() => work.addRunEvents(runId, batch))
      .catch((error: unknown) => log.warn({ runId, err: error }, 'events of a run were lost'));
  };
  const add = (toEvent: () => RunEvent): void => {
    waiting.push(toEvent);
    timer ??= setTimeout(flush, beats.waitMs());
  };
  const addStep = (name: string, stepId: string, facts: RunEvent['data']): void => {
    const audience: Audience = isTold(stepId) ? 'PARTIES' : 'OWNER';
    add(() => ({ name, audience, data: { attempt, stepId, ...facts } }));
  };
  const takeText = (output: Output): string => {
    const text = output.text ?? '';
    output.text = null;
    return text;
  };
  const addOutput = (event: Extract<VerificationEvent, { kind: 'output' }>): void => {
    const { stepId, attempt: stepTry, stream, chunk } = event;
    if (!isTold(stepId, stepTry)) return;
    const key = `${stepId} ${stepTry} ${stream}`;
    const output = outputs.get(key) ?? {
      decoder: new StringDecoder('utf8'),
      facts: { stepId, try: stepTry, stream },
      bytes: 0,
      text: null,
    };
    outputs.set(key, output);
    const room = Math.max(0, LIVE_BYTES_MAX - output.bytes);
    output.bytes += chunk.length;
    // PostgreSQL's JSON can't hold a NUL.
    const text = output.decoder
      .write(Buffer.from(chunk.subarray(0, room)))
      .replaceAll('\0', '\ufffd');
    if (text === '') return;
    if (output.text === null) {
      add(() => ({
        name: 'run_output',
        audience: 'PARTIES',
        data: { attempt, ...output.facts, text: takeText(output) },
      }));
    }
    output.text = (output.text ?? '') + text;
  };

  return {
    onEvent: (event) => {
      if (event.kind === 'output') return addOutput(event);
      const { id, kind, title } = event.step;
      if (event.kind === 'step_started') return addStep('run_step_started', id, { kind, title });
      const { status, reason } = event;
      const message = event.message === null ? null : toPrintable(event.message);
      const durationMs = Math.round(event.durationMs);
      return addStep('run_step_finished', id, { kind, status, reason, message, durationMs });
    },
    close: async () => {
      flush();
      await writing;
    },
  };
}

const STEPS_OF_OURS: readonly string[] = ['fetch', 'policy', 'image', 'workspace'];

/** Whether the solver may hear of a step, or of one of its tries. What is not known to be open is not told. */
function createIsTold({ criteria }: Contract): (stepId: string, stepTry?: number) => boolean {
  const isHiding = criteria.some(({ visibility }) => visibility === 'hidden');
  const open = new Set(
    criteria
      .filter(({ visibility }) => visibility === 'public')
      .map(({ id }) => `criterion:${id}`)
      .concat(STEPS_OF_OURS),
  );
  return (stepId, stepTry = 1) => {
    // Set-up is done again for what was late, which may be a hidden criterion.
    if (stepId.startsWith('setup:')) return stepTry === 1 || !isHiding;
    return open.has(stepId);
  };
}
