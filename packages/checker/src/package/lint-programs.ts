import type { ContractDraft, DraftStage } from '../contract/draft.ts';
import { lintFindingOf, type LintFinding } from '../contract/finding.ts';
import { toPointer } from '../contract/pointer.ts';
import { STAGE_LIMIT_RANGES } from '../contract/authored.ts';
import type { LintCode } from '../contract/lint-table.ts';
import { BUILTINS, builtinOf, findProgram } from './implementation.ts';

/** Whether what sandbox stages name is there and fits. `file` is the contract, `readFile` is told paths from it. */
export function lintPrograms(
  file: string,
  draft: ContractDraft,
  readFile: (path: string) => Uint8Array | null,
): LintFinding[] {
  return draft.stages
    .filter(({ kind }) => kind === 'sandbox')
    .flatMap((stage) => {
      const at = (code: LintCode, name: string, words: { message: string; fix: string }) =>
        lintFindingOf(code, { file, pointer: toPointer([...stage.path, name]) }, words);
      const found =
        stage.implementation === null ? null : findProgram(stage.implementation, readFile);
      return [
        ...(found !== null && 'code' in found ? [at(found.code, 'implementation', found)] : []),
        ...builtinProblems(draft, stage).map(({ code, ...words }) =>
          at(code, 'implementation', words),
        ),
        ...scratchProblems(stage).map((words) => at('disk_counts_as_memory', 'limits', words)),
      ];
    });
}

/** A builtin reads one role and one slot, which the contract must have and the stage select. */
function builtinProblems(
  draft: ContractDraft,
  { implementation, slots }: DraftStage,
): { code: LintCode; message: string; fix: string }[] {
  const name = builtinOf(implementation ?? '');
  if (name === null) return [];
  const { role, slot } = BUILTINS[name];
  const hasRole = draft.roles.some(({ key }) => key === role);
  const hasSlot = draft.slots.some(({ key }) => key === slot) && (slots?.includes(slot) ?? true);
  return [
    ...(hasRole
      ? []
      : [
          {
            code: 'builtin_role_missing' as const,
            message: `expected the role ${role}, which ${name} reads, got none`,
            fix: `Declare ${role} in submission_requirements.required_artifacts.`,
          },
        ]),
    ...(hasSlot
      ? []
      : [
          {
            code: 'builtin_slot_missing' as const,
            message: `expected the slot ${slot}, which ${name} reads, got none`,
            fix: `Declare ${slot} in reference_inputs, and let the stage select it.`,
          },
        ]),
  ];
}

function scratchProblems({ memoryMb, diskMb }: DraftStage): { message: string; fix: string }[] {
  const memory = memoryMb ?? STAGE_LIMIT_RANGES.memory_mb.default;
  if (diskMb === null || diskMb < memory) return [];
  return [
    {
      message: `expected less than memory_mb, got disk_mb ${diskMb} beside memory_mb ${memory}`,
      fix: 'What a program writes is kept in memory and counts as such: ask for as much memory as both need.',
    },
  ];
}
