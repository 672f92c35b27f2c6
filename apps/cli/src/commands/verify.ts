import { Command } from 'commander';
import type { OperatorSettings } from '@kervyxa/contract';
import { CommitShaSchema, toPrintable, type CommitSha, type TreeArchive } from '@kervyxa/core';
import type { VerificationEvent, VerificationResult } from '@kervyxa/verifier';
import type { CommandContext } from '../context.ts';
import { loadVerifiableContract } from '../contract-document.ts';
import { cliError } from '../errors.ts';
import type { Captures } from '../io/captures.ts';
import { leaveBundle, type Signer } from '../io/evidence-bundle.ts';
import { openEvidenceFolder, type EvidenceFolder } from '../io/evidence-folder.ts';
import { toJsonText } from '../present/json.ts';
import { createProgress } from '../present/progress.ts';
import { toResultText } from '../present/result.ts';
import {
  CHECKER_OPTION,
  loadRunInputs,
  type RunInputOptions,
  type RunInputReader,
  type RunInputs,
} from '../run-inputs.ts';

export interface VerifyOptions extends RunInputOptions {
  readonly contract: string;
  readonly repo: string;
  readonly commit: string;
  readonly json?: boolean;
  readonly evidence?: string;
}

/** What one verification is about, read and checked. */
export interface WorkRequest extends RunInputs {
  readonly repositoryUrl: string;
  readonly commit: CommitSha;
}

/** What is asked of the machine that this runs on; the real one is `io/worker.ts`. */
export interface VerifyMachine extends RunInputReader {
  readonly settings: OperatorSettings;
  /** Signs the evidence. */
  readonly signer: Signer;
  /** Makes engine and images ready; `live` gets the changing line of what takes long. */
  open(options: {
    readonly log: (line: string) => void;
    readonly live: (line: string) => void;
    readonly signal: AbortSignal;
  }): Promise<Worker>;
}

export interface Worker {
  verify(
    request: WorkRequest,
    options: { readonly signal: AbortSignal; readonly onEvent: (event: VerificationEvent) => void },
  ): Promise<VerificationResult>;
  /** What a verification has fetched, to be closed again. */
  openCaptures(request: WorkRequest, signal: AbortSignal): Promise<Captures>;
}

const EXIT_CODES = { PASS: 0, FAIL: 1, INCONCLUSIVE: 3, ERROR: 4 } as const;
const EXIT_USAGE = 2;

export function verifyCommand(context: CommandContext): Command {
  return new Command('verify')
    .summary('verify one commit against a contract')
    .description('Verify one commit against a contract, in containers without a network.')
    .usage('--contract FILE --repo URL --commit SHA [options]')
    .requiredOption('--contract <file>', 'the contract (.json, .yaml, .yml; - for JSON on stdin)')
    .requiredOption('--repo <url>', 'where the commit is to be fetched from')
    .requiredOption('--commit <sha>', 'the full 40-hex SHA of the commit')
    .option('--package <dir>', 'the hidden files; needed where hidden criteria use them')
    .option('--deps <file>', 'the dependency bundle, packed or as a folder')
    .option(...CHECKER_OPTION)
    .option('--evidence <dir>', 'keep result, logs and signed evidence in a new or own folder')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', HELP)
    .action(async (options: VerifyOptions) => {
      context.toExitCode = ({ fault }) => (fault === 'caller' ? EXIT_USAGE : EXIT_CODES.ERROR);
      const { createMachine } = await import('../io/worker.ts');
      context.exitCode = await runVerify(options, context, createMachine(context.host));
    });
}

const HELP = `
Examples:
  $ kervyxa verify --contract contract.json \\
      --repo https://git.example.org/fork.git \\
      --commit 1f0c3d5e7a9b2c4d6e8f0a1b3c5d7e9f1a2b3c4d
  $ kervyxa verify ... --package ./hidden --evidence ./evidence
  $ kervyxa verify ... --deps ./bundle.tar
  $ kervyxa verify ... --checker ./my-checker --checker ./their-checker
  $ kervyxa verify ... --json | jq -r .verdict

Progress goes to standard error, the result to standard output, all of hidden
criteria included: this command is the operator's. What "kervyxa lint" refuses
without --repo is not run. The contract's digest covers packages and bundle, so
--package, --checker and --deps change it where the contract names none.
docs/contracts.md explains the result; docs/evidence.md what --evidence leaves,
which "kervyxa evidence" checks and runs again on any machine.

Exit codes:
  0 PASS   1 FAIL   2 usage, or a refused contract   3 INCONCLUSIVE   4 ERROR
  130 after Ctrl-C, 143 after SIGTERM; containers are removed first`;

/**
 * 1. What was asked for is read and checked: commit, contract, bundle, hidden package, evidence folder.
 * 2. Engine and images are made ready.
 * 3. The commit is verified, with a line a step on standard error.
 * 4. The result goes to standard output and, where asked for, into the evidence folder, with evaluation, attestation and
 *    bundle.
 */
export async function runVerify(
  options: VerifyOptions,
  context: CommandContext,
  machine: VerifyMachine,
): Promise<number> {
  const { host } = context;
  const request = await loadRequest(options, context, machine);
  const evidence =
    options.evidence === undefined ? null : openEvidenceFolder(options.evidence, request.contract);

  const { result, worker } = await verifyWithProgress(request, evidence, context, machine);

  // Set off from the progress above it, where both are on one terminal.
  if (host.stdout.isTerminal && host.stderr.isTerminal) host.stdout.write('\n');
  host.stdout.write(
    options.json === true
      ? toJsonText(result)
      : `${toResultText(result, request.contract, host.stdout)}\n${toEvidenceLine(options)}`,
  );
  if (evidence !== null) {
    const checkers = await Promise.all((options.checker ?? []).map(machine.loadPackage));
    await leaveEvidence(evidence, { request, result, worker, checkers }, context, machine);
  }
  return EXIT_CODES[result.verdict];
}

interface Verified {
  readonly request: WorkRequest;
  readonly result: VerificationResult;
  readonly worker: Worker;
  readonly checkers: readonly TreeArchive[];
}

async function leaveEvidence(
  evidence: EvidenceFolder,
  { request, result, worker, checkers }: Verified,
  { host: { clock }, interrupts: { signal } }: CommandContext,
  { signer }: VerifyMachine,
): Promise<void> {
  const captures = await worker.openCaptures(request, signal);
  try {
    const run = { request, result, captures, checkers, signer, clock, signal };
    await leaveBundle(evidence.path, run);
  } finally {
    await captures.close();
  }
  evidence.finish(result);
}

function toEvidenceLine({ evidence }: VerifyOptions): string {
  return evidence === undefined ? '' : `evidence ${toPrintable(evidence)}\n`;
}

async function loadRequest(
  options: VerifyOptions,
  { host }: CommandContext,
  machine: VerifyMachine,
): Promise<WorkRequest> {
  const commit = parseCommit(options.commit);
  const asked = await loadVerifiableContract(options.contract, host, machine.settings);
  const inputs = await loadRunInputs(asked, options, machine);
  return { ...inputs, commit, repositoryUrl: options.repo };
}

function parseCommit(text: string): CommitSha {
  const parsed = CommitShaSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw cliError('CLI_COMMIT_INVALID', {
    message: `expected a commit as 40 lower-case hex digits, got "${toPrintable(text, 100)}"`,
    fix: 'Give the whole id: "git rev-parse HEAD" prints it. Branches, tags and short ids can move.',
  });
}

async function verifyWithProgress(
  request: WorkRequest,
  evidence: EvidenceFolder | null,
  { host, interrupts }: CommandContext,
  machine: VerifyMachine,
): Promise<Pick<Verified, 'result' | 'worker'>> {
  const { signal } = interrupts;
  const progress = createProgress(host);
  interrupts.onFirst((name) => {
    progress.note(`${name}: removing this run's containers, volumes and fetched objects`);
    progress.note('once more leaves at once, and the next run removes them');
  });
  const onEvent = (event: VerificationEvent) => {
    progress.onEvent(event);
    evidence?.onEvent(event);
  };
  try {
    const worker = await machine.open({ log: progress.note, live: progress.live, signal });
    return { worker, result: await worker.verify(request, { signal, onEvent }) };
  } catch (error) {
    if (error === signal.reason) progress.note('stopped');
    throw error;
  } finally {
    progress.stop();
  }
}
