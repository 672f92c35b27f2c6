import { lintFindingOf, type LintFinding } from '../contract/finding.ts';
import { toPointer } from '../contract/pointer.ts';
import type { ContractTerms } from '../contract/schema.ts';
import { checkAgainstSchema } from '../thread/check-schema.ts';
import { CONTRACT_FILE } from './file-names.ts';

/**
 * Evidence schemas that nothing could ever satisfy, as they are none that we check. Besides what reading a folder finds,
 * since it takes a thread: an author's schema is looked at nowhere else.
 *
 * Throws CHECKER_SCHEMA_UNCHECKED.
 */
export async function lintEvidenceSchemas(
  { stages }: Pick<ContractTerms, 'stages'>,
  file: string = CONTRACT_FILE,
): Promise<LintFinding[]> {
  const findings: LintFinding[] = [];
  const count = stages.filter(({ evidence_schema: schema }) => schema !== null).length;
  const timeoutMs = Math.min(STAGE_MS_MAX, Math.max(STAGE_MS_MIN, ALL_MS_MAX / count));
  // One after the other: what others ask meanwhile has a thread left.
  for (const [index, { evidence_schema: schema }] of stages.entries()) {
    const check = schema === null ? null : await checkAgainstSchema(schema, null, { timeoutMs });
    if (check?.kind !== 'schema_broken') continue;
    const pointer = toPointer(['stages', index, 'evidence_schema']);
    const words = {
      message: check.message,
      fix: 'Write JSON Schema 2020-12 with references into itself only and patterns that RE2 takes.',
    };
    findings.push(lintFindingOf('evidence_schema_broken', { file, pointer }, words));
  }
  return findings;
}

/** Schemas that take as long as they may are those of somebody who wants it so: many get less each. */
const ALL_MS_MAX = 30_000;
const STAGE_MS_MAX = 10_000;
const STAGE_MS_MIN = 1_000;
