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
  const findings = await Promise.all(
    stages.map(async ({ evidence_schema: schema }, index) => {
      const check = schema === null ? null : await checkAgainstSchema(schema, null);
      if (check?.kind !== 'schema_broken') return [];
      const pointer = toPointer(['stages', index, 'evidence_schema']);
      const words = {
        message: check.message,
        fix: 'Write JSON Schema 2020-12 with references into itself only and patterns that RE2 takes.',
      };
      return [lintFindingOf('evidence_schema_broken', { file, pointer }, words)];
    }),
  );
  return findings.flat();
}
