import { toPrintable } from '@kervyxa/core';

import type { Draft, DraftText } from './draft.ts';
import { findingOf } from './finding-table.ts';
import type { Finding } from './finding.ts';
import { shellCalls } from './shell-walk.ts';

// A version that moves. "Latest" alone may be honest ("the latest entry wins"): it needs a noun that moves.
const MOVING_VERSION = String.raw`\b(latest|newest|most recent|recent|up-to-date)\s+(available\s+|stable\s+|minor\s+|major\s+|patch\s+|published\s+|supported\s+)*(versions?|releases?|tags?|lts|commits?|main|master|snapshots?|dependenc(y|ies)|packages?)\b`;
// Versions may be what a program is about ("returns the latest version of the list"): there, it must be one to be had.
const RELIED_ON = String.raw`\b(us(e|es|ed|ing)|(upgrad|updat|bump|migrat|mov|install|requir|depend|run|work|support|compatib|against|rebas|buil[dt]|target|port|pass)\w*)\b(?:[^.;"]|\.\d){0,60}`;
const FLOATING_PROSE = [
  new RegExp(RELIED_ON + MOVING_VERSION, 'i'),
  // To the latest what? "Moves the cursor to the latest entry" is no upgrade; "to the latest React" is.
  /\b([Uu]pgrad|[Uu]pdat|[Bb]ump|[Mm]ov|[Mm]igrat|[Pp]ort|[Ww]ork|[Rr]un)\w*\b(?:[^.;]|\.\d){0,80}\b(to|on|with)\s+((the|its|their)\s+)?(latest|newest)(?=\s*$|\s*[.,;)]|\s+of\b|\s+[A-Z])/,
  /\bupstream('s)?\s+(main|master|head|trunk|branch)\b/i,
  /\b(dependenc(y|ies)|packages?|versions?|lockfiles?)\b[^.;]{0,40}\bup[ -]to[ -]date\b/i,
  /\bwhatever (version|release)\b/i,
  /\b(head|tip) of (the )?(main|master|trunk|default)\b/i,
];
const FLOATING_BUMP = [
  new RegExp(MOVING_VERSION, 'i'),
  /\b(latest|newest)\b/i,
  /\b(upgrad|updat|bump)\w*\s+((all|our|every|any|outdated)\s+)+(of\s+)?((the|our)\s+)?(dependenc(y|ies)|packages?|librar(y|ies))\b/i,
];
// As an order to the solver, not as what a program does.
const UPGRADE_OF_ALL =
  /(?<=^|[.;]\s)(upgrade|update|bump)\s+((all|our|every|any|outdated|the)\s+)*(of\s+)?(dependencies|packages|libraries)\b/i;
const FLOATING_TAG =
  /(?<=[\w/.-])(@(latest|next|canary|nightly|beta|edge|stable|lts|\*|x)|:(latest|nightly|edge|canary))(?![\w.-])/i;
// `parseTag("redis:latest")` is an input of what is to be repaired.
const CALL_OF_TEXT = /\(\s*(["'`])[^"'`]{0,200}\1[^)]{0,200}\)/g;
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
  const patterns = [
    ...FLOATING_PROSE,
    FLOATING_TAG,
    FLOATING_RANGE,
    ...(isBump ? [...VERSION_RANGES, ...FLOATING_BUMP] : []),
  ];
  const findings = proseOf(draft).flatMap((place) => {
    const text = isBump ? place.text : place.text.replace(CALL_OF_TEXT, '()');
    return asFloating(place, firstAffirmed(text, patterns));
  });
  for (const place of [...draft.setup, ...draft.criteria.flatMap(({ commands }) => commands)]) {
    findings.push(...asFloating(place, floatingWordOf(place.text)));
  }
  const { objective } = draft;
  if (!isBump && objective !== null && !EXACT_VERSION.test(objective.text)) {
    findings.push(...asFloating(objective, UPGRADE_OF_ALL.exec(objective.text)?.[0] ?? null));
  }
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

/** A word of the command line that names a package or an image: `eslint@latest`, but not a text in inline code. */
function floatingWordOf(command: string): string | null {
  const words = shellCalls(command).flatMap(({ words: [program, ...args] }) =>
    program === 'echo' || program === 'printf' ? [] : args,
  );
  const named = words.filter(
    (word) => word !== null && /^@?[\w./=-]+[@:][\w.^~<>=*-]+$/.test(word),
  );
  return (
    named.find((word) => FLOATING_TAG.test(word ?? '') || FLOATING_RANGE.test(word ?? '')) ?? null
  );
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
  /\b(similar|comparable) (cases?|inputs?|entries)\b(?!\s*[:(])/i,
  /\band so (on|forth)\b(?!,? (up|down|to|until|till)\b)/i,
  /(?<![/\w."'`])etc\b(?!\/)/i,
  /\bet cetera\b/i,
  // "Group and others" are users, "10 and more entries" a number.
  /(?<!\bgroup )(?<!\d )\band (many )?(more|others)\b(?! than)/i,
  /\bamong others\b/i,
  /\b(including|includes?),? but not limited to\b/i,
  /\bwhatever\b[^.;]{0,60}\b(comes?|arrives?|turns? up|is sent|needed)\b/i,
  /\b(any|all) (other )?(future|upcoming) (inputs?|files?|documents?|invoices?|cases?)\b/i,
  // Unless it is said at once what is meant: "only if needed (a comma, a quote)".
  /\b(as|where|wherever|when|if) (needed|necessary|appropriate|applicable|reasonable|feasible|possible|you see fit)\b(?!\s*[:(]|,? (that is|i\.e\.)| (by|for)\b)/i,
  /\b(ideally|preferably)\b/i,
  /\bas (many|much|fast|small|little|good|clean) as possible\b/i,
  /\b(to be (decided|determined|defined)|tbd|tba)\b/i,
  /\b(looks?|feels?|reads?) (good|better|nice|right|clean|cleaner)\b/i,
  /\bbest[ -]effort\b/i,
  /\b(production[- ]ready|(best|good|industry) practices|clean code|user[- ]friendly|intuitive|more (readable|maintainable|robust|elegant))\b/i,
  /\b(all|any|every|the remaining|other) ((the|known|remaining|other) )?bugs?\b/i,
  /\bvarious (other )?(values|inputs|cases|formats|entries|files)\b/i,
  // What stands elsewhere, or nowhere yet.
  /\bas (discussed|agreed)\b|\b(ticket|issue) #?[a-z]*-?\d+ (says|describes|asks|wants|demands)\b/i,
  /\b(we|I)(['’]ll| will) (add|send|provide|write|decide|define)\b/,
  /\b(all|any|other|further) (the )?(edge|corner) cases\b/i,
  // Not of a quotation such as "Loading...".
  /(,\s*|\s)(\.\.\.|…)\s*($|[)\]])/,
];

// Something that a reader could look up: a name from code, a quotation or a path.
const QUOTED = /"[^"]+"|“[^”]+”|`[^`]+`|(^|[\s(])'[^']+'(?=$|[\s.,;:)])/;
const FILE = /\b[\w-]+\.[a-z]\w*\b|\b\w+\/\w*/i;
const NAMES = [QUOTED, FILE, /\b[a-z]+[A-Z]\w*|\b\w+_\w+|\b\w+\([^)]{0,200}\)/];
// Something that a reader could compare with.
const VALUES = [QUOTED, FILE, /\d/, /(^|\s)--?\w/];

// Examples of a list that stands nowhere.
const EXAMPLES_ONLY = /\b(inputs?|values?|cases?|entries)\s+(such as|like|for example)(?!\w)/i;

// What is to be extracted, without saying what it is.
const UNNAMED_FIELDS =
  /\b(important|relevant|useful|interesting|necessary|usual) (fields?|columns?|information|details|values)\b(?!\s*[:(])/i;
const KINDS_OF_FIELDS = new Set(['data_transform', 'document_extraction']);

// `log(format, ...)` takes any number of arguments: no list is cut short.
const VARIADIC = /(\w\([^()"'`]{0,200}),\s*(\.\.\.|…)\s*\)/g;

/** OPEN_ENDED_OBJECTIVE: no list that ends, or nothing at all that a machine could compare. */
export function lintOpenEnded(draft: Draft): Finding[] {
  const patterns = KINDS_OF_FIELDS.has(draft.kind ?? '')
    ? [...OPEN_ENDED, UNNAMED_FIELDS]
    : OPEN_ENDED;
  const findings = proseOf(draft).flatMap(({ text, pointer }) => {
    const found = firstMatch(text.replace(VARIADIC, '$1)'), patterns);
    if (found === null) return [];
    return [
      findingOf('OPEN_ENDED_OBJECTIVE', pointer, {
        message: `expected a closed list, got "${toPrintable(found.trim(), 100)}"`,
        fix: 'List every case, or name the frozen file that lists them: a machine checks nothing else.',
      }),
    ];
  });
  return [...findings, ...anchorFindings(draft)];
}

// How well something is to be done, and not what.
const VAGUE =
  /\b(properly|correctly|gracefully|robustly|sensibly|reliably|buggy|broken|as (expected|intended|it should))\b/i;

function anchorFindings({ objective, kind, inputs }: Draft): Finding[] {
  // Of an upgrade, FLOATING_TARGET asks for the exact version.
  if (objective === null || kind === 'dependency_bump') return [];
  const text = objective.text.replace(/\b(e\.g|i\.e|and\/or)\b/gi, '');
  const hasName = NAMES.some((anchor) => anchor.test(text));
  const hasValue = VALUES.some((anchor) => anchor.test(text));
  if (!hasName && !hasValue) {
    return [
      findingOf('OPEN_ENDED_OBJECTIVE', objective.pointer, {
        message: 'expected names, values or files, got an objective that names nothing checkable',
        fix: 'Name the function, file, command, value or count that decides.',
      }),
    ];
  }
  if (kind === 'test_creation' && !hasName) {
    return [
      findingOf('OPEN_ENDED_OBJECTIVE', objective.pointer, {
        message:
          'expected the function or file that is to be tested, got an objective that names none',
        fix: 'Name it as slug() or src/slug.js: what is covered by chance protects nothing.',
      }),
    ];
  }
  const isListed = inputs.length > 0 || FILE.test(text);
  const vague = isListed
    ? null
    : (EXAMPLES_ONLY.exec(text) ?? (hasValue ? null : VAGUE.exec(text)));
  if (vague === null) return [];
  return [
    findingOf('OPEN_ENDED_OBJECTIVE', objective.pointer, {
      message: `expected the inputs and what must come of them, got "${vague[0]}" and no list of them`,
      fix: 'Quote each input with its result, or name the frozen file that lists them.',
    }),
  ];
}

function proseOf({ title, objective, notes }: Draft): DraftText[] {
  return [title, objective, notes].filter((place) => place !== null);
}

const NEGATION =
  /\b(no|not|never|without|nor|neither|cannot|can't|don't|doesn't|mustn't|instead of|rather than)\b/i;

/** The first match in a sentence that does not deny it: "not the latest version" is no floating target. */
export function firstAffirmed(text: string, patterns: readonly RegExp[]): string | null {
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
