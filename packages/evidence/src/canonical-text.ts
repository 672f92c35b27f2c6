import { canonicalJson } from '@kervyxa/core';

/**
 * The value of an RFC 8785 text in UTF-8, the one text of its value; undefined for any other bytes, a text with a name
 * twice or a mark in front included.
 */
export function parseCanonical(bytes: Uint8Array): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    return canonicalJson(value) === text ? value : undefined;
  } catch {
    // No text, no JSON, or a value that has no such form: half a character, or a nest that is too deep to be written.
    return undefined;
  }
}
