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
  } catch (error) {
    // Nested too deep to be written again, or no text at all.
    if (error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError) {
      return undefined;
    }
    throw error;
  }
}
