import { AuthoredContractSchema, type AuthoredContract } from '../contract/authored.ts';
import { contractFindings } from '../contract/contract-findings.ts';
import { readContractDraft, type ContractDraft } from '../contract/draft.ts';
import type { LintFinding } from '../contract/finding.ts';
import type { FoundFile } from './folder-view.ts';
import { readJsonFile } from './json-file.ts';

export interface ContractReading {
  readonly file: string;
  /** Null where the file is no JSON. */
  readonly draft: ContractDraft | null;
  /** Null where a finding refuses it. */
  readonly authored: AuthoredContract | null;
  /** Of the document alone, without the files that it names. */
  readonly findings: readonly LintFinding[];
}

/** Reads each contract of a folder once: a campaign may share one among thousands of problems. */
export function createContractReader(): (found: FoundFile) => ContractReading {
  const known = new Map<string, ContractReading>();
  return (found) => {
    const reading = known.get(found.path) ?? readContract(found);
    known.set(found.path, reading);
    return reading;
  };
}

function readContract({ path: file, content }: FoundFile): ContractReading {
  const json = readJsonFile(file, content);
  if ('finding' in json) return { file, draft: null, authored: null, findings: [json.finding] };
  const findings = contractFindings(file, AuthoredContractSchema, json.document);
  const isRefused = findings.some(({ severity }) => severity === 'refuse');
  return {
    file,
    draft: readContractDraft(json.document),
    authored: isRefused ? null : AuthoredContractSchema.parse(json.document),
    findings,
  };
}
