import {
  type Contract,
  type Criterion,
  type Finding,
  type FindingCode,
  isOpen,
  METRIC_SIGNS,
  sortFindings,
} from '@kervyxa/contract';
import type { CommitSha, TreeArchive } from '@kervyxa/core';
import type { FetchedCommit } from '@kervyxa/intake';
import type { Checkers } from '../checker-fit.ts';
import { assertInputsFrozen, completeDeps, type VerifierDeps } from '../verify-commit.ts';
import { gradeCheat, gradeForgedMetrics, sayStyleOnly } from './cheat-findings.ts';
import { planCheats } from './cheats.ts';
import { proveCheckers } from './checkers.ts';
import {
  type ColumnBench,
  type ColumnHead,
  judgeColumn,
  type JudgedColumn,
  toBroken,
  toUnjudged,
  withFetched,
} from './column.ts';
import { GARBLES, garbledOf, gradeGarbled, judgeGarbled } from './garbled.ts';
import { gradeBase, gradeKnownBad, gradeProof, gradeReplays, lintProof } from './findings.ts';
import { toReplays } from './replays.ts';
import type { CriterionReplays, ProvingColumn, ProvingReport } from './report.ts';

export interface ProveRequest {
  /** Approved by lint. */
  readonly contract: Contract;
  readonly contractDigest: string;
  readonly verifierPackage: TreeArchive | null;
  readonly dependencies: TreeArchive | null;
  /** Checker packages by their digests; left out: none. */
  readonly checkers?: Checkers;
  /** How often each criterion runs on the known-good commit that is replayed, its proof included; at least 2. */
  readonly replays: number;
}

export type ProvingEvent =
  /** `total` may grow while the known-good commit is not known yet. */
  | {
      readonly kind: 'column_started';
      readonly title: string;
      readonly done: number;
      readonly total: number;
    }
  | { readonly kind: 'column_finished'; readonly column: ProvingColumn }
  | { readonly kind: 'replay_finished'; readonly done: number; readonly total: number };

export interface ProveOptions {
  readonly signal: AbortSignal;
  readonly onEvent?: (event: ProvingEvent) => void;
}

export const REPLAYS_DEFAULT = 3;
const PACKAGE_JSON_BYTES_MAX = 1_048_576;

/** The signature that the command line and the worker are written against. */
export type Prove = (
  deps: VerifierDeps,
  request: ProveRequest,
  options: ProveOptions,
) => Promise<ProvingReport>;

/**
 * Proves a contract that lint lets through: shows, in real containers, that it tells done from not done.
 *
 * 0. Checker packages must fit their criteria and give the results of their own fixtures, or nothing else is run.
 * 1. The base: some criterion must fail, regression must pass, and every command must come to an end there. A contract
 *    that is broken there is proved no further.
 * 2. Each commit of `proof` must get the verdict that it names, and a criterion refuse one of the known-bad ones. None
 *    needs a claim.
 * 3. Replays of the first known-good commit that passes must agree with one another. Where none passes, the first
 *    whose criteria ran is replayed: its replays tell a flaky criterion from a wrong reference.
 * 4. Commits that do not solve the task, made of base and known-good, must all fail, and by their printing meet no
 *    metric. They are made of what passes: a known-good commit that does not has its finding already.
 * 5. Every judge of a judge_probe must refute output that is no answer, and not break on it; no checker may verify it.
 *
 * Throws VERIFIER_PROVING_BROKEN where something of ours kept a column from being judged (a report never rests on
 * that), VERIFIER_PACKAGE_MISMATCH, VERIFIER_DEPENDENCIES_MISMATCH, INTAKE_URL_REFUSED of the base, and the signal's
 * reason after an abort; no container is left.
 */
export const proveContract: Prove = async (deps, request, options) => {
  assertInputsFrozen(request);
  const bench = createBench(deps, request, options);
  bench.findings.push(...lintProof(request.contract));

  bench.findings.push(...(await proveCheckers(bench)));
  if (bench.findings.some(({ code }) => OF_CHECKERS.has(code))) return toReport(bench);

  await proveBase(bench);
  if (bench.findings.some(({ code }) => code === 'CONTRACT_BROKEN')) return toReport(bench);

  const good = await proveProof(bench);
  if (good === null) {
    bench.notes.push(
      'No criterion ran on a known-good commit, so nothing was replayed and no cheat was tried.',
    );
    return toReport(bench);
  }
  await withFetched(bench, good, async (fetched) => {
    if (fetched.kind === 'stop') throw toBroken(good.judged.column.title, fetched.reasons);
    await proveReplays(bench, good.judged, fetched.value);
    if (passes(good)) {
      await proveCheats(bench, fetched.value);
      await proveJudges(bench, good.judged);
    } else bench.notes.push('No known-good commit passes, so no cheat was tried.');
  });
  return toReport(bench);
};

const OF_CHECKERS = new Set<FindingCode>(['CHECKER_UNFIT', 'CHECKER_NOT_CONFORMANT']);

/** What the steps work with, and what they add to. */
interface Bench extends ColumnBench {
  readonly request: ProveRequest;
  readonly onEvent: (event: ProvingEvent) => void;
  readonly judged: JudgedColumn[];
  readonly findings: Finding[];
  readonly notes: string[];
  replays: readonly CriterionReplays[];
  columnsTotal: number;
}

function createBench(
  deps: VerifierDeps,
  request: ProveRequest,
  { signal, onEvent = () => undefined }: ProveOptions,
): Bench {
  const { contract, verifierPackage, dependencies, checkers = new Map() } = request;
  return {
    deps: completeDeps(deps),
    contract: withoutClaim(contract),
    verifierPackage,
    dependencies,
    checkers,
    signal,
    request,
    onEvent,
    judged: [],
    findings: [],
    notes: [],
    replays: [],
    columnsTotal: 1 + contract.proof.length,
  };
}

/** A commit of proof is no submission: nobody has issued a token for it. */
function withoutClaim(contract: Contract): Contract {
  return { ...contract, submission: { ...contract.submission, claim: 'none' } };
}

async function addColumn(
  bench: Bench,
  { title }: ColumnHead,
  judge: () => Promise<JudgedColumn>,
): Promise<JudgedColumn> {
  const { onEvent, judged: before, columnsTotal } = bench;
  onEvent({ kind: 'column_started', title, done: before.length, total: columnsTotal });
  const judged = await judge();
  bench.judged.push(judged);
  onEvent({ kind: 'column_finished', column: judged.column });
  return judged;
}

async function proveBase(bench: Bench): Promise<void> {
  const { url, baseCommit } = bench.contract.repository;
  const head: ColumnHead = {
    id: 'base',
    kind: 'base',
    title: 'Base commit',
    commit: baseCommit,
    expected: null,
  };
  const asked = { repositoryUrl: url, commit: baseCommit };
  const judged = await addColumn(bench, head, () =>
    withFetched(bench, asked, async (fetched) => {
      if (fetched.kind === 'go') return judgeColumn(bench, head, fetched.value);
      // What ails the base itself is a finding; a server that does not answer is none.
      const isOfBase = fetched.reasons.some(({ code }) => code === 'SETUP_FAILED_AT_BASE');
      if (!isOfBase) throw toBroken(head.title, fetched.reasons);
      return toUnjudged(bench, head, fetched);
    }),
  );
  bench.findings.push(...gradeBase(bench.contract, judged));
}

interface KnownGood {
  readonly repositoryUrl: string;
  readonly commit: CommitSha;
  readonly judged: JudgedColumn;
}

/** Answers the first known-good commit that passes; where none does, the first whose criteria ran. */
async function proveProof(bench: Bench): Promise<KnownGood | null> {
  const { repository, proof } = bench.contract;
  const ran: KnownGood[] = [];
  for (const [index, one] of proof.entries()) {
    const { commit, expected } = one;
    const head = toProofHead(proof, index);
    const asked = { repositoryUrl: one.repository ?? repository.url, commit };
    const judged = await addColumn(bench, head, () =>
      withFetched(bench, asked, async (fetched) =>
        fetched.kind === 'go'
          ? judgeColumn(bench, head, fetched.value)
          : toUnjudged(bench, head, fetched),
      ),
    );
    bench.findings.push(...gradeProof(bench.contract, index, judged));
    const hasRun = judged.column.criteria.some(({ status }) => status !== 'not_run');
    if (expected === 'PASS' && hasRun) ran.push({ ...asked, judged });
  }
  bench.findings.push(...gradeKnownBad(bench.judged));
  return ran.find(passes) ?? ran[0] ?? null;
}

function passes({ judged }: KnownGood): boolean {
  return judged.column.verdict === 'PASS';
}

function toProofHead(proof: Contract['proof'], index: number): ColumnHead {
  const { commit, expected } = proof[index] ?? { commit: '', expected: 'FAIL' };
  const number = proof.slice(0, index + 1).filter((one) => one.expected === expected).length;
  const short = commit.slice(0, 12);
  return expected === 'PASS'
    ? { id: `good-${number}`, kind: 'known_good', title: `Known-good ${short}`, commit, expected }
    : { id: `bad-${number}`, kind: 'known_bad', title: `Known-bad ${short}`, commit, expected };
}

/** The proof's own run is the first replay. */
async function proveReplays(
  bench: Bench,
  first: JudgedColumn,
  source: FetchedCommit,
): Promise<void> {
  const { request, contract, onEvent } = bench;
  const total = request.replays;
  const runs = [first];
  onEvent({ kind: 'replay_finished', done: runs.length, total });
  while (runs.length < total) {
    runs.push(await judgeColumn(bench, first.column, source));
    onEvent({ kind: 'replay_finished', done: runs.length, total });
  }
  const criteria = runs.map(({ column }) => column.criteria);
  bench.replays = toReplays(contract, criteria);
  const tailOf = (id: string, run: number) => runs[run]?.logs.tailOf(`criterion:${id}`) ?? null;
  bench.findings.push(...gradeReplays(bench.replays, tailOf));
}

async function proveCheats(bench: Bench, good: FetchedCommit): Promise<void> {
  const { cheats, notes } = await planCheats(bench.contract, good);
  bench.notes.push(...notes);
  bench.columnsTotal += cheats.length;
  const judgedCheats: JudgedColumn[] = [];
  for (const { from, edits, ...cheat } of cheats) {
    const head = { ...cheat, commit: null, expected: 'FAIL' as const };
    const judged = await addColumn(bench, head, () =>
      judgeColumn(bench, head, good.derive(from, edits)),
    );
    judgedCheats.push(judged);
    bench.findings.push(...gradeCheat(judged));
  }
  const packageJson = await good.baseFiles().readFile('package.json', PACKAGE_JSON_BYTES_MAX);
  const text = packageJson === null ? null : Buffer.from(packageJson).toString();
  bench.notes.push(...sayStyleOnly(bench.contract, judgedCheats, text));
  const [base] = bench.judged;
  if (base !== undefined) {
    bench.findings.push(...gradeForgedMetrics(bench.contract, base, judgedCheats));
  }
}

async function proveJudges(bench: Bench, { imageDigest: image }: JudgedColumn): Promise<void> {
  const garbled = garbledOf(bench.contract);
  if (image === null || garbled === null) return;
  bench.columnsTotal += GARBLES.length;
  for (const [index, garble] of GARBLES.entries()) {
    const head: ColumnHead = {
      id: `garbled-${index + 1}`,
      kind: 'output_garbled',
      title: `${garbled} ${garble.title}`,
      commit: null,
      expected: 'FAIL',
    };
    const judged = await addColumn(bench, head, () => judgeGarbled(bench, head, { garble, image }));
    bench.findings.push(...gradeGarbled(bench.contract, judged));
  }
}

function toReport({ request, contract, judged, findings, notes, replays }: Bench): ProvingReport {
  const sorted = sortFindings(findings);
  return {
    schemaVersion: 'kervyxa.proving.v1',
    contractDigest: request.contractDigest,
    imageDigest: judged.find(({ imageDigest }) => imageDigest !== null)?.imageDigest ?? null,
    isProved: !sorted.some(isOpen),
    criteria: contract.criteria.map((criterion) => {
      const { id, title, type, visibility } = criterion;
      return { id, title, type, visibility, metric: sayMetric(criterion) };
    }),
    columns: judged.map(({ column }) => column),
    replays: [...replays],
    findings: sorted,
    notes,
  };
}

function sayMetric(criterion: Criterion): string | null {
  if (criterion.type !== 'benchmark') return null;
  const { name, op, threshold, unit } = criterion.metric;
  return `${name} ${METRIC_SIGNS[op]} ${threshold} ${unit} (${criterion.source})`;
}
