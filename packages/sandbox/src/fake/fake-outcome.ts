import { HEAD_BYTES_MAX, StreamCapture } from '../capture.ts';
import type { OutputStream, RunOutcome, RunRequest } from '../port.ts';
import type { FakeBehaviour } from './fake-sandbox.ts';

const KILLED = 137;

/** The outcome of a scripted run, with its output passed on as the port says. */
export function toFakeOutcome(
  behaviour: FakeBehaviour,
  { onOutput }: RunRequest,
  outputBytesMax: number,
): RunOutcome {
  const captures = {
    stdout: new StreamCapture(HEAD_BYTES_MAX),
    stderr: new StreamCapture(HEAD_BYTES_MAX),
  };
  for (const stream of ['stdout', 'stderr'] satisfies OutputStream[]) {
    const bytes = Buffer.from(behaviour[stream] ?? '');
    if (bytes.length === 0) continue;
    captures[stream].push(bytes);
    onOutput?.(stream, bytes);
  }
  const timedOut = behaviour.hangs === 'until_timeout';
  const outputExceeded = captures.stdout.bytesTotal + captures.stderr.bytesTotal > outputBytesMax;
  const exitCode = timedOut || outputExceeded ? KILLED : (behaviour.exitCode ?? 0);
  return {
    exitCode,
    timedOut,
    outputExceeded,
    oomKilled: behaviour.oomKilled ?? false,
    pidsLimitHit: behaviour.pidsLimitHit ?? null,
    workspaceFull: exitCode === 0 ? null : (behaviour.workspaceFull ?? false),
    peakMemoryBytes: behaviour.peakMemoryBytes ?? null,
    durationMs: 0,
    stdout: captures.stdout.finish(),
    stderr: captures.stderr.finish(),
  };
}
