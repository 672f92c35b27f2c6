import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readArchiveFiles, readCheckerPackage } from '@kervyxa/checker';
import { sha256Hex } from '@kervyxa/core';
import type { ArtifactRow, Database, Publication } from '@kervyxa/db';
import { loadVerifierPackage } from '@kervyxa/intake/package';

/** Counts as answered what holds the number 42. */
export const ANSWER_CHECKER = `import json
text = open('/input/summary.md').read()
result = {'result': 'verified' if '42' in text else 'refuted'}
json.dump(result, open('/output/result.json', 'w'))
`;
/**
 * So does this one, which has to be told its contract, and which `slow` keeps for as long as its stage may take: a
 * worker can be killed meanwhile.
 */
export const SLOW_CHECKER = ANSWER_CHECKER.replace(
  'result =',
  `assert json.load(open('/input/manifest.json'))['contract_id'].startswith('vct_')
if 'slow' in text:
    import time
    time.sleep(3600)
result =`,
);
/** Takes every answer for a right one. */
export const GULLIBLE_CHECKER = `import json
json.dump({'result': 'verified'}, open('/output/result.json', 'w'))
`;

const STAGE = {
  key: 'answer',
  kind: 'sandbox',
  title: 'Answer',
  description_md: 'Looks for the number.',
  implementation: './checker.py',
  limits: { vcpu: 1, memory_mb: 128, disk_mb: 8, timeout_seconds: 300 },
};

function fixture(key: string, text: string, expected: string) {
  const inputs = { reference: {}, artifacts: [], summary_text: text };
  return { key, stage_key: STAGE.key, description: text, inputs, expected_result: expected };
}

const CONTRACT = {
  title: 'The answer',
  statement_md: 'Verified when the text holds the number 42.',
  reference_inputs: [],
  stages: [STAGE],
  submission_requirements: {
    accepts_text_only: true,
    answer_format_md: 'A text with the number.',
    required_artifacts: [],
  },
  result_kind: 'pass_fail',
  conformance_fixtures: [
    fixture('right', 'It is 42.', 'verified'),
    fixture('wrong', 'It is 41.', 'refuted'),
  ],
};

/** For tests: publishes a package with this program, into the family where one is given. */
export async function publishChecker(
  { commands, blobs, checkers }: Database,
  ownerId: string,
  { program, verifierId = null }: { readonly program: string; readonly verifierId?: string | null },
): Promise<Publication> {
  const call = { actorId: ownerId, idempotency: null };
  const { signal } = new AbortController();
  const { archive, sha256 } = await withFolder(
    { 'verifier-contract.json': JSON.stringify(CONTRACT), 'checker.py': program },
    loadVerifierPackage,
  );
  const { sizeBytes } = await blobs.saveBlob(archive.open(signal), { bytesMax: 1_000_000 });
  const row = { sha256, sizeBytes, entryCount: archive.entryCount };
  await commands.savePackage(call, row, () => ({ status: 201, body: '' }));
  const { package: checker, findings } = readCheckerPackage(
    await readArchiveFiles(archive, signal),
    sha256,
  );
  if (checker === null) throw new Error(`expected a package, got ${JSON.stringify(findings)}`);
  const published = Promise.withResolvers<Publication>();
  const input = { verifierId, name: 'answers', checker };
  await checkers.commands.publish(call, input, (publication) => {
    published.resolve(publication);
    return { status: 201, body: '' };
  });
  return published.promise;
}

/** For tests: says of a program what a worker does that has seen it reproduce its fixtures. */
export async function reportConformant(
  { checkers }: Database,
  { implementations: [program] }: Publication,
): Promise<void> {
  if (program === undefined) throw new Error('expected an implementation, got none');
  const { id, stageKey, programDigest } = program;
  const report = { stageKey, programDigest, image: '', isConformant: true, problem: null };
  await checkers.work.endConformance(id, {
    kind: 'reported',
    report: { ...report, fixtures: [] },
  });
}

/** For tests: an open problem under the contract; its id. */
export async function poseProblem(
  { checkers: { commands } }: Database,
  ownerId: string,
  contractId: string,
): Promise<string> {
  const call = { actorId: ownerId, idempotency: null };
  const id = Promise.withResolvers<string>();
  const input = {
    contractId,
    title: 'The question',
    statement: 'What is the answer?',
    sealing: null,
    invited: null,
  };
  await commands.createProblem(call, input, (problem) => {
    id.resolve(problem.id);
    return { status: 201, body: '' };
  });
  const command = { kind: 'open', actorId: ownerId } as const;
  const problemId = await id.promise;
  await commands.decideProblem(call, { problemId, command }, () => ({ status: 200, body: '' }));
  return problemId;
}

/** For tests: submits a text, and bytes that are kept; the id of its check. */
export async function submitText(
  { checkers: { commands } }: Database,
  solverId: string,
  problemId: string,
  summaryText: string,
  artifacts: readonly Omit<ArtifactRow, 'sizeBytes'>[] = [],
): Promise<string> {
  const call = { actorId: solverId, idempotency: null };
  const id = Promise.withResolvers<string>();
  await commands.submitEntry(call, { problemId, summaryText, artifacts }, (_entry, check) => {
    id.resolve(check.id);
    return { status: 201, body: '' };
  });
  return id.promise;
}

/** For tests: the files of a package whose stage `greeting` looks at a script, and whose fixtures are two of them. */
export function greetingPackage(): Readonly<Record<string, string>> {
  const [right, wrong] = ['echo hello\n', 'echo bye\n'];
  const contract = {
    ...CONTRACT,
    stages: [{ ...STAGE, key: 'greeting' }],
    submission_requirements: {
      accepts_text_only: false,
      required_artifacts: [
        { role: 'script', description: 'A script.', media_types: [], max_bytes: 1_000 },
      ],
    },
    conformance_fixtures: [
      scriptFixture('right', right, 'verified'),
      scriptFixture('wrong', wrong, 'refuted'),
    ],
  };
  return {
    'verifier-contract.json': JSON.stringify(contract),
    'checker.py': ANSWER_CHECKER,
    'fixtures/right.sh': right,
    'fixtures/wrong.sh': wrong,
  };
}

function scriptFixture(key: string, text: string, expected: string) {
  const artifact = {
    role: 'script',
    filename: `${key}.sh`,
    content_hash: `sha256:${sha256Hex(text)}`,
    size_bytes: Buffer.byteLength(text),
  };
  return {
    ...fixture(key, `A script that is ${expected}.`, expected),
    stage_key: 'greeting',
    inputs: { reference: {}, artifacts: [artifact] },
  };
}

async function withFolder<T>(
  files: Readonly<Record<string, string>>,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'kervyxa-checker-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
