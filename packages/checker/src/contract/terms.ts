import type { ContractTerms, ResultKind, SandboxStage } from './schema.ts';

/** The keys of the slots that a sandbox stage sees, in the contract's order. */
export function slotsOfStage(terms: ContractTerms, stage: SandboxStage): string[] {
  const { reference_input_slots: selected } = stage;
  return terms.reference_inputs
    .map(({ key }) => key)
    .filter((key) => selected === undefined || selected.includes(key));
}

export function resultKindOfStage(terms: ContractTerms, stage: SandboxStage): ResultKind {
  return stage.result_kind ?? terms.result_kind;
}
