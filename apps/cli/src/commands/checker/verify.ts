import {
  walkStages,
  type CheckSubmission,
  type InputFile,
  type WalkReport,
  type WalkRequest,
} from '@kervyxa/checker';
import { toPrintable } from '@kervyxa/core';
import { Command } from 'commander';
import type { CommandContext } from '../../context.ts';
import { cliError } from '../../errors.ts';
import type { CheckerMachine, NamedPackage } from '../../io/checker-machine.ts';
import { openWalkFolder } from '../../io/walk-folder.ts';
import { toFixtureLine, toWalkText } from '../../present/checker-report.ts';
import { toJsonText } from '../../present/json.ts';
import { createProgress } from '../../present/progress.ts';

export interface CheckerVerifyOptions {
  readonly artifact?: readonly string[];
  readonly reference?: readonly string[];
  readonly summary?: string;
  readonly stage?: string;
  readonly evidence?: string;
  readonly json?: boolean;
}

const EXIT_CODES = { verified: 0, refuted: 1, inconclusive: 3 } as const;
const EXIT_USAGE = 2;
const EXIT_ERROR = 4;

export function checkerVerifyCommand(context: CommandContext): Command {
  return new Command('verify')
    .summary('put an answer before a checker package')
    .description('Put an answer before the stages of a checker package, in order.')
    .usage('<dir> --artifact ROLE=FILE [options]')
    .argument('<dir>', 'the folder of the package')
    .option('--artifact <role=file>', 'what is submitted in a role; once for each', collect)
    .option('--reference <key=file>', "instead of the slot's file in reference/", collect)
    .option('--summary <file>', 'the answer in words')
    .option('--stage <key>', 'only this stage')
    .option('--evidence <dir>', 'keep result and evaluation in a new or own folder')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', HELP)
    .action(async (folder: string, options: CheckerVerifyOptions) => {
      context.toExitCode = ({ fault }) => (fault === 'caller' ? EXIT_USAGE : EXIT_ERROR);
      const { createCheckerMachine } = await import('../../io/checker-machine.ts');
      const machine = createCheckerMachine(context.host);
      context.exitCode = await runCheckerVerify(folder, options, context, machine);
    });
}

const HELP = `
The programs must reproduce their own fixtures first. Stages run in order, up to
the first that does not pass; one that waits for people or for a system elsewhere
can't be asked from here, and is inconclusive.

Examples:
  $ kervyxa checker verify ./my-checker --artifact report=answer.json
  $ kervyxa checker verify ./sat --artifact assignment=v.txt \\
      --reference instance=hard.cnf
  $ kervyxa checker verify ./riddle --summary answer.md --json | jq -r .result

Exit codes:
  0 verified   1 refuted   2 usage, or lint refuses the package
  3 inconclusive   4 error
  130 after Ctrl-C, 143 after SIGTERM; containers are removed first`;

function collect(value: string, all: readonly string[] = []): readonly string[] {
  return [...all, value];
}

/** Answers the exit code. */
export async function runCheckerVerify(
  folder: string,
  options: CheckerVerifyOptions,
  context: CommandContext,
  machine: CheckerMachine,
): Promise<number> {
  const { host } = context;
  const named = await loadOne(folder, machine);
  assertStage(named, options.stage);
  const submission = await loadSubmission(named, options, machine);
  const reference = new Map([
    ...named.package.reference,
    ...(await loadReference(named, options, machine)),
  ]);
  const save = options.evidence === undefined ? null : openWalkFolder(options.evidence);

  const request = {
    package: named.package,
    submission,
    reference,
    stageKey: options.stage ?? null,
  };
  const report = await walkWithProgress(request, context, machine);

  if (host.stdout.isTerminal && host.stderr.isTerminal) host.stdout.write('\n');
  host.stdout.write(
    options.json === true
      ? toJsonText(report)
      : `${toWalkText(report, named.package.contract.score?.unit ?? null, host.stdout)}\n`,
  );
  save?.(named.package, report);
  return EXIT_CODES[report.result];
}

async function loadOne(folder: string, machine: CheckerMachine): Promise<NamedPackage> {
  const [one, ...others] = await machine.loadPackages(folder);
  if (one !== undefined && others.length === 0) return one;
  throw usage(
    `expected the folder of one package, got ${others.length + 1} in ${toPrintable(folder, 300)}`,
    'Give the folder of one problem that has a contract of its own.',
  );
}

function assertStage({ package: { contract } }: NamedPackage, key: string | undefined): void {
  const keys = contract.stages.map((stage) => stage.key);
  if (key === undefined || keys.includes(key)) return;
  throw usage(
    `expected --stage to be one of ${keys.join(', ')}, got "${toPrintable(key, 100)}"`,
    'Give the key of a stage, or leave --stage out.',
  );
}

async function loadSubmission(
  { package: { contract } }: NamedPackage,
  { artifact = [], summary }: CheckerVerifyOptions,
  machine: CheckerMachine,
): Promise<CheckSubmission> {
  const roles = contract.submission_requirements.required_artifacts.map(({ role }) => role);
  const artifacts = await Promise.all(
    artifact.map(async (text) => {
      const [role, path] = parsePair('--artifact', 'ROLE', text);
      if (roles.includes(role)) return { role, ...(await machine.loadInput(path)) };
      throw usage(
        `expected --artifact for a role (${roles.join(', ') || 'the contract has none'}), got "${toPrintable(role, 100)}"`,
        'Give a role of submission_requirements.required_artifacts.',
      );
    }),
  );
  if (summary === undefined) return { artifacts, summaryText: null };
  const { content } = await machine.loadInput(summary);
  try {
    return { artifacts, summaryText: new TextDecoder('utf-8', { fatal: true }).decode(content) };
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw usage(`expected UTF-8 text in ${toPrintable(summary, 300)}`, 'Save the answer as UTF-8.');
  }
}

async function loadReference(
  { package: { contract } }: NamedPackage,
  { reference = [] }: CheckerVerifyOptions,
  machine: CheckerMachine,
): Promise<[string, InputFile][]> {
  const keys = contract.reference_inputs.map(({ key }) => key);
  return Promise.all(
    reference.map(async (text): Promise<[string, InputFile]> => {
      const [key, path] = parsePair('--reference', 'KEY', text);
      if (keys.includes(key)) return [key, await machine.loadInput(path)];
      throw usage(
        `expected --reference for a slot (${keys.join(', ') || 'the contract has none'}), got "${toPrintable(key, 100)}"`,
        'Give the key of a slot of reference_inputs.',
      );
    }),
  );
}

function parsePair(option: string, name: 'ROLE' | 'KEY', text: string): [string, string] {
  const at = text.indexOf('=');
  if (at > 0 && at < text.length - 1) return [text.slice(0, at), text.slice(at + 1)];
  throw usage(
    `expected ${option} as ${name}=FILE, got "${toPrintable(text, 100)}"`,
    `Write ${option} document=./answer.json, for example.`,
  );
}

function usage(message: string, fix: string): Error {
  return cliError('CLI_USAGE_INVALID', { message, fix });
}

async function walkWithProgress(
  request: WalkRequest,
  { host, interrupts }: CommandContext,
  machine: CheckerMachine,
): Promise<WalkReport> {
  const { signal } = interrupts;
  const progress = createProgress(host);
  interrupts.onFirst((name) => progress.note(`${name}: removing containers and volumes`));
  try {
    const deps = await machine.open({ log: progress.note, live: progress.live, signal });
    return await walkStages(deps, request, signal, {
      onFixture: (fixture) => progress.note(toFixtureLine(fixture)),
      onStage: ({ key, result }) => progress.note(`stage ${key}: ${result}`),
    });
  } catch (error) {
    if (error === signal.reason) progress.note('stopped');
    throw error;
  } finally {
    progress.stop();
  }
}
