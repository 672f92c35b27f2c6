import {
  contractDigest,
  lintContract,
  parseContract,
  readContractText,
  TREE_RULES,
  type BaseFacts,
  type Finding,
  type OperatorSettings,
  type Contract,
  type ContractText,
  type TextPlace,
} from '@kervyxa/contract';
import { CommitShaSchema, isAppError, toPrintable, type CommitSha } from '@kervyxa/core';
import { cliError } from './errors.ts';
import type { Host } from './host.ts';
import { loadContractFile } from './io/contract-file.ts';
import { toFindingsText, type LocatedFinding } from './present/findings.ts';

/** A contract file that could be read; what it says is not judged yet. */
export interface ContractDocument {
  /** As the user named it. */
  readonly name: string;
  readonly text: ContractText;
}

export interface LintOutcome {
  readonly findings: readonly LocatedFinding[];
  /** Codes of the rules that want the base tree, where it was not given. */
  readonly uncheckedRules: readonly string[];
  /** Null while the document is no contract. */
  readonly contractDigest: string | null;
}

/** Throws CLI_FILE_UNREADABLE and what `readContractText` throws. */
export async function readContractDocument(
  path: string,
  host: Pick<Host, 'stdin'>,
): Promise<ContractDocument> {
  const { name, bytes, format } = await loadContractFile(path, host);
  return { name, text: readContractText(bytes, format) };
}

/** The base commit that a document names, be the rest of it as wrong as it may. */
export function baseCommitOf({ text: { document } }: ContractDocument): CommitSha | null {
  const commit = CommitShaSchema.safeParse(valueAt(document, ['repository', 'baseCommit']));
  return commit.success ? commit.data : null;
}

/** Everything that approval has to say, each finding with its place in the file. */
export function lintDocument(
  { text }: Pick<ContractDocument, 'text'>,
  facts: BaseFacts | null,
  settings: OperatorSettings,
): LintOutcome {
  const contract = parseOrNull(text.document);
  return {
    findings: locate(lintContract(text.document, facts, settings), { text }),
    uncheckedRules: facts === null ? TREE_RULES : [],
    contractDigest: contract === null ? null : contractDigest(contract),
  };
}

/** Findings with their places in the file. */
export function locate(
  findings: readonly Finding[],
  { text }: Pick<ContractDocument, 'text'>,
): LocatedFinding[] {
  return findings.map((finding) => {
    const { line, column } = placeOf(finding.pointer, text);
    return { ...finding, line, column };
  });
}

/** What is missing has no place of its own: what it is missing from has. */
function placeOf(pointer: string, text: ContractText): TextPlace {
  const place = text.locate(pointer);
  if (place !== null) return place;
  return pointer === '' ? { line: 1, column: 1 } : placeOf(pointer.replace(/\/[^/]*$/, ''), text);
}

function valueAt(document: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>((value, key) => {
    const isOwner = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
    return isOwner ? Reflect.get(value, key) : undefined;
  }, document);
}

function parseOrNull(document: unknown): Contract | null {
  try {
    return parseContract(document);
  } catch (error) {
    if (isAppError(error) && error.code === 'CONTRACT_SCHEMA_INVALID') return null;
    throw error;
  }
}

/**
 * A contract that may be run. What nothing overrides is shown on stderr and refused; what has yet to be acknowledged
 * only keeps a contract from opening.
 *
 * Throws CLI_CONTRACT_REFUSED and what `readContractDocument` throws.
 */
export async function loadVerifiableContract(
  path: string,
  host: Pick<Host, 'stdin' | 'stderr'>,
  settings: OperatorSettings,
): Promise<Contract> {
  const document = await readContractDocument(path, host);
  const { findings } = lintDocument(document, null, settings);
  refuseWith(
    findings.filter(({ severity }) => severity === 'refuse'),
    document,
    host,
  );
  return parseContract(document.text.document);
}

/** Shows findings and throws CLI_CONTRACT_REFUSED; does nothing where there are none. */
export function refuseWith(
  refused: readonly LocatedFinding[],
  { name }: ContractDocument,
  { stderr }: Pick<Host, 'stderr'>,
): void {
  if (refused.length === 0) return;
  stderr.write(`${toFindingsText(refused, name, stderr)}\n\n`);
  const codes = [...new Set(refused.map(({ code }) => code))].join(', ');
  throw cliError('CLI_CONTRACT_REFUSED', {
    message: `expected a contract that may open, got one that approval refuses: ${codes}`,
    fix: `Mend what is listed above; "kervyxa lint ${toPrintable(name)}" tells the same.`,
  });
}
