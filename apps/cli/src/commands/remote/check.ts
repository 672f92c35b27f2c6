import { Command, Option } from 'commander';
import type { CommandContext } from '../../context.ts';
import { cliError } from '../../errors.ts';
import { loadJsonFile } from '../../io/loose-file.ts';
import {
  idOf,
  type ListOptions,
  REMOTE_HELP,
  type RemoteOptions,
  showAnswer,
  showPage,
  withListOptions,
  withRemoteOptions,
} from './remote-command.ts';

interface ReportOptions extends RemoteOptions {
  readonly stage: string;
  readonly result?: string;
  readonly statement?: string;
  readonly evidence?: string;
  readonly signature?: string;
  readonly signedBy?: string;
}

export function checkCommand(context: CommandContext): Command {
  const show = withRemoteOptions(new Command('show'), 'check show chk_…')
    .summary('show what each stage said of an entry')
    .description('Show what each stage said of an entry, and what the check waits for.')
    .argument('<check>', 'the check, chk_…', idOf('check'))
    .action((check: string, options: RemoteOptions) =>
      showAnswer(context, options, {
        method: 'GET',
        path: `/v1/checks/${check}`,
      }),
    );
  const list = withListOptions(new Command('list'), 'check list prb_…')
    .summary('list the checks of a problem')
    .description('List the checks of the entries to a problem that you may see.')
    .argument('<problem>', 'the problem, prb_…', idOf('problem'))
    .action((problem: string, options: ListOptions) =>
      showPage(context, options, `/v1/problems/${problem}/checks`),
    );
  const report = withRemoteOptions(
    new Command('report'),
    'check report chk_… --stage yield --evidence measured.json',
  )
    .summary('report what a system outside found')
    .description('Report what a system outside found: signed by it, or as the operator.')
    .argument('<check>', 'the check, chk_…', idOf('check'))
    .requiredOption('--stage <key>', 'the stage that waits for it')
    .addOption(
      new Option('--result <word>', 'what the system itself judges').choices([
        'verified',
        'refuted',
        'inconclusive',
      ]),
    )
    .option('--statement <text>', 'what the system says')
    .option('--evidence <file>', 'a JSON file')
    .option('--signed-by <fingerprint>', 'the registered key of the system')
    .option('--signature <base64>', 'its signature')
    .action(async (check: string, options: ReportOptions) => {
      const { stage, result = null, statement = null, evidence } = options;
      const signature = signatureOf(options);
      await showAnswer(context, options, {
        method: 'POST',
        path: `/v1/checks/${check}/reports`,
        body: {
          stage,
          result,
          statement,
          evidence: evidence === undefined ? null : await loadJsonFile(evidence),
          signature,
        },
      });
    });
  return new Command('check')
    .summary('see what checks say of entries, and report to them')
    .description('See what the stages of checks say of entries, and report to external stages.')
    .addHelpText('after', HELP)
    .addCommand(show)
    .addCommand(list)
    .addCommand(report);
}

const HELP = `
Examples:
  $ kervyxa check show chk_…
  $ kervyxa check list prb_…
  $ kervyxa check report chk_… --stage yield --evidence measured.json
${REMOTE_HELP}`;

function signatureOf({ signature: value, signedBy: key }: ReportOptions) {
  if (value === undefined && key === undefined) return null;
  if (value !== undefined && key !== undefined) return { key, value };
  throw cliError('CLI_USAGE_INVALID', {
    message: `expected --signature and --signed-by together, got ${key === undefined ? '--signature' : '--signed-by'} alone`,
    fix: 'give the signature and the fingerprint of its key, or neither as the operator',
  });
}
