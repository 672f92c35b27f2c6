import {
  canonicalJson,
  sealTree,
  sha256Hex,
  type TreeArchive,
  type TreeEntry,
} from '@kervyxa/core';
import type { ResultKind } from '../contract/schema.ts';
import type { InputFile } from '../package/checker-package.ts';
import type { CheckSubmission } from './stage-end.ts';

/** Where a program finds what `toInputTree` packs. */
const INPUT = '/input';
/** What stands in the place of a name that no folder could hold, or that could mislead who sees it. */
const PLAIN_NAME = 'file';
const NAME_BYTES_MAX = 255;
/** Controls, separators of lines, what turns the order of letters, and lone surrogates. */
const MISLEADING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}/]/u;

/** What one invocation is shown. */
export interface StageInputs {
  readonly contractId: string | null;
  readonly stageKey: string;
  readonly resultKind: ResultKind;
  readonly artifacts: CheckSubmission['artifacts'];
  readonly reference: ReadonlyMap<string, InputFile>;
  readonly summaryText: string | null;
}

interface LaidOut {
  readonly path: string;
  readonly filename: string;
  readonly media_type: string | null;
  readonly size_bytes: number;
  readonly content_hash: string;
}

/** `/input/manifest.json`; docs/schemas/checker-manifest.schema.json says what each field means. */
export interface CheckerManifest {
  readonly protocol: 1;
  readonly contract_id: string | null;
  readonly stage_key: string;
  readonly result_kind: ResultKind;
  readonly artifacts: readonly (LaidOut & { readonly role: string })[];
  readonly reference: readonly (LaidOut & { readonly key: string })[];
  readonly summary_text: string | null;
  readonly summary_path: string | null;
}

export function toManifest(inputs: StageInputs): CheckerManifest {
  const summaryText = inputs.summaryText?.toWellFormed() ?? null;
  return {
    protocol: 1,
    contract_id: inputs.contractId,
    stage_key: inputs.stageKey,
    result_kind: inputs.resultKind,
    artifacts: inputs.artifacts.map((file) => ({
      role: file.role,
      ...toLaidOut(`artifacts/${file.role}`, file),
    })),
    reference: [...inputs.reference].map(([key, file]) => ({
      key,
      ...toLaidOut(`reference/${key}`, file),
    })),
    summary_text: summaryText,
    summary_path: summaryText === null ? null : `${INPUT}/summary.md`,
  };
}

/**
 * The tree at /input: the manifest, the program's files (by path), the artifacts, the reference inputs, the text. Equal
 * inputs are equal to the last byte.
 */
export async function toInputTree(
  inputs: StageInputs,
  program: ReadonlyMap<string, Uint8Array>,
): Promise<TreeArchive> {
  const manifest = toManifest(inputs);
  const files = new Map<string, Uint8Array>([
    ['manifest.json', Buffer.from(canonicalJson(manifest))],
    ...program,
  ]);
  for (const { role, ...file } of inputs.artifacts) {
    files.set(placeOf(`artifacts/${role}`, file), file.content);
  }
  for (const [key, file] of inputs.reference) {
    files.set(placeOf(`reference/${key}`, file), file.content);
  }
  if (manifest.summary_text !== null) files.set('summary.md', Buffer.from(manifest.summary_text));
  return sealTree(toEntries(files));
}

function toLaidOut(folder: string, file: InputFile): LaidOut {
  return {
    path: `${INPUT}/${placeOf(folder, file)}`,
    filename: file.filename.toWellFormed(),
    media_type: file.mediaType?.toWellFormed() ?? null,
    size_bytes: file.content.length,
    content_hash: `sha256:${sha256Hex(file.content)}`,
  };
}

function placeOf(folder: string, { filename }: InputFile): string {
  return `${folder}/${toSafeName(filename)}`;
}

/** A name as it came where a folder can hold it and it leads nowhere else. */
function toSafeName(filename: string): string {
  const bytes = Buffer.byteLength(filename);
  const isSafe =
    bytes > 0 &&
    bytes <= NAME_BYTES_MAX &&
    filename !== '.' &&
    filename !== '..' &&
    !MISLEADING.test(filename);
  return isSafe ? filename : PLAIN_NAME;
}

/** Files, and each folder above them once, before what is in it; the two for inputs are there for who lists them. */
function toEntries(files: ReadonlyMap<string, Uint8Array>): TreeEntry[] {
  const entries = new Map<string, TreeEntry>(
    ['artifacts', 'reference'].map((path) => [path, { type: 'folder', path }]),
  );
  for (const [path, content] of files) {
    const parts = path.split('/');
    for (let depth = 1; depth < parts.length; depth += 1) {
      const folder = parts.slice(0, depth).join('/');
      entries.set(folder, { type: 'folder', path: folder });
    }
    entries.set(path, { type: 'file', path, executable: false, size: content.length, content });
  }
  return [...entries.values()];
}
