import type { InputDigests, SandboxSession } from '@kervyxa/sandbox';
import { verifierError } from './errors.ts';

/**
 * Measures what the runs of a session read: before the first, while its container starts, and after the last. `run` gets
 * what each run waits for before its command is let go.
 *
 * Throws VERIFIER_INPUTS_CHANGED where it is not the same, whatever came of the runs.
 */
export async function withSameInputs<T>(
  session: SandboxSession,
  signal: AbortSignal,
  run: (measured: Promise<unknown>) => Promise<T>,
): Promise<{ readonly value: T; readonly inputs: InputDigests }> {
  const measuring = session.ready.then(() => session.measure(signal));
  // Thrown below, after whatever waited for it.
  measuring.catch(() => undefined);
  const value = await run(measuring);
  const before = await measuring;
  const inputs = await session.measure(signal);
  assertSame(before, inputs);
  return { value, inputs };
}

function assertSame(before: InputDigests, after: InputDigests): void {
  const changed = (['tree', 'package', 'dependencies'] as const).filter(
    (name) => before[name] !== after[name],
  );
  if (changed.length === 0) return;
  throw verifierError('VERIFIER_INPUTS_CHANGED', {
    message: `expected the same ${changed.join(' and ')} after the runs as before them, got other content`,
    fix: 'look for who else can write to the volumes of this engine: no run can',
  });
}
