import { toPrintable } from '@kervyxa/core';
import { readContractDraft, type ContractDraft, type DraftStage } from './draft.ts';
import { fixtureBreaches } from './rules-fixtures.ts';
import { textBreaches } from './rules-text.ts';
import type { LintCode } from './lint-table.ts';

/** A rule between fields that a contract breaks. */
export interface RuleBreach {
  readonly code: LintCode;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly fix: string;
}

/** What the schema of each field can't say, of a document that may be wrong in any place. All that is broken, in order. */
export function ruleBreaches(document: unknown): RuleBreach[] {
  const draft = readContractDraft(document);
  return [
    ...textBreaches(document),
    ...duplicateKeys(draft),
    ...slotBreaches(draft),
    ...scoreBreaches(draft),
    ...answerBreaches(draft),
    ...fixtureBreaches(draft),
  ];
}

function duplicateKeys({ slots, stages, roles, fixtures }: ContractDraft): RuleBreach[] {
  return [
    ...repeated(slots, 'key', 'slot'),
    ...repeated(stages, 'key', 'stage'),
    ...repeated(roles, 'role', 'role'),
    ...repeated(fixtures, 'key', 'fixture'),
  ];
}

function repeated(
  list: readonly { readonly path: readonly PropertyKey[]; readonly key: string | null }[],
  field: string,
  noun: string,
): RuleBreach[] {
  const seen = new Set<string>();
  return list.flatMap(({ path, key }) => {
    if (key === null) return [];
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    return [
      {
        code: 'key_duplicated',
        path: [...path, field],
        message: `expected every ${noun} once, got "${toPrintable(key, 60)}" again`,
        fix: `Give every ${noun} a name of its own.`,
      },
    ];
  });
}

function slotBreaches({ slots, stages }: ContractDraft): RuleBreach[] {
  const known = new Set(slots.map(({ key }) => key));
  const sealed = slots.find((slot) => slot.sealed);
  return stages.flatMap((stage) => [
    ...(stage.slots ?? []).flatMap((key, index): RuleBreach[] =>
      key === null || known.has(key)
        ? []
        : [
            {
              code: 'slot_unknown',
              path: [...stage.path, 'reference_input_slots', index],
              message: `expected a slot of reference_inputs, got "${toPrintable(key, 60)}"`,
              fix: 'Declare the slot in reference_inputs, or take it out of the selection.',
            },
          ],
    ),
    ...unselected(stage, sealed?.key ?? null),
  ]);
}

function unselected(stage: DraftStage, sealedKey: string | null): RuleBreach[] {
  if (sealedKey === null || stage.kind !== 'sandbox' || stage.slots !== null) return [];
  return [
    {
      code: 'slots_unselected',
      path: [...stage.path, 'reference_input_slots'],
      message: `expected the slots that this stage reads, as the slot "${toPrintable(sealedKey, 60)}" is sealed, got none`,
      fix: 'Write reference_input_slots on every sandbox stage; [] where it reads none.',
    },
  ];
}

function scoreBreaches({ resultKind, hasScore, stages }: ContractDraft): RuleBreach[] {
  if (resultKind === 'pass_fail') {
    const refused: RuleBreach[] = stages
      .filter((stage) => stage.resultKind === 'score')
      .map((stage) => ({
        code: 'score_stage_refused',
        path: [...stage.path, 'result_kind'],
        message: 'expected pass_fail, as the contract is, got score',
        fix: 'Make the contract a score contract, or the stage a pass_fail one.',
      }));
    if (hasScore !== true) return refused;
    const fix = 'Take score out, or make it null: a pass_fail contract measures nothing.';
    const message = 'expected null in a pass_fail contract, got a scale';
    return [{ code: 'score_refused', path: ['score'], message, fix }, ...refused];
  }
  if (resultKind !== 'score') return [];
  const breaches: RuleBreach[] = [];
  if (hasScore === false) {
    breaches.push({
      code: 'score_missing',
      path: ['score'],
      message: 'expected the scale of a score contract, got none',
      fix: 'Write score with unit, direction and description.',
    });
  }
  if (!stages.some(givesScore)) {
    breaches.push({
      code: 'score_stage_missing',
      path: ['stages'],
      message: 'expected a sandbox stage that gives the score, got none',
      fix: 'Leave result_kind out of a sandbox stage, or make it score: only programs measure.',
    });
  }
  return breaches;
}

/** In a score contract. */
function givesScore({ kind, resultKind }: DraftStage): boolean {
  return kind === 'sandbox' && (resultKind ?? 'score') === 'score';
}

function answerBreaches({ acceptsText, answerFormat }: ContractDraft): RuleBreach[] {
  const path = ['submission_requirements', 'answer_format_md'];
  if (acceptsText === false && answerFormat !== null) {
    return [
      {
        code: 'answer_format_refused',
        path,
        message: 'expected null, as no text is accepted, got a format',
        fix: 'Make it null, or accept text.',
      },
    ];
  }
  if (acceptsText === true && (answerFormat ?? '').trim() === '') {
    return [
      {
        code: 'answer_format_missing',
        path,
        message: 'expected the form that an answer in words must have, got none',
        fix: 'Say how the answer must be written, precisely enough that a program can read it.',
      },
    ];
  }
  return [];
}
