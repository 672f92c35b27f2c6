import { toPrintable } from '@kervyxa/core';
import type { Requirements } from '../contract/schema.ts';
import type { CheckSubmission } from './stage-end.ts';

/** As many as a fixture's text may have, so that conformance has seen the longest. */
const TEXT_CHARACTERS_MAX = 10_000;

/** Why a submission can't be put before a contract's programs, in one printable sentence; null where it can. */
export function unmetRequirement(
  requirements: Requirements,
  submission: CheckSubmission,
): string | null {
  return unmetByArtifacts(requirements, submission) ?? unmetByText(requirements, submission);
}

/** A contract that takes no text is shown none, as in its fixtures. */
export function textOfSubmission(
  { accepts_text_only: takesText }: Requirements,
  { summaryText }: CheckSubmission,
): string | null {
  return takesText && hasText(summaryText) ? summaryText : null;
}

function unmetByArtifacts(
  requirements: Requirements,
  { artifacts, summaryText }: CheckSubmission,
): string | null {
  const { required_artifacts: required, accepts_text_only: takesText } = requirements;
  const known = new Map(required.map((each) => [each.role, each]));
  const filled = new Set<string>();
  for (const { role, content, mediaType } of artifacts) {
    const wanted = known.get(role);
    if (wanted === undefined) {
      return `expected artifacts in the roles ${listOf([...known.keys()])}, got one in the role ${quote(role)}`;
    }
    if (filled.has(role)) return `expected one artifact in the role ${role}, got two`;
    filled.add(role);
    if (content.length > wanted.max_bytes) {
      return `expected at most ${wanted.max_bytes} bytes in the role ${role}, got ${content.length}`;
    }
    if (!isAccepted(wanted.media_types, mediaType)) {
      return `expected ${listOf(wanted.media_types)} in the role ${role}, got ${quote(mediaType ?? '')}`;
    }
  }
  // The text alone may be the answer.
  if (takesText && artifacts.length === 0 && hasText(summaryText)) return null;
  const missing = required.filter(({ role }) => !filled.has(role)).map(({ role }) => role);
  if (missing.length === 0) return null;
  const orText = takesText ? ', or an answer in words' : '';
  return `expected artifacts in the roles ${listOf([...known.keys()])}${orText}, got none in ${listOf(missing)}`;
}

function unmetByText(
  { required_artifacts: required, accepts_text_only: takesText }: Requirements,
  { summaryText }: CheckSubmission,
): string | null {
  if (!takesText) return null;
  if (required.length === 0 && !hasText(summaryText)) {
    return 'expected an answer in words, got none';
  }
  const isLong = summaryText !== null && lengthOf(summaryText) > TEXT_CHARACTERS_MAX;
  return isLong
    ? `expected an answer of at most ${TEXT_CHARACTERS_MAX} characters, got more`
    : null;
}

/** A type that nobody declared is not held against anybody: programs look at the content. */
function isAccepted(accepted: readonly string[], declared: string | null): boolean {
  if (accepted.length === 0 || declared === null) return true;
  return accepted.map(essenceOf).includes(essenceOf(declared));
}

/** `text/plain` of `Text/Plain; charset=utf-8`. */
function essenceOf(mediaType: string): string {
  return (mediaType.split(';')[0] ?? '').trim().toLowerCase();
}

/** In characters; counts no further than is needed, and two units are the most that one takes. */
function lengthOf(text: string): number {
  return Array.from(text.slice(0, 2 * TEXT_CHARACTERS_MAX + 2)).length;
}

function hasText(text: string | null): text is string {
  return text !== null && text.trim() !== '';
}

function listOf(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.map((name) => toPrintable(name, 120)).join(', ');
}

function quote(name: string): string {
  return `"${toPrintable(name, 120)}"`;
}
