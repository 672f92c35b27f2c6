import { sha256Hex, packTree, type TreeEntry } from '@kervyxa/core';
import type { StageEnd } from '@kervyxa/checker';
import { expect } from 'vitest';
import type { Person, World } from './world.ts';

export const PROGRAM = 'print("SECRET-FREE")\n';
/** What nobody but the owner may read before its release. */
export const LABELS = 'id,label\n1,SECRET-LABEL\n';
export const ANSWER = '{"id": 1, "label": "cat"}';
export const SYSTEM = 'Open Reaction Archive';

const slot = (key: string, sealed: boolean) => ({
  key,
  required: false,
  sealed,
  media_types: [],
  max_bytes: 1_000,
  description: `The ${key}.`,
});
const fixture = (key: string, expected: string) => ({
  key,
  stage_key: 'form',
  description: 'A case.',
  inputs: {
    reference: {},
    artifacts: [
      {
        role: 'answer',
        filename: 'answer.json',
        content_hash: `sha256:${sha256Hex(ANSWER)}`,
        size_bytes: ANSWER.length,
      },
    ],
  },
  expected_result: expected,
});

/** A stage of each kind; the first reads what is sealed. */
export function toContract(fields: object = {}) {
  return {
    title: 'Labels of held-out rows',
    statement_md:
      'Verified when the answer has its form, judges accept it and the archive took it.',
    reference_inputs: [slot('question', false), slot('labels', true)],
    stages: [
      {
        key: 'form',
        kind: 'sandbox',
        title: 'Form',
        description_md: 'Compares with the labels.',
        implementation: './checker.py',
        reference_input_slots: ['labels'],
      },
      {
        key: 'reading',
        kind: 'review',
        title: 'Reading',
        description_md: 'People read it.',
        review_protocol_id: './review-protocol.json',
      },
      {
        key: 'accepted',
        kind: 'external',
        title: 'Accepted',
        description_md: 'The archive took it.',
        rule_owner: 'contract',
        external_system: SYSTEM,
        evidence_schema: { type: 'object', required: ['status'] },
        acceptance: { field: '/status', op: 'in', value: ['accepted'] },
      },
    ],
    submission_requirements: {
      accepts_text_only: false,
      required_artifacts: [
        { role: 'answer', description: 'The answer.', media_types: [], max_bytes: 1_000 },
      ],
    },
    result_kind: 'pass_fail',
    conformance_fixtures: [fixture('right', 'verified'), fixture('wrong', 'refuted')],
    ...fields,
  };
}

export const PROTOCOL = {
  title: 'Is it right?',
  instructions_md: 'Read it.',
  judges: { roles: ['arbiter', 'challenger'], people: [] },
  nodes: [{ key: 'readers', reducer: { kind: 'k_of_n', k: 2, n: 2 } }],
};

export async function tarOf(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const entries = async function* (): AsyncGenerator<TreeEntry> {
    for (const [path, text] of Object.entries(files)) {
      const content = Buffer.from(text);
      yield { type: 'file', path, executable: false, size: content.length, content };
    }
  };
  return Buffer.concat(await Array.fromAsync(packTree(entries(), new AbortController().signal)));
}

/** For tests: what people do with checkers, with the API of a world. */
export function createCheckerStory({
  people,
  ask,
  database,
}: Pick<World, 'people' | 'ask' | 'database'>) {
  let families = 0;

  async function upload(who: Person, files: Readonly<Record<string, string>>): Promise<string> {
    const tar = await tarOf(files);
    const answer = await ask(who, 'POST', '/v1/packages', tar, {
      'content-type': 'application/x-tar',
    });
    expect(answer.status).toBe(201);
    return String(answer.fields['sha256']);
  }

  /** Publishes a package; its programs conform where a worker says so. Answers the contract's id. */
  async function publish(contract: object = toContract()) {
    const sha256 = await upload(people.requester, {
      'verifier-contract.json': JSON.stringify(contract),
      'review-protocol.json': JSON.stringify(PROTOCOL),
      'checker.py': PROGRAM,
      'fixtures/answer.json': ANSWER,
    });
    families += 1;
    const name = `Family ${families}`;
    return ask(people.requester, 'POST', '/v1/checkers', { package: sha256, name });
  }

  async function conform(implementationId: string): Promise<void> {
    const task = await database.checkers.work.conformanceTask(implementationId);
    if (task === null) throw new Error('expected fixtures to try');
    await database.checkers.work.endConformance(implementationId, {
      kind: 'reported',
      report: {
        stageKey: task.stageKey,
        programDigest: task.programDigest,
        image: 'sha256:image',
        isConformant: true,
        problem: null,
        fixtures: [],
      },
    });
  }

  /** A draft with the sealed slot bound to the labels; answers its id. */
  async function draft(
    contractId: string,
    fields: object = {},
    labels: string = LABELS,
  ): Promise<string> {
    const problem = { contractId, title: 'Rows', statement: 'Label the rows.', ...fields };
    const { id, status } = await ask(people.requester, 'POST', '/v1/problems', problem);
    expect(status).toBe(201);
    const sha256 = await upload(people.requester, { 'reference/labels.csv': labels });
    const bound = await ask(people.requester, 'PUT', `/v1/problems/${id}/inputs/labels`, {
      kind: 'file',
      package: sha256,
      path: 'reference/labels.csv',
      mediaType: 'text/csv',
    });
    expect(bound.status).toBe(200);
    return id;
  }

  async function open(contractId: string, fields: object = {}, labels?: string): Promise<string> {
    const id = await draft(contractId, fields, labels);
    const opened = await ask(people.requester, 'POST', `/v1/problems/${id}/open`);
    expect(opened).toMatchObject({ status: 200, fields: { state: 'OPEN' } });
    return id;
  }

  async function submit(problemId: string, who: Person = people.solver) {
    const sha256 = await upload(who, { 'out/answer.json': ANSWER });
    return ask(who, 'POST', `/v1/problems/${problemId}/entries`, {
      files: { package: sha256, artifacts: [{ role: 'answer', path: 'out/answer.json' }] },
    });
  }

  /** What a worker does with the sandbox stage that a check waits for. */
  async function run(checkId: string, end: StageEnd): Promise<void> {
    const task = await database.checkers.work.checkTask(checkId);
    if (task.kind !== 'run') throw new Error(`expected a stage to run, got ${task.kind}`);
    const decision = await database.checkers.work.decideCheck(checkId, {
      kind: 'seal',
      attempt: task.attempt,
      end,
      program: {
        implementationId: task.implementation.id,
        digest: task.implementation.programDigest,
        image: null,
      },
    });
    if (decision.kind === 'refused') throw decision.error;
  }

  return { upload, publish, conform, draft, open, submit, run };
}

export const inDays = (days: number): string =>
  new Date(Date.now() + days * 86_400_000).toISOString();
