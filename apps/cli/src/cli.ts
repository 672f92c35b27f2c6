import { Command, CommanderError } from 'commander';
import { apiCommand } from './commands/api.ts';
import { checkerCommand } from './commands/checker/checker.ts';
import { depsCommand } from './commands/deps-pack.ts';
import { doctorCommand } from './commands/doctor.ts';
import { evidenceCommand } from './commands/evidence/evidence.ts';
import { keysCommand } from './commands/keys.ts';
import { lintCommand } from './commands/lint.ts';
import { operatorKeyCommand } from './commands/operator-key.ts';
import { proveCommand } from './commands/prove.ts';
import { packageCommand } from './commands/package-pack.ts';
import { checkCommand } from './commands/remote/check.ts';
import { entryCommand } from './commands/remote/entry.ts';
import { problemCommand } from './commands/remote/problem.ts';
import { reviewCommand } from './commands/remote/review.ts';
import { runtimesCommand } from './commands/runtimes.ts';
import { upCommand } from './commands/up.ts';
import { verifyCommand } from './commands/verify.ts';
import { workerCommand } from './commands/worker.ts';
import { workerKeyCommand } from './commands/worker-key.ts';
import type { CommandContext } from './context.ts';
import { cliError } from './errors.ts';
import type { Host } from './host.ts';
import { watchInterrupts } from './io/interrupts.ts';
import { presentFailure } from './present/failure.ts';
import { VERSION } from './version.ts';

const EXIT_USAGE = 2;
const COMMANDS = [
  lintCommand,
  proveCommand,
  verifyCommand,
  evidenceCommand,
  keysCommand,
  depsCommand,
  packageCommand,
  checkerCommand,
  problemCommand,
  entryCommand,
  checkCommand,
  reviewCommand,
  upCommand,
  apiCommand,
  workerCommand,
  operatorKeyCommand,
  workerKeyCommand,
  doctorCommand,
  runtimesCommand,
] as const;

/** Runs one command line and answers its exit code. Never throws. */
export async function runCli(argv: readonly string[], host: Host): Promise<number> {
  const interrupts = watchInterrupts(host);
  const context: CommandContext = {
    host,
    interrupts,
    exitCode: 0,
    endsBySignal: false,
    toExitCode: ({ exitCode }) => exitCode,
  };
  const program = createProgram(context);
  try {
    await program.parseAsync(argv, { from: 'user' });
    // Who is asked to stop and has done so has done well.
    if (context.endsBySignal) return context.exitCode;
    return interrupts.exitCode() ?? context.exitCode;
  } catch (error) {
    return endWithError(error, context, namesOf(program, argv));
  } finally {
    interrupts.close();
  }
}

function createProgram(context: CommandContext): Command {
  const { stdout, stderr } = context.host;
  const program = new Command('kervyxa')
    .description('Decides, by machine, whether a git commit earned its bounty.')
    .version(VERSION)
    .addHelpText('after', EXAMPLES);
  for (const define of COMMANDS) program.addCommand(define(context));
  for (const command of withSubcommands(program)) {
    command
      .exitOverride()
      .configureHelp({ styleTitle: stdout.colors.bold })
      .configureOutput({
        writeOut: (text) => stdout.write(text),
        writeErr: (text) => stderr.write(text),
        getOutHelpWidth: () => stdout.columns,
        getErrHelpWidth: () => stderr.columns,
        getOutHasColors: () => stdout.colors.isColorSupported,
        getErrHasColors: () => stderr.colors.isColorSupported,
        // Shown by presentFailure, in the form of every other error.
        outputError: () => undefined,
      });
  }
  return program;
}

/** The command that a command line means, from the outermost one in: `deps`, `pack`. */
function namesOf(program: Command, argv: readonly string[]): string[] {
  const [word = '', ...rest] = argv;
  const named = program.commands.find((command) => command.name() === word);
  return named === undefined ? [] : [word, ...namesOf(named, rest)];
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

const EXAMPLES = `
Examples:
  $ kervyxa doctor
  $ kervyxa lint contract.json
  $ kervyxa prove contract.json --report ./report
  $ kervyxa verify --contract contract.json \\
      --repo https://git.example.org/fork.git \\
      --commit 1f0c3d5e7a9b2c4d6e8f0a1b3c5d7e9f1a2b3c4d

kervyxa COMMAND --help shows the options, examples and exit codes of a command;
docs/contracts.md tells how to write a contract.

Environment:
  KERVYXA_GIT_ALLOW  origins beside public https that git may use, separated by
                     commas: http://127.0.0.1:8080
  DOCKER_HOST        the container engine to use
  NO_COLOR           no colours
  KERVYXA_DEBUG=1    the stack of an error`;

function endWithError(error: unknown, context: CommandContext, names: readonly string[]): number {
  const { host, interrupts } = context;
  const stopped = interrupts.exitCode();
  if (stopped !== null) {
    if (!isAbort(error, interrupts.signal)) presentFailure(error, host);
    return stopped;
  }
  if (!(error instanceof CommanderError)) {
    return context.toExitCode(presentFailure(error, host));
  }
  // Help and version throw, too; help that nobody asked for is a usage error that the help itself explains.
  if (error.exitCode === 0) return 0;
  if (error.code === 'commander.help') return EXIT_USAGE;
  return presentFailure(toUsageError(error, names), host).exitCode;
}

function isAbort(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError');
}

/** Commander puts its suggestion on a second line, in brackets. */
function toUsageError(error: CommanderError, names: readonly string[]): Error {
  const [message = '', suggestion] = error.message.replace(/^error: /, '').split('\n');
  return cliError('CLI_USAGE_INVALID', {
    message,
    fix:
      suggestion?.replace(/^\((.*)\)$/, '$1') ??
      (names.length === 0
        ? '"kervyxa help" shows the commands.'
        : `"kervyxa ${names.join(' ')} --help" shows how.`),
    cause: error,
  });
}
