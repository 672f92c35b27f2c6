import { contractError } from './errors.ts';
import { readJsonText } from './json-text.ts';
import type { ContractText } from './text-place.ts';
import { readYamlText } from './yaml-text.ts';

export const CONTRACT_BYTES_MAX = 1_048_576;

/**
 * Reads a contract file as JSON or as that part of YAML 1.2 which is JSON in other clothes: no anchors, aliases or
 * tags, one document, text keys, finite numbers.
 *
 * Throws CONTRACT_TEXT_TOO_LARGE, CONTRACT_TEXT_NOT_UTF8, CONTRACT_TEXT_SYNTAX, CONTRACT_TEXT_TOO_DEEP,
 * CONTRACT_KEY_DUPLICATED, CONTRACT_VALUE_NOT_JSON; where there is a place, `details` has `line` and `column`.
 */
export function readContractText(bytes: Uint8Array, format: 'json' | 'yaml'): ContractText {
  const text = decodeUtf8(bytes);
  return format === 'json' ? readJsonText(text) : readYamlText(text);
}

function decodeUtf8(bytes: Uint8Array): string {
  if (bytes.length > CONTRACT_BYTES_MAX) {
    throw contractError('CONTRACT_TEXT_TOO_LARGE', {
      message: `expected a contract of at most ${CONTRACT_BYTES_MAX} bytes, got ${bytes.length}`,
      fix: 'Move data into the repository or the hidden package; a contract only names it.',
    });
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw contractError('CONTRACT_TEXT_NOT_UTF8', {
      message: 'expected UTF-8 text, got bytes that are none',
      fix: 'Save the file as UTF-8.',
      cause,
    });
  }
}
