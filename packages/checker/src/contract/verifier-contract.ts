import { z } from 'zod';
import { LINT_TABLE } from './lint-table.ts';
import { ruleBreaches } from './rules.ts';
import { VerifierContractShapeSchema } from './schema.ts';

/** A published VerifierContract 0.5.0, with every rule between its fields. */
export const VerifierContractSchema = VerifierContractShapeSchema.superRefine(keepRules);

function keepRules(document: unknown, context: z.RefinementCtx): void {
  for (const { code, path, message } of ruleBreaches(document)) {
    if (LINT_TABLE[code].severity !== 'refuse') continue;
    context.addIssue({ code: 'custom', path: [...path], message, params: { code } });
  }
}
