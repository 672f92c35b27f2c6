import { Command } from 'commander';
import {
  checkerDigestsOf,
  contractDigest,
  isOpen,
  parseContract,
  type Contract,
  type OperatorSettings,
} from '@kervyxa/contract';
import { toPrintable } from '@kervyxa/core';
import {
  loadBaseFacts,
  REPLAYS_DEFAULT,
  type ProveOptions as ProvingOptions,
  type ProveRequest,
  type ProvingReport,
} from '@kervyxa/verifier';
import type { CommandContext } from '../context.ts';
import {
  lintDocument,
  readContractDocument,
  refuseWith,
  type ContractDocument,
} from '../contract-document.ts';
import { cliError } from '../errors.ts';
import { openReportFolder } from '../io/report-folder.ts';
import { toJsonText } from '../present/json.ts';
import { createProvingProgress } from '../present/proving-progress.ts';
import { toProvingText } from '../present/proving.ts';
import { toReportPage } from '../present/report-page.ts';
import {
  CHECKER_OPTION,
  loadRunInputs,
  type RunInputOptions,
  type RunInputReader,
  type RunInputs,
} from '../run-inputs.ts';
import type { OpenBase } from './lint.ts';

export interface ProveOptions extends RunInputOptions {
  readonly repo?: string;
  readonly replays?: string;
  readonly json?: boolean;
  readonly report?: string;
}

/** What is asked of the machine that this runs on; the real one is `io/worker.ts`. */
export interface ProveMachine extends RunInputReader {
  readonly settings: OperatorSettings;
  readonly openBase: OpenBase;
  /** Makes engine and images ready; `live` gets the changing line of what takes long. */
  open(options: {
    readonly log: (line: string) => void;
    readonly live: (line: string) => void;
    readonly signal: AbortSignal;
  }): Promise<Prover>;
}

export interface Prover {
  prove(request: ProveRequest, options: ProvingOptions): Promise<ProvingReport>;
}

const EXIT_REFUSED = 1;
const EXIT_UNREADABLE = 2;
const EXIT_ERROR = 4;
const REPLAYS_MIN = 2;
const REPLAYS_MAX = 100;

export function proveCommand(context: CommandContext): Command {
  return new Command('prove')
    .summary('show, in containers, that a contract tells done from not done')
    .description('Run a contract on its base and its proof, and say what is wrong with it.')
    .argument('<file>', 'the contract (.json, .yaml, .yml; - for JSON on stdin)')
    .option('--package <dir>', 'the hidden files; needed where hidden criteria use them')
    .option('--deps <file>', 'the dependency bundle, packed or as a folder')
    .option(...CHECKER_OPTION)
    .option('--repo <url>', 'fetch base and proof from here, not from repository.url')
    .option('--replays <n>', `runs of the known-good commit (default ${REPLAYS_DEFAULT})`)
    .option('--report <dir>', 'keep report.html and report.json in a new or own folder')
    .option('--json', 'print the report as JSON')
    .addHelpText('after', HELP)
    .action(async (file: string, options: ProveOptions) => {
      context.toExitCode = ({ code, fault }) => {
        if (code === 'CLI_CONTRACT_REFUSED') return EXIT_REFUSED;
        return fault === 'caller' ? EXIT_UNREADABLE : EXIT_ERROR;
      };
      const { createMachine } = await import('../io/worker.ts');
      context.exitCode = await runProve(file, options, context, createMachine(context.host));
    });
}

const HELP = `
What "kervyxa lint" has against the contract is said first, and nothing is run.
Then: checker packages must give the results of their own fixtures; the base
must fail, and pass its regression criteria; each commit of proof must get the
verdict that it names; replays of the first known-good one must agree; and
commits that do not solve the task, made of base and known-good, must all fail.
docs/contracts.md explains each finding.

Examples:
  $ kervyxa prove contract.json --package ./hidden --report ./report
  $ kervyxa prove contract.yaml --deps ./bundle.tar --replays 10
  $ kervyxa prove contract.json --checker ./my-checker
  $ kervyxa prove contract.json --json | jq -r '.findings[].code'

Progress goes to standard error, the report to standard output, all of hidden
criteria included: it is the requester's and the operator's.

Exit codes:
  0 proved   1 refused   2 usage, or something can not be read   4 error
  130 after Ctrl-C, 143 after SIGTERM; containers are removed first`;

/**
 * 1. The contract is read and held against all rules of lint, with its base tree; what is open is shown and refused.
 * 2. What it is run with is read: bundle, hidden package, report folder.
 * 3. It is proved, with a line a column on standard error.
 * 4. The report goes to standard output and, where asked for, into its folder. Answers the exit code.
 */
export async function runProve(
  file: string,
  options: ProveOptions,
  context: CommandContext,
  machine: ProveMachine,
): Promise<number> {
  const { host } = context;
  const replays = parseReplays(options.replays);
  const asked = await loadProvableContract(file, options, context, machine);
  const inputs = await loadRunInputs(asked, options, machine);
  assertInputsGiven(inputs, options);
  const save = options.report === undefined ? null : openReportFolder(options.report);

  const digest = contractDigest(inputs.contract);
  const contract = withRepository(inputs.contract, options.repo);
  const request = { ...inputs, contract, contractDigest: digest, replays };
  const report = await proveWithProgress(request, context, machine);

  const json = toJsonText(report);
  // Set off from the progress above it, where both are on one terminal.
  if (host.stdout.isTerminal && host.stderr.isTerminal) host.stdout.write('\n');
  host.stdout.write(options.json === true ? json : `${toProvingText(report, host.stdout)}\n`);
  if (save !== null) {
    // Last: what took an hour to find out is told even where it can't be kept.
    save({ json, html: toReportPage(report, asked.title) });
    if (options.json !== true) host.stdout.write(`report   ${toPrintable(options.report ?? '')}\n`);
  }
  return report.isProved ? 0 : EXIT_REFUSED;
}

function parseReplays(text: string | undefined): number {
  if (text === undefined) return REPLAYS_DEFAULT;
  const number = Number(text);
  if (/^\d{1,3}$/.test(text) && number >= REPLAYS_MIN && number <= REPLAYS_MAX) return number;
  throw cliError('CLI_USAGE_INVALID', {
    message: `expected --replays from ${REPLAYS_MIN} to ${REPLAYS_MAX}, got "${toPrintable(text, 100)}"`,
    fix: 'A criterion that fails 1 in 10 is seen in 10 replays two times out of three.',
  });
}

async function loadProvableContract(
  file: string,
  { repo }: ProveOptions,
  { host, interrupts }: CommandContext,
  { settings, openBase }: ProveMachine,
): Promise<Contract> {
  const document = await readContractDocument(file, host);
  // Without its base a contract can be wrong in form only; that is said before anything is fetched.
  const form = lintDocument(document, null, settings).findings;
  refuseWith(
    form.filter(({ severity }) => severity === 'refuse'),
    document,
    host,
  );
  const facts = await loadFacts(document, repo, openBase, interrupts.signal);
  refuseWith(lintDocument(document, facts, settings).findings.filter(isOpen), document, host);
  return parseContract(document.text.document);
}

async function loadFacts(
  document: ContractDocument,
  repo: string | undefined,
  openBase: OpenBase,
  signal: AbortSignal,
) {
  const { repository } = parseContract(document.text.document);
  const base = await openBase(repo ?? repository.url, repository.baseCommit, signal);
  try {
    return await loadBaseFacts(base, document.text.document);
  } finally {
    await base.close();
  }
}

/** What a contract names and nobody gave would look like a broken contract. */
function assertInputsGiven({ contract, checkers }: RunInputs, given: ProveOptions): void {
  const { verifierPackage, environment } = contract;
  const checker = checkerDigestsOf(contract).find((sha256) => !checkers.has(sha256));
  const [option, sha256] =
    verifierPackage !== null && given.package === undefined
      ? ['--package DIR', verifierPackage.sha256]
      : environment.dependencies !== null && given.deps === undefined
        ? ['--deps FILE', environment.dependencies.sha256]
        : checker !== undefined
          ? ['--checker DIR', checker]
          : [null, ''];
  if (option === null) return;
  throw cliError('CLI_PACKAGE_MISSING', {
    message: `expected ${option}, as the contract names ${sha256}, got none`,
    fix: `Give what was packed for the contract: ${option}.`,
  });
}

/** Where base and proof are fetched from; the digest stays that of the contract as it is. */
function withRepository(contract: Contract, url: string | undefined): Contract {
  if (url === undefined) return contract;
  return { ...contract, repository: { ...contract.repository, url } };
}

async function proveWithProgress(
  request: ProveRequest,
  { host, interrupts }: CommandContext,
  machine: ProveMachine,
): Promise<ProvingReport> {
  const { signal } = interrupts;
  const progress = createProvingProgress(host);
  interrupts.onFirst((name) => {
    progress.note(`${name}: removing this run's containers, volumes and fetched objects`);
    progress.note('once more leaves at once, and the next run removes them');
  });
  try {
    const prover = await machine.open({ log: progress.note, live: progress.live, signal });
    return await prover.prove(request, { signal, onEvent: progress.onEvent });
  } catch (error) {
    if (error === signal.reason) progress.note('stopped');
    throw error;
  } finally {
    progress.stop();
  }
}
