import { toPrintable } from '@kervyxa/core';

import type { Draft, DraftText } from './draft.ts';
import { findingOf } from './finding-table.ts';
import type { Finding } from './finding.ts';

// A version that moves. "Latest" alone may be honest ("the latest entry wins"): it needs a noun that moves.
const FLOATING_PROSE = [
  /\b(latest|newest|most recent|recent|up-to-date)\s+(available\s+|stable\s+|minor\s+|major\s+|patch\s+|published\s+|supported\s+)*(versions?|releases?|tags?|lts|commits?|main|master|snapshots?|dependenc(y|ies)|packages?)\b/i,
  /\b(upgrad|updat|bump|mov|migrat)\w*\b[^.;]{0,80}\b(latest|newest)\b/i,
  /\b(dependenc(y|ies)|packages?|versions?|lockfiles?)\b[^.;]{0,40}\bup[ -]to[ -]date\b/i,
  /\bwhatever (version|release)\b/i,
  /\b(head|tip) of (the )?(main|master|trunk|default)\b/i,
];
const FLOATING_TAG =
  /(?<=[\w/.-])(@(latest|next|canary|nightly|beta|edge|stable|lts|\*|x)|:(latest|nightly|edge|canary))(?![\w.-])/i;
const FLOATING_RANGE = /(?<=[\w/-]@)([\^~]|[<>]=?)\s*v?\d/;
// Counted repeats: an objective of 20,000 digits and dots must not take seconds.
const VERSION_RANGES = [
  /(^|[\s"'`(=])[\^~]\s?v?\d/,
  /[<>]=?\s?v?\d{1,9}\.\d{1,9}\.\d/,
  /\bv?\d{1,9}(\.\d{1,9}){0,3}\.[x*](?![\w.])/i,
  /\bv?\d{1,9}(\.\d{1,9}){0,3}\s?(or|and)\s(later|newer|above|higher|up)\b/i,
  /\bat least (version )?v?\d{1,9}\.\d/i,
];
const EXACT_VERSION = /(?<![\w.^~<>=-])v?\d{1,9}\.\d{1,9}(?![\w.]{0,30}\.[x*])/;

/** FLOATING_TARGET: what must be reached is not the same tomorrow. */
export function lintFloatingTarget(draft: Draft): Finding[] {
  const isBump = draft.kind === 'dependency_bump';
  const findings = proseOf(draft).flatMap((place) => {
    const patterns = [
      ...FLOATING_PROSE,
      FLOATING_TAG,
      FLOATING_RANGE,
      ...(isBump ? [...VERSION_RANGES, /\b(latest|newest)\b/i] : []),
    ];
    return asFloating(place, firstAffirmed(place.text, patterns));
  });
  const commands = [...draft.setup, ...draft.criteria.flatMap((criterion) => criterion.commands)];
  for (const place of commands) {
    const match = FLOATING_TAG.exec(place.text) ?? FLOATING_RANGE.exec(place.text);
    findings.push(...asFloating(place, match?.[0] ?? null));
  }
  const { objective } = draft;
  if (isBump && objective !== null && !EXACT_VERSION.test(objective.text)) {
    findings.push(
      findingOf('FLOATING_TARGET', objective.pointer, {
        message: 'expected the exact version to reach, got an objective without one',
        fix: 'Name the package and the exact version: "date-fns must resolve to exactly 3.6.0".',
      }),
    );
  }
  return findings;
}

function asFloating({ pointer }: DraftText, found: string | null): Finding[] {
  if (found === null) return [];
  return [
    findingOf('FLOATING_TARGET', pointer, {
      message: `expected a target that stays the same, got "${toPrintable(found.trim(), 100)}"`,
      fix: 'Pin the exact version, tag or commit.',
    }),
  ];
}

const OPEN_ENDED = [
  /\band (other )?(similar|the like|comparable|related)\b/i,
  /\bor (similar|the like)\b/i,
  /\b(similar|comparable) (cases?|inputs?|entries)\b/i,
  /\band so (on|forth)\b/i,
  /(?<![/\w.])etc\b(?!\/)/i,
  /\bet cetera\b/i,
  /\band (many )?(more|others)\b(?! than)/i,
  /\bamong others\b/i,
  /\b(including|includes?),? but not limited to\b/i,
  /\bwhatever\b[^.;]{0,60}\b(comes?|arrives?|turns? up|is sent|needed)\b/i,
  /\b(any|all) (other )?(future|upcoming) (inputs?|files?|documents?|invoices?|cases?)\b/i,
  /\b(as|where|wherever|when|if) (needed|necessary|appropriate|applicable|reasonable|possible|you see fit)\b/i,
  /\bas (many|much|fast|small|little|good|clean) as possible\b/i,
  /\b(to be (decided|determined|defined)|tbd|tba)\b/i,
  /\b(looks?|feels?|reads?) (good|better|nice|right|clean|cleaner)\b/i,
  /\bbest[ -]effort\b/i,
  /\b(all|any|other|further) (the )?(edge|corner) cases\b/i,
  // Not of a quotation such as "Loading...".
  /(,\s*|\s)(\.\.\.|…)\s*($|[)\]])/,
];

// Something that a reader could look up or compare: a number, a quotation, a name from code, a path or an option.
const ANCHORS = [
  /\d/,
  /"[^"]+"|“[^”]+”|`[^`]+`|(^|[\s(])'[^']+'(?=$|[\s.,;:)])/,
  /\b[a-z]+[A-Z]\w*|\b\w+_\w+|\b\w+\([^)]*\)/,
  /\b[\w-]+\.[a-z]\w*\b|\b\w+\/\w*/i,
  /(^|\s)--?\w/,
];

/** OPEN_ENDED_OBJECTIVE: no list that ends, or nothing at all that a machine could compare. */
export function lintOpenEnded(draft: Draft): Finding[] {
  const findings = proseOf(draft).flatMap(({ text, pointer }) => {
    const found = firstMatch(text, OPEN_ENDED);
    if (found === null) return [];
    return [
      findingOf('OPEN_ENDED_OBJECTIVE', pointer, {
        message: `expected a closed list, got "${toPrintable(found.trim(), 100)}"`,
        fix: 'List every case, or name the frozen file that lists them: a machine checks nothing else.',
      }),
    ];
  });
  const { objective } = draft;
  if (objective !== null && !ANCHORS.some((anchor) => anchor.test(objective.text))) {
    findings.push(
      findingOf('OPEN_ENDED_OBJECTIVE', objective.pointer, {
        message: 'expected names, values or files, got an objective that names nothing checkable',
        fix: 'Name the function, file, command, value or count that decides.',
      }),
    );
  }
  return findings;
}

const API_NAMES = String.raw`openai|anthropic|gpt-?\d\S*|chatgpt|claude|gemini|bedrock|vertex ai|cohere|mistral|hugging ?face|replicate|llm`;
const HOSTED_MODELS = [
  new RegExp(String.raw`\b(hosted|remote|cloud|live)\s+(\w+[\s/-]+){0,2}(models?|llms?)\b`, 'i'),
  new RegExp(String.raw`\b(${API_NAMES})('s)?\s+(\w+\s+){0,2}(api|endpoint|service)s?\b`, 'i'),
  new RegExp(
    String.raw`\b(calls?|calling|query|querying|asks?|asking|sent to|via|through)\s+(the\s+)?(${API_NAMES})\b`,
    'i',
  ),
  /\b(downloads?|fetch(es)?|scrapes?|pulls?)\b[^.;]{0,60}\b(from the (internet|web)|from https?:)/i,
];

// Elsewhere an objective may well be about the code that talks to such a service.
const SCORING_KINDS = new Set(['model_evaluation', 'document_extraction', 'benchmark', 'custom']);

/** The objective itself asks for a network: a hosted model, a download. */
export function lintNetworkObjective({ kind, title, objective }: Draft): Finding[] {
  if (!SCORING_KINDS.has(kind ?? '')) return [];
  return [title, objective].flatMap((place) => {
    const found = place && firstAffirmed(place.text, HOSTED_MODELS);
    if (!place || found === null) return [];
    return [
      findingOf('NETWORK_REQUIRED', place.pointer, {
        message: `expected work that is judged without a network, got "${toPrintable(found.trim(), 100)}"`,
        fix: 'Score what is committed to the repository: vendor the model or the data.',
      }),
    ];
  });
}

function proseOf({ title, objective, notes }: Draft): DraftText[] {
  return [title, objective, notes].filter((place) => place !== null);
}

const NEGATION =
  /\b(no|not|never|without|nor|neither|cannot|can't|don't|doesn't|mustn't|instead of|rather than)\b/i;

/** The first match in a sentence that does not deny it: "not the latest version" is no floating target. */
function firstAffirmed(text: string, patterns: readonly RegExp[]): string | null {
  for (const sentence of text.split(/(?<=[.;!?])\s+|\n+/)) {
    for (const pattern of patterns) {
      const match = pattern.exec(sentence);
      if (match !== null && !isDenied(sentence, match.index)) return match[0];
    }
  }
  return null;
}

/** A negation only reaches what follows it closely, within its clause. */
function isDenied(sentence: string, index: number): boolean {
  const clause =
    sentence
      .slice(Math.max(0, index - 30), index)
      .split(/[,:(]/)
      .at(-1) ?? '';
  return NEGATION.test(clause) || /\bout of scope\b/i.test(sentence);
}

function firstMatch(text: string, patterns: readonly RegExp[]): string | null {
  for (const pattern of patterns) {
    const match = pattern.exec(text);
    if (match !== null) return match[0];
  }
  return null;
}
