import { toPrintable } from '@kervyxa/core';
import { z } from 'zod';
import type { ContractDraft, DraftSlot } from '../contract/draft.ts';
import { lintFindingOf, type LintFinding } from '../contract/finding.ts';
import { FIXTURE_FILE_SHAPE } from '../contract/schema.ts';
import { textOf } from '../contract/schema-parts.ts';
import { shapeFindings } from '../contract/shape-findings.ts';
import { toPointer } from '../contract/pointer.ts';
import { LINK_ENDING } from './file-names.ts';
import type { FolderView, FoundFile } from './folder-view.ts';
import { readJsonFile } from './json-file.ts';

/** Content that stays where it is: somebody states its hash and size, and nobody here checks them. */
export const LinkSchema = z.strictObject({
  url: z.string().refine(isHttps, 'expected an https URL without a password'),
  content_hash: FIXTURE_FILE_SHAPE.content_hash,
  size_bytes: FIXTURE_FILE_SHAPE.size_bytes,
  media_type: textOf(120),
  filename: FIXTURE_FILE_SHAPE.filename.optional(),
});
export type ReferenceLink = z.infer<typeof LinkSchema>;

function isHttps(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed?.protocol === 'https:' && parsed.username === '' && parsed.password === '';
}

/** Files of `reference/` by the slot that their names begin with; links among them. */
export interface ReferenceFile extends FoundFile {
  readonly filename: string;
  readonly slot: string;
  readonly isLink: boolean;
}

export function listReference({ files, own }: FolderView): ReferenceFile[] {
  const folder = `${own}reference/`;
  return [...files].flatMap(([path, content]) => {
    const filename = path.startsWith(folder) ? path.slice(folder.length) : '';
    if (filename === '' || filename.startsWith('.') || filename.includes('/')) return [];
    const [slot = ''] = filename.split('.');
    return [{ path, content, filename, slot, isLink: filename.endsWith(LINK_ENDING) }];
  });
}

/** Whether `reference/` binds what the contract declares. */
export function lintReference(
  contract: { readonly file: string; readonly draft: ContractDraft } | null,
  view: FolderView,
  isProblem: boolean,
): LintFinding[] {
  const files = listReference(view);
  const slots = contract?.draft.slots ?? [];
  const bound = new Set<string>();
  const ofFiles = files.flatMap((each) => {
    const isAgain = bound.has(each.slot);
    bound.add(each.slot);
    return fileProblems(each, slots, isAgain);
  });
  if (contract === null) return ofFiles;
  return [
    ...ofFiles,
    ...slots.flatMap((slot) => unboundProblems(contract.file, slot, bound, isProblem)),
    ...linkedProblems(contract.draft, files),
  ];
}

function fileProblems(
  { path, content, slot: key, isLink }: ReferenceFile,
  slots: readonly DraftSlot[],
  isAgain: boolean,
): LintFinding[] {
  const name = toPrintable(key, 60);
  const slot = slots.find((each) => each.key === key);
  const problems = isLink ? linkProblems(path, content) : [];
  if (slot === undefined) {
    problems.push(
      lintFindingOf(
        'reference_unknown',
        { file: path },
        {
          message: `expected the name of a slot before the first dot, got "${name}"`,
          fix: 'Name the file after its slot, or declare the slot in reference_inputs of verifier-contract.json.',
        },
      ),
    );
  }
  if (isAgain) {
    const message = `expected one file for the slot "${name}", got another`;
    const fix = 'Keep the one that is meant.';
    problems.push(lintFindingOf('reference_duplicated', { file: path }, { message, fix }));
  }
  const max = slot?.bytesMax ?? null;
  if (!isLink && max !== null && content.length > max) {
    const message = `expected at most ${max} bytes, which the slot allows, got ${content.length}`;
    const fix = 'Take a smaller file, or allow more in max_bytes.';
    problems.push(lintFindingOf('reference_too_large', { file: path }, { message, fix }));
  }
  return problems;
}

function linkProblems(file: string, content: Uint8Array): LintFinding[] {
  const json = readJsonFile(file, content);
  if ('finding' in json) return [json.finding];
  return shapeFindings(file, LinkSchema, json.document, {
    codeOf: ([key], value) => (key === 'url' && value !== undefined ? 'link_not_https' : null),
  });
}

function unboundProblems(
  file: string,
  { key, path, required }: DraftSlot,
  bound: ReadonlySet<string>,
  isProblem: boolean,
): LintFinding[] {
  if (key === null || !required || bound.has(key)) return [];
  const message = `expected a file for the required slot "${toPrintable(key, 60)}" under reference/, got none`;
  const code = isProblem ? 'reference_missing' : 'reference_unbound';
  const fix = `Put it there under the name ${toPrintable(key, 60)} and an extension.`;
  return [lintFindingOf(code, { file, pointer: toPointer(path) }, { message, fix })];
}

/** Told of the link: the problems of a campaign share the contract, and not their links. */
function linkedProblems(draft: ContractDraft, files: readonly ReferenceFile[]): LintFinding[] {
  return files.flatMap(({ path: file, isLink, slot }) => {
    if (!isLink || !draft.slots.some(({ key }) => key === slot)) return [];
    const readers = draft.stages
      .filter(({ kind, slots }) => kind === 'sandbox' && (slots?.includes(slot) ?? true))
      .map(({ key }) => `"${toPrintable(key ?? '', 60)}"`);
    if (readers.length === 0) return [];
    const words = {
      message: `expected a file, as programs read the slot (stages ${readers.join(', ')}), got a link, which they are not shown`,
      fix: 'Put the bytes themselves under reference/, or select other slots in reference_input_slots of the stage.',
    };
    return [lintFindingOf('link_not_mounted', { file }, words)];
  });
}
