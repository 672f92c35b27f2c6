import { canonicalJson, sha256Hex } from '@kervyxa/core';
import type { ContractTerms, Fixture, SandboxStage } from '../contract/schema.ts';
import type { CheckerPackage, InputFile, StageProgram } from '../package/checker-package.ts';
import type { CheckSubmission } from '../run/stage-end.ts';

export const STAGE_KEY = 'answer';

const LIMITS = { vcpu: 1, memoryMb: 256, diskMb: 16, timeoutSeconds: 30 };

export interface PackageParts {
  readonly contract?: Partial<ContractTerms>;
  readonly stage?: Partial<SandboxStage>;
  readonly limits?: Partial<typeof LIMITS>;
  readonly program?: Partial<StageProgram>;
  readonly fixtureFiles?: readonly string[];
}

/** A package with one script stage that reads an artifact `answer`; other parts as given. */
export function scriptPackage(script: string, parts: PackageParts = {}): CheckerPackage {
  const contract: ContractTerms = {
    title: 'The answer',
    statement_md: 'Verified when the answer is right.',
    reference_inputs: [],
    stages: [
      {
        key: STAGE_KEY,
        kind: 'sandbox',
        title: 'Answer',
        description_md: 'Looks at the answer.',
        evidence_schema: null,
        review_protocol_id: null,
        rule_owner: null,
        acceptance: null,
        external_system: null,
        ...parts.stage,
      },
    ],
    submission_requirements: {
      accepts_text_only: false,
      answer_format_md: null,
      required_artifacts: [
        { role: 'answer', description: 'The answer.', media_types: [], max_bytes: 1_000 },
      ],
    },
    result_kind: 'pass_fail',
    score: null,
    conformance_fixtures: [],
    ...parts.contract,
  };
  const program = {
    kind: 'script',
    filename: 'checker.py',
    content: Buffer.from(script),
    digest: `sha256:${sha256Hex(script)}`,
    limits: { ...LIMITS, ...parts.limits },
    ...parts.program,
  } as StageProgram; // The parts that a test changes make one kind of them.
  const files = parts.fixtureFiles ?? [];
  return {
    digest: sha256Hex(canonicalJson({ contract, program: program.digest })),
    contract,
    contractId: null,
    verifierId: null,
    versionNumber: null,
    reviewProtocol: null,
    programs: new Map([[STAGE_KEY, program]]),
    reference: new Map(),
    fixtureFiles: new Map(files.map((text) => [`sha256:${sha256Hex(text)}`, Buffer.from(text)])),
  };
}

export function inputFile(text: string, filename = 'answer.txt'): InputFile {
  return { filename, mediaType: null, content: Buffer.from(text) };
}

export function answerOf(text: string): CheckSubmission {
  return { artifacts: [{ role: 'answer', ...inputFile(text) }], summaryText: null };
}

/** A fixture whose artifact `answer` is the text. */
export function fixtureOf(
  key: string,
  expected: Fixture['expected_result'],
  text: string,
  score: number | null = null,
): Fixture {
  const file = {
    filename: `${key}.txt`,
    content_hash: `sha256:${sha256Hex(text)}`,
    size_bytes: Buffer.byteLength(text),
  };
  return {
    key,
    stage_key: STAGE_KEY,
    description: `An answer that is ${expected}.`,
    inputs: { reference: {}, artifacts: [{ role: 'answer', ...file }], summary_text: null },
    expected_result: expected,
    expected_score: score,
  };
}
