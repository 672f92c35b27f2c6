import { checkerError } from '../errors.ts';
import type { ContractTerms, SandboxStage } from '../contract/schema.ts';
import { slotsOfStage } from '../contract/terms.ts';
import type { InputFile } from '../package/checker-package.ts';

/**
 * What of the bound reference inputs a stage sees, in the contract's order.
 *
 * Throws CHECKER_REFERENCE_MISSING, CHECKER_REFERENCE_TOO_LARGE: faults of whoever bound them, never of who submits.
 */
export function selectReference(
  terms: ContractTerms,
  stage: SandboxStage,
  bound: ReadonlyMap<string, InputFile>,
): ReadonlyMap<string, InputFile> {
  const selected = new Set(slotsOfStage(terms, stage));
  const seen = new Map<string, InputFile>();
  for (const { key, required, max_bytes: bytesMax } of terms.reference_inputs) {
    if (!selected.has(key)) continue;
    const file = bound.get(key);
    if (file === undefined) {
      if (!required) continue;
      throw checkerError('CHECKER_REFERENCE_MISSING', {
        message: `expected a file bound to the reference slot ${key}, which stage ${stage.key} reads, got none`,
        fix: `Put the file into reference/ under the name ${key} and an extension; a link is not laid out for programs.`,
      });
    }
    if (file.content.length > bytesMax) {
      throw checkerError('CHECKER_REFERENCE_TOO_LARGE', {
        message: `expected at most ${bytesMax} bytes in the reference slot ${key}, got ${file.content.length}`,
        fix: 'Bind a smaller file, or publish a contract whose slot allows more (max_bytes).',
      });
    }
    seen.set(key, file);
  }
  return seen;
}
