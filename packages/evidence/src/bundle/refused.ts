import { evidenceError } from '../errors.ts';

export function bundleRefused(message: string, cause?: unknown): Error {
  return evidenceError('EVIDENCE_BUNDLE_REFUSED', {
    message,
    fix: 'take the bundle from where it was made, as it is: not packed anew, and not changed on the way',
    cause,
  });
}
