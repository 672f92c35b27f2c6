import type { CheckerPackage } from '@kervyxa/checker';
import { canonicalJson, sha256Hex } from '@kervyxa/core';
import type { FakeBehaviour, FakeCommand, FakeView } from '@kervyxa/sandbox/fake';

/** What the fake is asked to run for every script of a package. */
export const CHECKER_COMMAND = 'python3 /input/checker/checker.py';
export const PYTHON_IMAGE = `sha256:${'2'.repeat(64)}`;

const RIGHT = '42\n';
const WRONG = '41\n';

/** A package with one script stage `answer`, whose artifact `answer` is to be 42; other parts as given. */
export function checkerPackage({
  contract,
  ...parts
}: Partial<Omit<CheckerPackage, 'contract'>> & {
  readonly contract?: Partial<CheckerPackage['contract']>;
} = {}): CheckerPackage {
  const terms: CheckerPackage['contract'] = {
    title: 'The answer',
    statement_md: 'Verified when the answer is 42.',
    reference_inputs: [],
    stages: [
      {
        key: 'answer',
        kind: 'sandbox',
        title: 'Answer',
        description_md: 'Looks at the answer.',
        evidence_schema: null,
        review_protocol_id: null,
        rule_owner: null,
        acceptance: null,
        external_system: null,
      },
    ],
    submission_requirements: {
      accepts_text_only: false,
      answer_format_md: null,
      required_artifacts: [
        { role: 'answer', description: 'The answer.', media_types: [], max_bytes: 10_000 },
      ],
    },
    result_kind: 'pass_fail',
    score: null,
    conformance_fixtures: [fixture('right', 'verified', RIGHT), fixture('wrong', 'refuted', WRONG)],
    ...contract,
  };
  return {
    digest: sha256Hex(canonicalJson(terms)),
    contract: terms,
    contractId: null,
    verifierId: null,
    versionNumber: null,
    reviewProtocol: null,
    programs: new Map([
      [
        'answer',
        {
          kind: 'script',
          filename: 'checker.py',
          content: Buffer.from('# scripted'),
          digest: `sha256:${'9'.repeat(64)}`,
          limits: { vcpu: 0.25, memoryMb: 1_024, diskMb: 64, timeoutSeconds: 120 },
        },
      ],
    ]),
    reference: new Map(),
    fixtureFiles: new Map(
      [RIGHT, WRONG].map((text) => [`sha256:${sha256Hex(text)}`, Buffer.from(text)]),
    ),
    ...parts,
  };
}

function fixture(key: string, expected: 'verified' | 'refuted', text: string) {
  return {
    key,
    stage_key: 'answer',
    description: `One that is ${expected}.`,
    inputs: {
      reference: {},
      artifacts: [
        {
          role: 'answer',
          filename: `${key}.txt`,
          content_hash: `sha256:${sha256Hex(text)}`,
          size_bytes: Buffer.byteLength(text),
        },
      ],
      summary_text: null,
    },
    expected_result: expected,
    expected_score: null,
  };
}

/** The text of the artifact with that role, as the program sees it. */
export function artifactIn({ input }: FakeView, role: string): string {
  const path = [...input.keys()].find((each) => each.startsWith(`artifacts/${role}/`)) ?? '';
  return Buffer.from((input.get(path) ?? '') as string).toString();
}

/** What a program that comes to an answer does. */
export function says(result: object): FakeBehaviour {
  return { writes: { 'result.json': JSON.stringify(result) } };
}

/** The program of the package. */
export const tellsWhether42: FakeCommand = (view) =>
  says({ result: artifactIn(view, 'answer') === RIGHT ? 'verified' : 'refuted', reason: 'looked' });
