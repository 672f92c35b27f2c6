import { Sha256HexSchema } from '@kervyxa/core';
import { z } from 'zod';

import { commandOf, issueWith, limitOf, textOf, workspacePathOf } from './schema-parts.ts';

const CRITERION_BASE = {
  /** Unique in the contract; names log files and steps, hence the narrow alphabet. */
  id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'expected 1 to 64 of a-z, 0-9 and -'),
  title: textOf(200),
  /** `hidden` criteria see the verifier package and show a solver only their reason code. */
  visibility: z.enum(['public', 'hidden']),
  timeoutSeconds: limitOf('timeoutSeconds'),
};

const ExitCodeCriterionSchema = z.strictObject({
  ...CRITERION_BASE,
  type: z.literal('exit_code'),
  command: commandOf(),
  expectedExitCode: limitOf('expectedExitCode').default(0),
});

const FileAssertionSchema = z.discriminatedUnion('op', [
  z.strictObject({ op: z.literal('exists') }),
  z.strictObject({ op: z.literal('absent') }),
  /** Of the file's bytes. */
  z.strictObject({ op: z.literal('sha256'), value: Sha256HexSchema }),
  /** The whole file as UTF-8, byte for byte. */
  z.strictObject({ op: z.literal('equals'), value: textOf(65_536, { min: 0 }) }),
  z.strictObject({ op: z.literal('contains'), value: textOf(65_536) }),
  /** An RE2 pattern, found anywhere in the file; see `compileLinearRegex`. */
  z.strictObject({ op: z.literal('matches'), value: textOf(1_024) }),
]);
export type FileAssertion = z.infer<typeof FileAssertionSchema>;

const FileAssertionCriterionSchema = z.strictObject({
  ...CRITERION_BASE,
  type: z.literal('file_assertion'),
  command: commandOf(),
  path: workspacePathOf(),
  assertion: FileAssertionSchema,
});

/** Numbers that the runner takes of a file that the command leaves behind, at `path`. */
export const ARTIFACT_SOURCES = ['artifact_bytes', 'artifact_lines'] as const;
/** Work counted by a harness in the runtime image. */
export const COUNTED_SOURCES = [
  'node_block_count',
  'node_peak_heap_bytes',
  'python_opcode_count',
  'python_peak_bytes',
  'instructions',
] as const;
export type CountedSource = (typeof COUNTED_SOURCES)[number];
export const METRIC_SOURCES = [
  'marker',
  ...ARTIFACT_SOURCES,
  'peak_memory_bytes',
  ...COUNTED_SOURCES,
] as const;
export const MetricSourceSchema = z.enum(METRIC_SOURCES);
export type MetricSource = z.infer<typeof MetricSourceSchema>;

export const METRIC_OPS = ['lt', 'lte', 'gt', 'gte', 'eq'] as const;
/** How people write each. */
export const METRIC_SIGNS = { lt: '<', lte: '<=', gt: '>', gte: '>=', eq: '=' } as const;

/** Whole numbers beyond 2^53 are rounded when read, so that the contract would say another than its file. */
function isExact(value: number): boolean {
  return !Number.isInteger(value) || Number.isSafeInteger(value);
}

const MetricSchema = z.strictObject({
  name: textOf(100),
  unit: textOf(64),
  op: z.enum(METRIC_OPS),
  threshold: z.number().refine(isExact, 'expected a number of at most 2^53 - 1'),
  /** Largest difference between two runs of one commit that proving accepts, in `unit`. */
  tolerance: z.number().min(0).default(0),
});
export type Metric = z.infer<typeof MetricSchema>;

function isArtifactSource(source: MetricSource): boolean {
  return (ARTIFACT_SOURCES as readonly MetricSource[]).includes(source);
}

/** Whether a harness of ours counts the work, with the code under test as its child. */
export function isCountedSource(source: MetricSource): source is CountedSource {
  return (COUNTED_SOURCES as readonly MetricSource[]).includes(source);
}

const BenchmarkCriterionSchema = z
  .strictObject({
    ...CRITERION_BASE,
    type: z.literal('benchmark'),
    command: commandOf(),
    source: MetricSourceSchema.default('marker'),
    /** The measured file; given for the artifact sources, null for the others. */
    path: workspacePathOf().nullable().default(null),
    /**
     * SHA-256 of everything that the command must print on stdout: work is counted only of a run that gave this answer.
     * Wanted with the counted sources (ANSWER_NOT_PINNED), null for the others.
     */
    stdoutSha256: Sha256HexSchema.nullable().default(null),
    /**
     * `token`: the harness finds one line on stdin, a token made for this run, and the last line that it prints must be
     * `KERVYXA_DONE=<token>`. For source marker only.
     */
    completion: z.enum(['none', 'token']).default('none'),
    metric: MetricSchema,
  })
  .superRefine(({ source, path, stdoutSha256, completion, metric }, context) => {
    if (isArtifactSource(source) !== (path !== null)) {
      const wanted = path === null ? 'the path of the file to measure' : 'no path';
      issueWith(context, 'SCHEMA_INVALID', `expected ${wanted} with source ${source}`, ['path']);
    }
    if (stdoutSha256 !== null && !isCountedSource(source)) {
      const message = `expected no stdoutSha256 with source ${source}, which counts no work`;
      issueWith(context, 'SCHEMA_INVALID', message, ['stdoutSha256']);
    }
    if (completion === 'token' && source !== 'marker') {
      const message = `expected completion none with source ${source}, whose number the runner takes`;
      issueWith(context, 'SCHEMA_INVALID', message, ['completion']);
    }
    // The kernel's number moves by some percent from run to run (PERF §7): without a tolerance it can't be proved.
    if (source === 'peak_memory_bytes' && metric.tolerance === 0) {
      const message = 'expected a tolerance above 0 with source peak_memory_bytes';
      issueWith(context, 'SCHEMA_INVALID', message, ['metric', 'tolerance']);
    }
  });

const RegressionCriterionSchema = z.strictObject({
  ...CRITERION_BASE,
  type: z.literal('regression'),
  command: commandOf(),
});

/** The file of the judge that holds what the probe printed, beside the outputs. */
const PROBE_STDOUT = 'stdout';

/** Files of the workspace that the judge gets, each under its own path: none twice, and none where a folder must be. */
const ProbeOutputsSchema = z
  .array(workspacePathOf())
  .max(64)
  .superRefine((outputs, context) => {
    const taken = [PROBE_STDOUT];
    for (const [index, path] of outputs.entries()) {
      const other = taken.find((each) => clash(each, path));
      if (other !== undefined) {
        const message =
          other === PROBE_STDOUT
            ? 'expected another name than stdout, which holds what the probe printed'
            : `expected outputs that can lie beside each other, got ${path} and ${other}`;
        issueWith(context, 'SCHEMA_INVALID', message, [index]);
      }
      taken.push(path);
    }
  });

function clash(left: string, right: string): boolean {
  return left === right || left.startsWith(`${right}/`) || right.startsWith(`${left}/`);
}

const JudgeProbeCriterionSchema = z.strictObject({
  ...CRITERION_BASE,
  type: z.literal('judge_probe'),
  /** Runs the solver's code, with the folder `probe/` of the hidden package and nothing else of it. */
  probe: z.strictObject({ command: commandOf(), outputs: ProbeOutputsSchema }),
  /** Runs in a container without the solver's code, with the whole package and what the probe left. */
  judge: z.strictObject({ command: commandOf() }),
});

/** Files of the commit by the role that each fills; the rules of roles are those of checker packages. */
const CheckerArtifactsSchema = z
  .array(
    z.strictObject({
      role: z
        .string()
        .max(40)
        .regex(/^[a-z0-9]+(_[a-z0-9]+)*$/, 'expected words of a-z and 0-9 joined by _'),
      path: workspacePathOf(),
    }),
  )
  .max(10)
  .superRefine((artifacts, context) => {
    for (const [index, { role }] of artifacts.entries()) {
      if (artifacts.findIndex((other) => other.role === role) === index) continue;
      const message = `expected every role once, got ${role} again`;
      issueWith(context, 'SCHEMA_INVALID', message, [index, 'role']);
    }
  });

const CheckerCriterionSchema = z.strictObject({
  ...CRITERION_BASE,
  type: z.literal('checker'),
  checker: z
    .strictObject({
      /** Digest of the checker package. */
      sha256: Sha256HexSchema,
      /** `name@sha256:…`: what runs its program, as approval freezes it. Null: what the catalogue says, or the image that is named. */
      runtime: z
        .string()
        .max(512)
        .regex(/^[a-z0-9][a-z0-9._/:-]*@sha256:[0-9a-f]{64}$/, 'expected name@sha256:…')
        .nullable()
        .default(null),
    })
    .nullable()
    .default(null),
  /** Name of the one sandbox stage of it that is run. */
  stage: textOf(64),
  artifacts: CheckerArtifactsSchema.default([]),
  /** A file of the commit whose text is the answer in words; null: none is given. */
  summary: workspacePathOf().nullable().default(null),
});

export const CriterionSchema = z.discriminatedUnion('type', [
  ExitCodeCriterionSchema,
  FileAssertionCriterionSchema,
  BenchmarkCriterionSchema,
  RegressionCriterionSchema,
  JudgeProbeCriterionSchema,
  CheckerCriterionSchema,
]);
export type Criterion = z.infer<typeof CriterionSchema>;
export type CriterionType = Criterion['type'];
