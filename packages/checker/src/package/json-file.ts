import { readContractText } from '@kervyxa/contract';
import { isAppError } from '@kervyxa/core';
import { lintFindingOf, type LintFinding } from '../contract/finding.ts';

export type JsonReading =
  { readonly document: unknown } | { readonly document?: undefined; readonly finding: LintFinding };

/** Reads a JSON file of the folder: at most 1 MiB and 64 levels, no key twice. */
export function readJsonFile(file: string, bytes: Uint8Array): JsonReading {
  try {
    return { document: readContractText(bytes, 'json').document };
  } catch (error) {
    if (!isAppError(error)) throw error;
    const { message, fix = '' } = error;
    return { finding: lintFindingOf('json_invalid', { file }, { message, fix }) };
  }
}
