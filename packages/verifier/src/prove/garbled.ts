import type { Contract, Finding } from '@kervyxa/contract';
import pLimit from 'p-limit';
import { type CheckerCriterion, fitChecker } from '../checker-fit.ts';
import { gradeJudging } from '../grade-judging.ts';
import { toInfraReason } from '../infra.ts';
import { PROBE_BYTES_MAX, PROBE_FILE_BYTES_MAX } from '../probe-output.ts';
import { type CriterionResult, toNotRun, toResult } from '../result.ts';
import { askChecker, SUMMARY_BYTES_MAX, toArtifact } from '../run-checkers.ts';
import { type JudgeProbe, runJudge } from '../run-criterion.ts';
import { toLimits } from '../trial.ts';
import { gradeVerdict, toReasons } from '../verdict.ts';
import { type ColumnBench, type ColumnHead, type JudgedColumn, toBroken } from './column.ts';
import { createLogTails, toEvidence } from './evidence.ts';
import { sayReason, toFinding } from './findings.ts';
import { isUndecided } from './report.ts';

/** Output that is no answer to anything, and that any solver's code can leave in the place of one. */
interface Garble {
  readonly title: string;
  /** `bytesMax`: as much as a judge is given at that place. */
  readonly contentOf: (bytesMax: number) => Uint8Array;
}

/** Characters that a checker takes as an answer in words. */
const SUMMARY_LENGTH_MAX = 10_000;
const BYTES = Uint8Array.from({ length: 65_536 }, (_, index) => index % 256);
const NESTING = 100_000;
const ITEMS = 1_000;
/** More than Python reads as a whole number, and than a double holds. */
const DIGITS = 5_000;

export const GARBLES: readonly Garble[] = [
  { title: 'nothing', contentOf: () => new Uint8Array() },
  { title: 'bytes that are no text', contentOf: (bytesMax) => BYTES.subarray(0, bytesMax) },
  {
    title: `${NESTING} lists in one another`,
    contentOf: (bytesMax) => {
      const depth = Math.min(NESTING, Math.floor(bytesMax / 2));
      return Buffer.from('['.repeat(depth) + ']'.repeat(depth));
    },
  },
  // Read without a complaint, and without any property or item: nothing can be asked of it.
  { title: 'null', contentOf: () => Buffer.from('null') },
  { title: 'a list of nulls', contentOf: () => Buffer.from(`[${'null,'.repeat(ITEMS)}null]`) },
  {
    title: `a list of a number of ${DIGITS} digits`,
    contentOf: () => Buffer.from(`[${'7'.repeat(DIGITS)}]`),
  },
  {
    title: 'as much as may be left, as a list of millions',
    contentOf: (bytesMax) => {
      const count = Math.max(0, Math.floor((bytesMax - 4) / 3));
      return Buffer.from(`[${'{},'.repeat(count)}{}]`).subarray(0, bytesMax);
    },
  },
];

function isJudgeProbe(criterion: Contract['criteria'][number]): criterion is JudgeProbe {
  return criterion.type === 'judge_probe';
}

/** What is garbled, in words; null where a contract has neither judge nor checker. */
export function garbledOf({ criteria }: Contract): string | null {
  if (criteria.some(isJudgeProbe)) return 'Every probe leaving';
  return criteria.some(({ type }) => type === 'checker') ? 'Every artifact being' : null;
}

/**
 * Hands one kind of garbled output to every judge and checker of the contract; nothing of a solver's runs. Throws
 * VERIFIER_PROVING_BROKEN.
 */
export async function judgeGarbled(
  bench: ColumnBench,
  head: ColumnHead,
  { garble, image }: { readonly garble: Garble; readonly image: string },
): Promise<JudgedColumn> {
  const { contract, signal } = bench;
  const logs = createLogTails();
  const criteria: CriterionResult[] = [];
  try {
    for (const criterion of contract.criteria) {
      criteria.push(await judgeOne(bench, criterion, { garble, image, onEvent: logs.onEvent }));
    }
  } catch (error) {
    throw toBroken(head.title, [toInfraReason(error, null, signal)], error);
  }
  const judged = criteria.filter(({ status }) => status !== 'not_run');
  const [verdict, reasons] = [gradeVerdict(judged), toReasons(judged)];
  return { column: { ...head, verdict, reasons, criteria, diff: null }, logs, imageDigest: image };
}

interface GarbledRun {
  readonly garble: Garble;
  readonly image: string;
  readonly onEvent: JudgedColumn['logs']['onEvent'];
}

async function judgeOne(
  bench: ColumnBench,
  criterion: Contract['criteria'][number],
  run: GarbledRun,
): Promise<CriterionResult> {
  if (criterion.type === 'checker') return checkGarbled(bench, criterion, run);
  return isJudgeProbe(criterion) ? judgeProbe(bench, criterion, run) : toNotRun(criterion);
}

async function checkGarbled(
  { deps, checkers, signal }: ColumnBench,
  criterion: CheckerCriterion,
  { garble, onEvent }: GarbledRun,
): Promise<CriterionResult> {
  const fit = fitChecker(criterion, checkers);
  if (fit.kind !== 'fits') return toNotRun(criterion);
  const { required_artifacts: required } = fit.package.contract.submission_requirements;
  const contentFor = (role: string): Uint8Array => {
    const bytesMax = required.find((each) => each.role === role)?.max_bytes ?? 0;
    return garble.contentOf(Math.min(bytesMax, PROBE_FILE_BYTES_MAX));
  };
  const artifacts = criterion.artifacts.map(({ role, path }) => ({
    ...toArtifact(path, contentFor(role)),
    role,
  }));
  const text = Buffer.from(garble.contentOf(SUMMARY_BYTES_MAX)).toString();
  const summaryText = criterion.summary === null ? null : text.slice(0, SUMMARY_LENGTH_MAX);
  const submission = { artifacts, summaryText };
  const asked = { criterion, checker: fit.package, submission };
  return askChecker({ ...deps, onEvent }, asked, signal);
}

async function judgeProbe(
  { deps, contract, verifierPackage, signal }: ColumnBench,
  criterion: JudgeProbe,
  { garble, image, onEvent }: GarbledRun,
): Promise<CriterionResult> {
  const limits = toLimits(contract);
  const stepId = `criterion:${criterion.id}`;
  const run = () =>
    runJudge(
      {
        openSession: (parts) => deps.sandbox.openSession({ image, limits, ...parts }, signal),
        verifierPackage,
        running: pLimit(1),
        onStart: () => undefined,
        onOutput: (stream, chunk) => onEvent({ kind: 'output', stepId, attempt: 1, stream, chunk }),
        signal,
      },
      criterion,
      garbledOutput(criterion, limits.outputBytes, garble),
    );
  const first = await deps.gate.beside(run, signal);
  const outcome = first.timedOut ? await deps.gate.alone(run, signal) : first;
  const grade = gradeJudging({ kind: 'judged', outcome }, criterion.timeoutSeconds);
  const nothing = { isComplete: null, file: null, count: null, judging: null };
  return toResult(criterion, { outcome, metric: { kind: 'none' }, ...nothing }, grade);
}

/** The same in every place, within what a probe may print and leave. */
function garbledOutput(
  { probe }: JudgeProbe,
  outputBytes: number,
  { contentOf }: Garble,
): Map<string, Uint8Array> {
  const stdout = contentOf(Math.min(outputBytes, PROBE_FILE_BYTES_MAX));
  const left = Math.floor((PROBE_BYTES_MAX - stdout.length) / Math.max(1, probe.outputs.length));
  const content = contentOf(Math.min(left, PROBE_FILE_BYTES_MAX));
  return new Map([['stdout', stdout], ...probe.outputs.map((path) => [path, content] as const)]);
}

/**
 * CHEAT_PASSES of a judge or checker that takes such output for an answer, CONTRACT_BROKEN of one that breaks on it. A
 * checker may as well leave it undecided.
 */
export function gradeGarbled({ criteria }: Contract, { column, logs }: JudgedColumn): Finding[] {
  return criteria.flatMap(({ id, type }, index) => {
    const result = column.criteria[index];
    const [name, place] = type === 'checker' ? ['checker', 'checker'] : ['judge', 'judge/command'];
    const pointer = `/criteria/${index}/${place}`;
    if (result?.status === 'pass') {
      return [
        toFinding('CHEAT_PASSES', pointer, {
          message: `expected the ${name} of ${id} to refute output that is no answer, got a pass: ${column.title}`,
          fix: `Let the ${name} ask for the whole answer, and for something that only work done to its end has, instead of looking for what is wrong.`,
          evidence: toEvidence(logs.tailOf(`criterion:${id}`)),
        }),
      ];
    }
    if (result?.status !== 'inconclusive' || isUndecided(result.reason)) return [];
    return [
      toFinding('CONTRACT_BROKEN', pointer, {
        message: `expected the ${name} of ${id} to refute output that is no answer, got a ${name} that breaks on it: ${column.title}`,
        fix: `Let the ${name} ${type === 'checker' ? 'say refuted or inconclusive of' : 'leave with 1 for'} whatever it can not read: look at the size first, and read inside of try. A solver could leave such output to be neither paid nor refused.`,
        evidence: toEvidence(
          ...column.reasons.filter(({ subject }) => subject === id).map(sayReason),
          logs.tailOf(`criterion:${id}`),
        ),
      }),
    ];
  });
}
