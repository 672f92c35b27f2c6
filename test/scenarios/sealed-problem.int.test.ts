import { packTree, sha256Hex, type TreeEntry } from '@kervyxa/core';
import { parsePublicKeys, verifyEnvelope } from '@kervyxa/evidence';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openStage, type Stage } from '../../demo/life/stage.ts';

// A contract with a stage of each kind, on real parts: kervyxa as an operator starts it, containers, HTTP.

const PATIENCE = { timeout: 60_000, interval: 100 };
const { signal } = new AbortController();

/** What nobody but the owner may read before its release. */
const LABELS = 'cat cow dog\n';
const RIGHT = 'cat cow dog\n';
const WRONG = 'cat cow cat\n';
const EXAMPLE = 'ant bee\n';

const CHECKER = `import json
m = json.load(open('/input/manifest.json'))
labels = open(m['reference'][0]['path']).read()
answer = open(m['artifacts'][0]['path']).read()
json.dump({'result': 'verified' if answer == labels else 'refuted'}, open('/output/result.json', 'w'))
`;
const PROTOCOL = {
  title: 'Was it labelled by hand?',
  instructions_md: 'Accept what somebody can have done by hand.',
  judges: { roles: ['arbiter', 'challenger'], people: [] },
  nodes: [{ key: 'readers', reducer: { kind: 'k_of_n', k: 2, n: 2 } }],
};

function fixture(key: string, answer: string, expected: string) {
  const file = (filename: string, text: string) => ({
    filename,
    content_hash: `sha256:${sha256Hex(text)}`,
    size_bytes: text.length,
  });
  return {
    key,
    stage_key: 'labels',
    description: `An answer that is ${expected}.`,
    inputs: {
      reference: { labels: file('labels.txt', EXAMPLE) },
      artifacts: [{ role: 'answer', ...file(`${key}.txt`, answer) }],
    },
    expected_result: expected,
  };
}

const CONTRACT = {
  title: 'Labels of held-out pictures',
  statement_md:
    'Verified when the labels are right, two people accept them, and the museum took them.',
  reference_inputs: [
    {
      key: 'labels',
      required: true,
      sealed: true,
      media_types: [],
      max_bytes: 1_000,
      description: 'The right labels.',
    },
  ],
  stages: [
    {
      key: 'labels',
      kind: 'sandbox',
      title: 'Labels',
      description_md: 'Compares with the right ones.',
      implementation: './checker.py',
      reference_input_slots: ['labels'],
      limits: { vcpu: 1, memory_mb: 128, disk_mb: 8, timeout_seconds: 60 },
    },
    {
      key: 'reading',
      kind: 'review',
      title: 'Reading',
      description_md: 'People read them.',
      review_protocol_id: './review-protocol.json',
    },
    {
      key: 'museum',
      kind: 'external',
      title: 'Museum',
      description_md: 'The museum took them.',
      rule_owner: 'contract',
      external_system: 'The museum',
      evidence_schema: { type: 'object', required: ['status'] },
      acceptance: { field: '/status', op: 'eq', value: 'taken' },
    },
  ],
  submission_requirements: {
    accepts_text_only: false,
    required_artifacts: [
      { role: 'answer', description: 'The labels.', media_types: [], max_bytes: 1_000 },
    ],
  },
  result_kind: 'pass_fail',
  conformance_fixtures: [
    fixture('right', EXAMPLE, 'verified'),
    fixture('wrong', 'ant ant\n', 'refuted'),
  ],
};

const PACKAGE = {
  'checker.py': CHECKER,
  'fixtures/labels.txt': EXAMPLE,
  'fixtures/right.txt': EXAMPLE,
  'fixtures/wrong.txt': 'ant ant\n',
  'review-protocol.json': JSON.stringify(PROTOCOL),
  'verifier-contract.json': JSON.stringify(CONTRACT),
};

interface Answer {
  readonly status: number;
  readonly text: string;
  /** Of an object; none of anything else. */
  readonly fields: Readonly<Record<string, unknown>>;
}
type Ask = (method: string, path: string, body?: unknown) => Promise<Answer>;

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ fixtures: [], signal, log: () => undefined });
});
afterAll(() => stage.close());

/** Requests with somebody's key. Bytes are sent as an archive. */
function personOf(apiKey: string): Ask {
  return async (method, path, body = {}) => {
    const isArchive = body instanceof Uint8Array;
    const response = await fetch(`${stage.origin}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': isArchive ? 'application/x-tar' : 'application/json',
      },
      ...(method !== 'GET' && { body: isArchive ? Buffer.from(body) : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    const fields: Answer['fields'] = isJson ? JSON.parse(text) : {};
    return { status: response.status, text, fields };
  };
}

async function hire(name: string, roles: readonly string[]): Promise<Ask> {
  const operator = personOf(stage.operatorKey);
  const { fields } = await operator('POST', '/v1/principals', { name, roles });
  return personOf(String(fields['apiKey']));
}

/** The digest of an uploaded folder. */
async function upload(who: Ask, files: Readonly<Record<string, string>>): Promise<string> {
  const entries = async function* (): AsyncGenerator<TreeEntry> {
    for (const [path, text] of Object.entries(files)) {
      const content = Buffer.from(text);
      yield { type: 'file', path, executable: false, size: content.length, content };
    }
  };
  const tar = Buffer.concat(await Array.fromAsync(packTree(entries(), signal)));
  const { status, fields } = await who('POST', '/v1/packages', tar);
  expect(status).toBe(201);
  return String(fields['sha256']);
}

/** The id of the check of a new entry. */
async function submit(who: Ask, problemId: string, answer: string): Promise<string> {
  const files = {
    package: await upload(who, { 'answer.txt': answer }),
    artifacts: [{ role: 'answer', path: 'answer.txt' }],
  };
  const { status, fields } = await who('POST', `/v1/problems/${problemId}/entries`, { files });
  expect(status).toBe(201);
  return String(fields['checkId']);
}

function claim(who: Ask, checkId: string): Promise<Answer> {
  return who('POST', `/v1/checks/${checkId}/seats`, { node: 'readers' });
}

async function accept(who: Ask, checkId: string): Promise<Answer> {
  const { status, fields } = await claim(who, checkId);
  expect(status).toBe(201);
  const judgment = { judgment: 'accept', statement: 'I could have done it.' };
  const seat = `/v1/checks/${checkId}/seats/${String(fields['id'])}`;
  return who('POST', `${seat}/judgment`, judgment);
}

function becomes(who: Ask, path: string, wanted: object): Promise<Answer> {
  return vi.waitFor(async () => {
    const answer = await who('GET', path);
    expect(answer.fields).toMatchObject(wanted);
    return answer;
  }, PATIENCE);
}

// Keeps R-SEALED-BYTES, R-CHECKER-CURRENT.
it('a sealed problem goes through sandbox, review and a system outside, and tells nobody its labels before their release', async () => {
  const rita = await hire('rita', ['requester', 'arbiter']);
  const sam = await hire('sam', ['solver', 'challenger']);
  const ann = await hire('ann', ['arbiter']);
  const ben = await hire('ben', ['challenger']);
  const operator = personOf(stage.operatorKey);

  // Published, and tried on its fixtures by a worker.
  const published = await rita('POST', '/v1/checkers', {
    package: await upload(rita, PACKAGE),
    name: 'Pictures',
  });
  expect(published.status).toBe(201);
  const contractId = String(published.fields['id']);
  await becomes(rita, `/v1/checkers/${contractId}/implementations`, {
    items: [{ state: 'CONFORMANT', isCurrent: true }],
  });

  // A problem whose labels are sealed.
  const inTenDays = new Date(Date.now() + 10 * 86_400_000).toISOString();
  const drafted = await rita('POST', '/v1/problems', {
    contractId,
    title: 'Pictures',
    statement: 'Label them.',
    sealing: { sealed_until: inTenDays, submission_limit: 5 },
  });
  const problem = `/v1/problems/${String(drafted.fields['id'])}`;
  const labels = `${problem}/inputs/labels`;
  await rita('PUT', labels, {
    kind: 'file',
    package: await upload(rita, { 'labels.txt': LABELS }),
    path: 'labels.txt',
  });
  expect(await rita('POST', `${problem}/open`)).toMatchObject({ status: 200 });
  const problemId = String(drafted.fields['id']);

  // The worker compares; whoever submits, or judges, may not.
  const wrong = await submit(sam, problemId, WRONG);
  const right = await submit(sam, problemId, RIGHT);
  await becomes(sam, `/v1/checks/${wrong}`, { state: 'REFUTED' });
  await becomes(sam, `/v1/checks/${right}`, { state: 'WAITING_REVIEW' });
  for (const who of [sam, ann, ben]) {
    expect(await who('GET', labels)).toMatchObject({ status: 404 });
    for (const path of [problem, `/v1/checks/${wrong}`, `${problem}/checks`, '/v1/reviews']) {
      const { text } = await who('GET', path);
      expect(text).not.toContain(LABELS.trim());
      expect(text).not.toContain(sha256Hex(LABELS));
    }
  }

  // Two judges; the solver has the role, and so has the owner, and neither gets a seat.
  const waiting = { items: [{ checkId: right, node: 'readers' }] };
  expect((await ann('GET', '/v1/reviews')).fields).toMatchObject(waiting);
  for (const excluded of [sam, rita]) {
    expect((await excluded('GET', '/v1/reviews')).fields).toMatchObject({ items: [] });
    expect((await claim(excluded, right)).status).toBe(403);
  }
  await accept(ann, right);
  expect((await claim(ann, right)).status).toBe(409);
  expect((await accept(ben, right)).fields).toMatchObject({ state: 'WAITING_EXTERNAL' });

  // The museum's own opinion is only a finding; the contract's rule decides on what it reports.
  const report = { stage: 'museum', result: 'refuted', evidence: { status: 'taken' } };
  const reported = await operator('POST', `/v1/checks/${right}/reports`, report);
  expect(reported.fields).toMatchObject({ state: 'VERIFIED' });
  const ended = await becomes(rita, `/v1/checks/${right}`, {
    evaluation: {
      passed: true,
      checks: [
        { 'check/ref': 'labels', status: 'passed' },
        { 'check/ref': 'reading', status: 'passed' },
        { 'check/ref': 'museum', status: 'passed' },
      ],
    },
  });
  const keys = await personOf('')('GET', '/.well-known/kervyxa-keys.json');
  const { statement } = verifyEnvelope(
    Buffer.from(JSON.stringify(ended.fields['attestation'])),
    parsePublicKeys(keys.text),
    { subject: sha256Hex(RIGHT), policyDigest: String(published.fields['digest']) },
  );
  expect(statement.predicate.verificationResult).toBe('PASSED');

  // Released early, by two steps.
  const { fields: release } = await rita('GET', `${problem}/release`);
  const { fingerprint } = release;
  expect(await rita('POST', `${problem}/release`, { fingerprint })).toMatchObject({ status: 200 });
  expect(await sam('GET', labels)).toMatchObject({ status: 200, text: LABELS });
});
