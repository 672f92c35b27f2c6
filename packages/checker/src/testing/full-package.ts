import { sha256Hex } from '@kervyxa/core';
import type { FolderFiles } from '../package/folder-view.ts';
import { publishedContract, type Document } from './published-contract.ts';

const LABELS = 'row,label\n1,dog\n';
/** What fixtures have in their place: the real ones are sealed. */
const MADE_UP = 'row,label\n1,cat\n';
const TEXTS = {
  'fixtures/right.csv': '1,cat\n',
  'fixtures/wrong.csv': '1,dog\n',
  'fixtures/empty.csv': '',
  'fixtures/made-up.csv': MADE_UP,
  'reference/labels.csv': LABELS,
  'checkers/form.py': '# looks at the form\n',
  'checker.py': '# compares\n',
};
const PROTOCOL = {
  title: 'Reading',
  instructions_md: 'Is it described well enough to be done again?',
  judges: { roles: ['arbiter'], people: [] },
  nodes: [
    {
      key: 'reader',
      skills: [{ skill_version_id: './skills/reading' }],
      reducer: { kind: 'k_of_n', k: 1, n: 1 },
    },
  ],
};

function file(filename: string, text: string) {
  const size_bytes = Buffer.byteLength(text);
  return { filename, content_hash: `sha256:${sha256Hex(text)}`, size_bytes };
}

function fixture(stage: string, expected_result: string, name: string, score?: number) {
  const filename = `${name}.csv`;
  const text = TEXTS[`fixtures/${filename}` as keyof typeof TEXTS];
  return {
    key: `${stage}_${name}`,
    stage_key: stage,
    description: `Predictions that are ${name}.`,
    inputs: {
      reference: { labels: file('made-up.csv', MADE_UP) } as Document,
      artifacts: [{ role: 'predictions', ...file(filename, text) }] as Document[],
    } as Document & { reference: Document; artifacts: Document[] },
    expected_result,
    ...(score !== undefined && { expected_score: score }),
  } as Document & { inputs: { reference: Document; artifacts: Document[] } };
}

/** `publishedContract` as its author writes it: programs, a protocol of its own, fixtures for both programs. */
export function fullContract() {
  const {
    id: _id,
    verifier_id: _verifier,
    version_number: _version,
    created_by_user_id: _author,
    created_at: _time,
    yanked_at: _yanked,
    ...terms
  } = publishedContract();
  const [form = {}, measure = {}, reading = {}, ...external] = terms.stages;
  return {
    ...terms,
    stages: [
      { ...form, implementation: './checkers/form.py' },
      { ...measure, implementation: './checker.py', limits: { memory_mb: 512, disk_mb: 64 } },
      { ...reading, review_protocol_id: './review-protocol.json' },
      ...external,
    ] as Document[],
    conformance_fixtures: ['form', 'measure'].flatMap((stage) => [
      fixture(stage, 'verified', 'right', stage === 'measure' ? 1 : undefined),
      fixture(stage, 'refuted', 'wrong'),
      fixture(stage, 'inconclusive', 'empty'),
    ]),
  };
}
export type FullContract = ReturnType<typeof fullContract>;

/** What a test changes: the contract, and files by their paths. */
export interface DraftFolder {
  contract: FullContract;
  protocol: typeof PROTOCOL & Document;
  /** Text, bytes, or null for a file that is taken away. */
  files: Record<string, string | Uint8Array | null>;
}

export function fullFolder(): DraftFolder {
  const skill = { 'skills/reading/SKILL.md': '# Reading\n' };
  return {
    contract: fullContract(),
    protocol: structuredClone(PROTOCOL),
    files: { ...TEXTS, ...skill },
  };
}

/** The same as the one problem of a folder. */
export function problemFolder(): DraftFolder & { problem: Document } {
  const folder = fullFolder();
  folder.files['statement.md'] = 'Predict the labels. The columns are named.\n';
  return {
    ...folder,
    problem: {
      slug: 'labels',
      title: 'Labels',
      summary: 'Predict the labels.',
      sealing: { sealed_until: '2027-01-01T00:00:00Z', submission_limit: 5 },
    },
  };
}

export function toFiles(folder: DraftFolder & { problem?: Document }): FolderFiles {
  const documents = {
    'verifier-contract.json': JSON.stringify(folder.contract, null, 2),
    'review-protocol.json': JSON.stringify(folder.protocol, null, 2),
    ...(folder.problem && { 'problem.json': JSON.stringify(folder.problem, null, 2) }),
  };
  const entries = Object.entries({ ...documents, ...folder.files });
  return new Map(
    entries.flatMap(([path, content]) => (content === null ? [] : [[path, Buffer.from(content)]])),
  );
}
