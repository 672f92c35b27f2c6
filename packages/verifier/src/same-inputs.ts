import type { InputDigests, SandboxSession } from '@kervyxa/sandbox';
import { verifierError } from './errors.ts';

/**
 * Measures what the runs of a session read: before the first, while its container starts, and after the last. `run` gets
 * what each set-up and run waits for before its command is let go.
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

/** Null where nothing was measured. Throws VERIFIER_INPUTS_CHANGED. */
export function assertSame(before: InputDigests | null, after: InputDigests | null): void {
  if (before === null || after === null) return;
  const changed = (['tree', 'package', 'dependencies'] as const).filter(
    (name) => before[name] !== after[name],
  );
  if (changed.length === 0) return;
  throw verifierError('VERIFIER_INPUTS_CHANGED', {
    message: `expected the same ${changed.join(' and ')} at every measurement, got other content`,
    fix: 'look for who else can write to the volumes of this engine: no run can',
  });
}
