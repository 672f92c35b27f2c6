import { withinReach } from './reach.ts';
import { isJsonObject } from './schema-parts.ts';

type Path = readonly PropertyKey[];

export interface DraftSlot {
  readonly path: Path;
  readonly key: string | null;
  readonly required: boolean;
  readonly sealed: boolean;
  readonly bytesMax: number | null;
}

export interface DraftStage {
  readonly path: Path;
  readonly key: string | null;
  readonly kind: string | null;
  /** Null: left out, or no list; an element that is no text is null. */
  readonly slots: readonly (string | null)[] | null;
  /** The stage's own. */
  readonly resultKind: string | null;
  readonly implementation: string | null;
  readonly protocol: string | null;
  /** As far as the stage says so itself. */
  readonly memoryMb: number | null;
  readonly diskMb: number | null;
}

/** A file of a fixture: an artifact in a role, or what is bound to a slot. */
export interface DraftFile {
  readonly path: Path;
  readonly slot: string | null;
  readonly role: string | null;
  readonly filename: string | null;
  readonly contentHash: unknown;
  readonly sizeBytes: unknown;
}

export interface DraftFixture {
  readonly path: Path;
  readonly key: string | null;
  readonly stageKey: string | null;
  readonly expectedResult: string | null;
  /** Undefined: neither a number nor nothing. */
  readonly expectedScore: number | null | undefined;
  readonly summaryText: string | null;
  /** Null: no object, so nothing can be said. */
  readonly boundSlots: readonly string[] | null;
  readonly files: readonly DraftFile[];
}

/**
 * What can be read of a contract that may be wrong in any place, so that one mistake hides no other. A value of the
 * wrong type is null here; the schema's own finding tells about it.
 */
export interface ContractDraft {
  readonly resultKind: string | null;
  /** Undefined: neither an object nor nothing. */
  readonly hasScore: boolean | undefined;
  readonly slots: readonly DraftSlot[];
  readonly stages: readonly DraftStage[];
  readonly roles: readonly { readonly path: Path; readonly key: string | null }[];
  readonly acceptsText: boolean | null;
  readonly answerFormat: string | null;
  readonly fixtures: readonly DraftFixture[];
}

export function readContractDraft(whole: unknown): ContractDraft {
  const document = withinReach(whole);
  const requirements = field(document, 'submission_requirements');
  const score = field(document, 'score') ?? null;
  const accepts = field(requirements, 'accepts_text_only');
  return {
    resultKind: textIn(document, 'result_kind'),
    hasScore: score === null ? false : isJsonObject(score) ? true : undefined,
    slots: elementsOf(document, ['reference_inputs']).map(({ value, path }) => ({
      path,
      key: textIn(value, 'key'),
      required: field(value, 'required') === true,
      sealed: field(value, 'sealed') === true,
      bytesMax: numberIn(value, 'max_bytes'),
    })),
    stages: elementsOf(document, ['stages']).map(readStage),
    roles: elementsOf(document, ['submission_requirements', 'required_artifacts']).map(
      ({ value, path }) => ({ path, key: textIn(value, 'role') }),
    ),
    acceptsText: typeof accepts === 'boolean' ? accepts : null,
    answerFormat: textIn(requirements, 'answer_format_md'),
    fixtures: elementsOf(document, ['conformance_fixtures']).map(readFixture),
  };
}

function readStage({ value, path }: Element): DraftStage {
  const slots = field(value, 'reference_input_slots');
  const limits = field(value, 'limits');
  return {
    path,
    key: textIn(value, 'key'),
    kind: textIn(value, 'kind'),
    slots: Array.isArray(slots) ? slots.map(toText) : null,
    resultKind: textIn(value, 'result_kind'),
    implementation: textIn(value, 'implementation'),
    protocol: textIn(value, 'review_protocol_id'),
    memoryMb: numberIn(limits, 'memory_mb'),
    diskMb: numberIn(limits, 'disk_mb'),
  };
}

function readFixture({ value, path }: Element): DraftFixture {
  const inputs = field(value, 'inputs');
  const reference = field(inputs, 'reference');
  const bound = isJsonObject(reference) ? Object.entries(reference) : [];
  const score = field(value, 'expected_score') ?? null;
  return {
    path,
    key: textIn(value, 'key'),
    stageKey: textIn(value, 'stage_key'),
    expectedResult: textIn(value, 'expected_result'),
    expectedScore: score === null || typeof score === 'number' ? score : undefined,
    summaryText: textIn(inputs, 'summary_text'),
    boundSlots: isJsonObject(reference) ? Object.keys(reference) : null,
    files: [
      ...bound.map(([slot, file]) =>
        readFile({ value: file, path: [...path, 'inputs', 'reference', slot] }, slot),
      ),
      ...elementsOf(value, ['inputs', 'artifacts']).map((each) =>
        readFile({ value: each.value, path: [...path, ...each.path] }, null),
      ),
    ],
  };
}

function readFile({ value, path }: Element, slot: string | null): DraftFile {
  return {
    path,
    slot,
    role: slot === null ? textIn(value, 'role') : null,
    filename: textIn(value, 'filename'),
    contentHash: field(value, 'content_hash'),
    sizeBytes: field(value, 'size_bytes'),
  };
}

interface Element {
  readonly value: unknown;
  readonly path: Path;
}

function elementsOf(document: unknown, path: readonly string[]): Element[] {
  const list = path.reduce<unknown>(field, document);
  if (!Array.isArray(list)) return [];
  return list.map((value: unknown, index) => ({ value, path: [...path, index] }));
}

/** Own properties only, so that nothing is read off a prototype. */
function field(owner: unknown, key: string): unknown {
  return isJsonObject(owner) && Object.hasOwn(owner, key) ? owner[key] : undefined;
}

function textIn(owner: unknown, key: string): string | null {
  return toText(field(owner, key));
}

function numberIn(owner: unknown, key: string): number | null {
  const value = field(owner, key);
  return typeof value === 'number' ? value : null;
}

function toText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
