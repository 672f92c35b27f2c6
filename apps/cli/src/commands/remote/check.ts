import { Command, Option } from 'commander';
import type { CommandContext } from '../../context.ts';
import { loadJsonFile } from '../../io/loose-file.ts';
import {
  REMOTE_HELP,
  type RemoteOptions,
  showAnswer,
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
    .description('Show what each stage said of an entry, and what the check waits for.')
    .argument('<check>', 'the check, chk_…')
    .action((check: string, options: RemoteOptions) =>
      showAnswer(context, options, {
        method: 'GET',
        path: `/v1/checks/${encodeURIComponent(check)}`,
      }),
    );
  const list = withRemoteOptions(new Command('list'), 'check list prb_…')
    .description('List the checks of the entries to a problem that you may see.')
    .argument('<problem>', 'the problem, prb_…')
    .action((problem: string, options: RemoteOptions) =>
      showAnswer(context, options, {
        method: 'GET',
        path: `/v1/problems/${encodeURIComponent(problem)}/checks`,
      }),
    );
  const report = withRemoteOptions(
    new Command('report'),
    'check report chk_… --stage yield --evidence measured.json',
  )
    .description('Report what a system outside found: signed by it, or as the operator.')
    .argument('<check>', 'the check, chk_…')
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
      const { stage, result = null, statement = null, evidence, signature, signedBy } = options;
      await showAnswer(context, options, {
        method: 'POST',
        path: `/v1/checks/${encodeURIComponent(check)}/reports`,
        body: {
          stage,
          result,
          statement,
          evidence: evidence === undefined ? null : await loadJsonFile(evidence),
          signature: signature === undefined ? null : { key: signedBy ?? '', value: signature },
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
