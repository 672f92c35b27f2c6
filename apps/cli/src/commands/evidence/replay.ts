import { Command } from 'commander';
import type { Contract } from '@kervyxa/contract';
import {
  compareResults,
  planReplay,
  type Difference,
  type FileRef,
  type VerifiedBundle,
} from '@kervyxa/evidence';
import type { VerificationEvent, VerificationResult } from '@kervyxa/verifier';
import type { CommandContext } from '../../context.ts';
import { loadEvidence, loadKeys, noBundle } from '../../io/evidence-file.ts';
import { toJsonText } from '../../present/json.ts';
import { createProgress } from '../../present/progress.ts';
import { toReplayText } from '../../present/replay.ts';

export interface EvidenceReplayOptions {
  readonly key?: string;
  readonly json?: boolean;
}

export interface Replay {
  saveBlob(blob: FileRef, content: AsyncIterable<Uint8Array>): Promise<void>;
  /** Verifies the commit of the bundle from what was saved, and from nothing else. */
  run(
    bundle: VerifiedBundle,
    contract: Contract,
    options: {
      readonly log: (line: string) => void;
      readonly live: (line: string) => void;
      readonly onEvent: (event: VerificationEvent) => void;
      readonly signal: AbortSignal;
    },
  ): Promise<VerificationResult>;
  close(): Promise<void>;
}
/** The real one is `io/replay.ts`. */
export type OpenReplay = () => Promise<Replay>;

/** How a replay ended. */
export type ReplayOutcome = 'same' | 'different' | 'partial' | 'impossible' | 'trouble';

export interface ReplayReport {
  readonly outcome: ReplayOutcome;
  /** Why not, or not in whole; null for `same` and `different`. */
  readonly why: string | null;
  /** What to run so that it can be; null where nothing helps. */
  readonly fix: string | null;
  readonly verdict: {
    readonly expected: VerificationResult['verdict'];
    /** Null where it can't be said. */
    readonly got: VerificationResult['verdict'] | null;
  };
  readonly differences: readonly Difference[];
  /** Criteria that were not run again. */
  readonly skipped: readonly string[];
  readonly commit: string;
  readonly repository: string;
  readonly contractDigest: string;
  readonly keyid: string;
  /** Whether that key was given, so that the signature says where the bundle comes from. */
  readonly isOriginChecked: boolean;
}

const EXIT_CODES = { same: 0, different: 1, partial: 3, impossible: 3, trouble: 4 } as const;

export function evidenceReplayCommand(context: CommandContext): Command {
  return new Command('replay')
    .summary('run the commit of a bundle again, and compare')
    .description('Run the commit of a bundle again, from it alone, and compare every field.')
    .argument('<file>', 'evidence.tar')
    .option('--key <file>', 'public key in PEM, or a list of public keys')
    .option('--json', 'print what came of it as JSON')
    .addHelpText('after', HELP)
    .action(async (file: string, options: EvidenceReplayOptions) => {
      const { createReplay } = await import('../../io/replay.ts');
      context.exitCode = await runEvidenceReplay(
        file,
        options,
        context,
        createReplay(context.host),
      );
    });
}

const HELP = `
The bundle is verified first. No git server is asked, and no state of this
machine but its container engine and images. Without --key the signature is held
against the key in the bundle, which anybody can put there.

A bundle for outsiders has no hidden criteria and no checker packages: what is
public is run again, the rest is named, and then no verdict can be told.

Examples:
  $ kervyxa evidence replay evidence.tar --key keys.json
  $ kervyxa evidence replay evidence.tar --json | jq .differences

Exit codes:
  0 same   1 different, or a bundle that is refused   2 usage
  3 not, or not in whole, to be run again here   4 trouble of this machine
  130 after Ctrl-C, 143 after SIGTERM; containers are removed first`;

/**
 * 1. The bundle is verified; its archives are kept in a folder of their own.
 * 2. What can be run again of it is planned.
 * 3. The commit is verified, with a line a step on standard error.
 * 4. The result is held against the bundle's, field by field.
 */
export async function runEvidenceReplay(
  file: string,
  options: EvidenceReplayOptions,
  context: CommandContext,
  openReplay: OpenReplay,
): Promise<number> {
  const {
    host: { stdout },
    interrupts: { signal },
  } = context;
  const keys = options.key === undefined ? null : await loadKeys(options.key);
  const replay = await openReplay();
  try {
    const evidence = await loadEvidence(file, { keys, saveBlob: replay.saveBlob }, signal);
    if (evidence.kind === 'attestation') throw noBundle();
    const report = await replayBundle(evidence, keys !== null, context, replay);
    stdout.write(options.json === true ? toJsonText(report) : toReplayText(report, stdout));
    return EXIT_CODES[report.outcome];
  } finally {
    await replay.close();
  }
}

async function replayBundle(
  bundle: VerifiedBundle,
  isOriginChecked: boolean,
  context: CommandContext,
  replay: Replay,
): Promise<ReplayReport> {
  const expected = bundle.result.verdict;
  const about = {
    commit: bundle.run.commit,
    repository: bundle.run.repositoryUrl,
    contractDigest: bundle.policyDigest,
    keyid: bundle.key.keyid,
    isOriginChecked,
  };
  const nothing = { verdict: { expected, got: null }, differences: [], skipped: [] };
  const plan = planReplay(bundle);
  if (plan.kind === 'impossible') {
    return { outcome: 'impossible', why: plan.why, fix: null, ...nothing, ...about };
  }
  const fresh = await runWithProgress(bundle, plan.contract, context, replay);
  const trouble = toTrouble(bundle, fresh);
  if (trouble !== null) return { ...trouble, ...nothing, ...about };
  const { skipped } = plan;
  const differences = compareResults(bundle, fresh, skipped);
  const got = skipped.length === 0 ? fresh.verdict : null;
  const found = { verdict: { expected, got }, differences, skipped, fix: null, ...about };
  if (differences.length > 0) return { outcome: 'different', why: null, ...found };
  if (skipped.length === 0) return { outcome: 'same', why: null, ...found };
  const why = `criteria that this bundle can't run: ${skipped.join(', ')}`;
  return { outcome: 'partial', why, ...found };
}

/** This machine's own, which says nothing of the bundle. */
function toTrouble(
  { result }: VerifiedBundle,
  { verdict, reasons: [reason] }: VerificationResult,
): Pick<ReplayReport, 'outcome' | 'why' | 'fix'> | null {
  if (verdict !== 'ERROR' || result.verdict === 'ERROR') return null;
  if (reason?.code !== 'IMAGE_UNAVAILABLE') {
    const why = `${reason?.code ?? 'ERROR'}: ${reason?.message ?? ''}`;
    return { outcome: 'trouble', why, fix: null };
  }
  const image = result.imageDigest;
  return {
    outcome: 'impossible',
    why: `the engine has not all the images of the run, which any machine that has them can give: ${reason.message}`,
    fix: image === null ? null : `docker save ${image} | docker load`,
  };
}

async function runWithProgress(
  bundle: VerifiedBundle,
  contract: Contract,
  { host, interrupts }: CommandContext,
  replay: Replay,
): Promise<VerificationResult> {
  const { signal } = interrupts;
  const progress = createProgress(host);
  interrupts.onFirst((name) => progress.note(`${name}: removing containers and volumes`));
  try {
    const { note: log, live, onEvent } = progress;
    return await replay.run(bundle, contract, { log, live, onEvent, signal });
  } finally {
    progress.stop();
  }
}
