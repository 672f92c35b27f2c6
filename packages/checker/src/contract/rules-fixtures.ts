import { toPrintable } from '@kervyxa/core';
import type { ContractDraft, DraftFixture, DraftStage } from './draft.ts';
import type { RuleBreach } from './rules.ts';

/** What a conformance fixture may say depends on its stage, the slots, the roles and what is measured. */
export function fixtureBreaches(draft: ContractDraft): RuleBreach[] {
  const stages = new Map(draft.stages.map((stage) => [stage.key, stage]));
  const slots = new Set(draft.slots.map(({ key }) => key));
  const roles = new Set(draft.roles.map(({ key }) => key));
  return draft.fixtures.flatMap((fixture) => {
    const stage = fixture.stageKey === null ? null : stages.get(fixture.stageKey);
    return [
      ...stageBreaches(fixture, stage),
      ...referenceBreaches(fixture, draft, slots),
      ...roleBreaches(fixture, roles),
      ...summaryBreaches(fixture, draft),
      ...scoreBreaches(fixture, stage?.resultKind ?? draft.resultKind),
    ];
  });
}

function stageBreaches(
  { path, stageKey }: DraftFixture,
  stage: DraftStage | null | undefined,
): RuleBreach[] {
  const at = [...path, 'stage_key'];
  if (stage === undefined) {
    return [
      {
        code: 'fixture_stage_unknown',
        path: at,
        message: `expected the key of a stage, got "${toPrintable(stageKey ?? '', 60)}"`,
        fix: 'Name the sandbox stage that this fixture tries.',
      },
    ];
  }
  const kind = stage?.kind ?? 'sandbox';
  if (kind !== 'review' && kind !== 'external') return [];
  return [
    {
      code: 'fixture_stage_refused',
      path: at,
      message: `expected the key of a sandbox stage, got one of kind ${kind}`,
      fix: 'Only programs reproduce fixtures: name a sandbox stage, or remove the fixture.',
    },
  ];
}

function referenceBreaches(
  { path, boundSlots }: DraftFixture,
  draft: ContractDraft,
  known: ReadonlySet<string | null>,
): RuleBreach[] {
  if (boundSlots === null) return [];
  const at = [...path, 'inputs', 'reference'];
  const unknown = boundSlots
    .filter((key) => !known.has(key))
    .map((key): RuleBreach => {
      return {
        code: 'slot_unknown',
        path: [...at, key],
        message: `expected a slot of reference_inputs, got "${toPrintable(key, 60)}"`,
        fix: 'Declare the slot in reference_inputs, or take it out of the fixture.',
      };
    });
  const unbound = draft.slots
    .filter(({ key, required }) => required && key !== null && !boundSlots.includes(key))
    .map(({ key }): RuleBreach => {
      return {
        code: 'fixture_slot_unbound',
        path: at,
        message: `expected a file for the required slot "${toPrintable(key ?? '', 60)}", got none`,
        fix: 'Bind every required slot, also where the program does not read it; a file under reference/ will do.',
      };
    });
  return [...unknown, ...unbound];
}

function roleBreaches({ files }: DraftFixture, known: ReadonlySet<string | null>): RuleBreach[] {
  const seen = new Set<string>();
  return files.flatMap(({ path, role }): RuleBreach[] => {
    if (role === null) return [];
    const isAgain = seen.has(role);
    seen.add(role);
    const at = [...path, 'role'];
    const got = `"${toPrintable(role, 60)}"`;
    if (!known.has(role)) {
      return [
        {
          code: 'role_unknown',
          path: at,
          message: `expected a role of required_artifacts, got ${got}`,
          fix: 'Declare the role in submission_requirements.required_artifacts, or name one that is there.',
        },
      ];
    }
    if (!isAgain) return [];
    const message = `expected every role once, got ${got} again`;
    return [{ code: 'key_duplicated', path: at, message, fix: 'Give one file for each role.' }];
  });
}

function summaryBreaches({ path, summaryText }: DraftFixture, draft: ContractDraft): RuleBreach[] {
  if (summaryText === null || draft.acceptsText !== false) return [];
  return [
    {
      code: 'summary_text_refused',
      path: [...path, 'inputs', 'summary_text'],
      message: 'expected null, as no text is accepted, got a text',
      fix: 'Make it null, or accept text.',
    },
  ];
}

function scoreBreaches(
  { path, expectedResult, expectedScore }: DraftFixture,
  resultKind: string | null,
): RuleBreach[] {
  const at = [...path, 'expected_score'];
  const isScored = resultKind === 'score' && expectedResult === 'verified';
  if (isScored && expectedScore === null) {
    return [
      {
        code: 'expected_score_missing',
        path: at,
        message: 'expected the number that a conforming program gives, got none',
        fix: 'Write the score that this fixture has.',
      },
    ];
  }
  const isKnown = resultKind !== null && expectedResult !== null;
  if (isScored || !isKnown || typeof expectedScore !== 'number') return [];
  return [
    {
      code: 'expected_score_refused',
      path: at,
      message: 'expected null: only a verified fixture of a score stage has a score, got a number',
      fix: 'Make it null.',
    },
  ];
}
