import { type Contract, ContractSchema } from '@kervyxa/contract';
import { helloContract } from '@kervyxa/contract/testing';
import { sha256Hex, type TreeArchive } from '@kervyxa/core';
import { fakeCommitId } from '@kervyxa/intake/fake';
import { testTree } from '../../packages/sandbox/src/testing/trees.ts';

/** What two worlds differ in, and in nothing else: all of it about the hidden criteria of the one contract. */
export interface Canary {
  /** In every name and word. */
  readonly word: string;
  readonly exitCode: number;
  readonly metric: number;
  readonly seconds: number;
  readonly outputBytes: number;
  readonly timeoutSeconds: number;
}

export const HIDDEN_IDS = [
  'h-asserts',
  'h-writes',
  'h-measures',
  'h-prints',
  'h-judges',
  'h-checks',
] as const;

/** A contract with a hidden criterion of each type, all of whose words and numbers are the canary's. */
export function hiddenContract(
  { word, exitCode, metric, timeoutSeconds }: Canary,
  digests: { readonly package: string; readonly checker: string },
): Contract {
  const run = (file: string): string => `node "$KERVYXA_VERIFIER_PACKAGE/${word}/${file}.mjs"`;
  const hidden = { visibility: 'hidden', timeoutSeconds } as const;
  const plain = helloContract(fakeCommitId('base'));
  const title = (what: string): string => `${word} ${what}`;
  return ContractSchema.parse({
    ...plain,
    submission: { ...plain.submission, privacy: 'PUBLIC_WITH_HIDDEN_VERIFIER' },
    criteria: [
      ...plain.criteria,
      {
        ...hidden,
        id: 'h-asserts',
        title: title('asserts'),
        type: 'exit_code',
        command: run('asserts'),
        expectedExitCode: exitCode,
      },
      {
        ...hidden,
        id: 'h-writes',
        title: title('writes'),
        type: 'file_assertion',
        command: run('writes'),
        path: `${word}.txt`,
        assertion: { op: 'equals', value: word },
      },
      {
        ...hidden,
        id: 'h-measures',
        title: title('measures'),
        type: 'benchmark',
        command: run('measures'),
        source: 'marker',
        metric: { name: word, unit: word, op: 'lte', threshold: metric, tolerance: 0 },
      },
      {
        ...hidden,
        id: 'h-prints',
        title: title('prints'),
        type: 'regression',
        command: run('prints'),
      },
      {
        ...hidden,
        id: 'h-judges',
        title: title('judges'),
        type: 'judge_probe',
        probe: { command: `sh hello.sh > ${word}.out; echo ${word}`, outputs: [`${word}.out`] },
        judge: {
          command: `cd "$KERVYXA_PROBE_OUTPUT" && grep -qx hello ${word}.out && echo ${word}`,
        },
      },
      {
        ...hidden,
        id: 'h-checks',
        title: title('checks'),
        type: 'checker',
        checker: { sha256: digests.checker },
        stage: toKey(word),
        artifacts: [{ role: toKey(word), path: 'hello.sh' }],
      },
    ],
    verifierPackage: { sha256: digests.package },
    acknowledgements: [{ code: 'CLOCK_IN_HARNESS', reason: `${word} does not settle anything` }],
    proof: [
      { commit: Buffer.from(word.padEnd(20, '.')).toString('hex').slice(0, 40), expected: 'PASS' },
    ],
  });
}

/** Each judges by what hello.sh says; the one that asserts shows its secret in a traceback. */
export function hiddenTree(canary: Canary): TreeArchive {
  const { word, exitCode, metric, seconds, outputBytes } = canary;
  const judge = [
    "import { spawnSync } from 'node:child_process';",
    "import { strictEqual } from 'node:assert';",
    "const { status } = spawnSync('sh', ['hello.sh']);",
  ].join('\n');
  const files = {
    asserts: `strictEqual(status, 0, '${word} asserts'); process.exit(${exitCode});`,
    writes: `import('node:fs').then(({ writeFileSync }) => writeFileSync('${word}.txt', status === 0 ? '${word}' : ''));`,
    measures: `console.log('KERVYXA_METRIC=' + (status === 0 ? ${metric} : ${metric} + 1)); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${seconds * 1_000});`,
    prints: `console.log('${word}'.padEnd(${outputBytes}, '.')); process.exitCode = status;`,
  };
  return testTree(
    Object.fromEntries([
      [word, { folder: true as const }],
      ...Object.entries(files).map(([name, text]) => [
        `${word}/${name}.mjs`,
        `${judge}\n${text}\n`,
      ]),
    ]),
  );
}

/** As stages and roles are called. */
function toKey(word: string): string {
  return word.toLowerCase();
}

/** A checker package for `h-checks`, which tells by its reason, its output and its time. */
export function checkerTree({ word, seconds, outputBytes }: Canary): TreeArchive {
  const key = toKey(word);
  const program = [
    'import json, time',
    "manifest = json.load(open('/input/manifest.json'))",
    "script = open(manifest['artifacts'][0]['path']).read()",
    `print('${word}'.ljust(${outputBytes}, '.'))`,
    `time.sleep(${seconds})`,
    "result = 'refuted' if 'exit 1' in script else 'verified'",
    `json.dump({'result': result, 'reason': '${word}'}, open('/output/result.json', 'w'))`,
    '',
  ].join('\n');
  const scripts = { verified: 'echo hello\n', refuted: 'exit 1\n' };
  const fixtures = Object.entries(scripts).map(([expected, text]) => ({
    key: expected,
    stage_key: key,
    description: word,
    inputs: {
      reference: {},
      artifacts: [
        {
          role: key,
          filename: `${expected}.sh`,
          content_hash: `sha256:${sha256Hex(text)}`,
          size_bytes: text.length,
        },
      ],
    },
    expected_result: expected,
  }));
  const contract = {
    title: word,
    statement_md: word,
    reference_inputs: [],
    stages: [
      {
        key,
        kind: 'sandbox',
        title: word,
        description_md: word,
        implementation: './checker.py',
        limits: { vcpu: 1, memory_mb: 128, disk_mb: 8, timeout_seconds: 60 },
      },
    ],
    submission_requirements: {
      accepts_text_only: false,
      required_artifacts: [{ role: key, description: word, media_types: [], max_bytes: 1_000 }],
    },
    result_kind: 'pass_fail',
    conformance_fixtures: fixtures,
  };
  return testTree({
    'verifier-contract.json': JSON.stringify(contract),
    'checker.py': program,
    fixtures: { folder: true },
    'fixtures/verified.sh': scripts.verified,
    'fixtures/refuted.sh': scripts.refuted,
  });
}
