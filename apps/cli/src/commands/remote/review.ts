import { Command, Option } from 'commander';
import type { CommandContext } from '../../context.ts';
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

interface JudgeOptions extends RemoteOptions {
  readonly judgment: string;
  readonly statement: string;
}

export function reviewCommand(context: CommandContext): Command {
  const list = withListOptions(new Command('list'), 'review list')
    .summary('list the reviews in which you may claim a seat')
    .description('List the reviews in which you may claim a seat.')
    .action((options: ListOptions) => showPage(context, options, '/v1/reviews'));
  const claim = withRemoteOptions(new Command('claim'), 'review claim chk_… --node readers')
    .summary('claim a seat of a review')
    .description('Claim a seat of a review. It goes back when you do not judge in time.')
    .argument('<check>', 'the check, chk_…', idOf('check'))
    .requiredOption('--node <key>', 'the node that asks, as the list shows it')
    .action((check: string, { node, ...options }: RemoteOptions & { readonly node: string }) =>
      showAnswer(context, options, { method: 'POST', path: pathOf(check), body: { node } }),
    );
  const release = withRemoteOptions(new Command('release'), 'review release chk_… sea_…')
    .summary('give a claimed seat back')
    .description('Give a claimed seat back.')
    .argument('<check>', 'the check, chk_…', idOf('check'))
    .argument('<seat>', 'your seat, sea_…', idOf('seat'))
    .action((check: string, seat: string, options: RemoteOptions) =>
      showAnswer(context, options, { method: 'POST', path: pathOf(check, seat, 'release') }),
    );
  const judge = withRemoteOptions(
    new Command('judge'),
    'review judge chk_… sea_… --judgment accept --statement "Right."',
  )
    .summary('judge from a claimed seat')
    .description('Judge from a claimed seat, once and for good.')
    .argument('<check>', 'the check, chk_…', idOf('check'))
    .argument('<seat>', 'your seat, sea_…', idOf('seat'))
    .addOption(
      new Option('--judgment <word>', 'your judgment')
        .choices(['accept', 'reject', 'unresolved'])
        .makeOptionMandatory(),
    )
    .requiredOption('--statement <text>', 'why')
    .action((check: string, seat: string, { judgment, statement, ...options }: JudgeOptions) =>
      showAnswer(context, options, {
        method: 'POST',
        path: pathOf(check, seat, 'judgment'),
        body: { judgment, statement },
      }),
    );
  return new Command('review')
    .summary('judge what others have handed in')
    .description('Judge what others have handed in, by seats of reviews.')
    .addHelpText('after', HELP)
    .addCommand(list)
    .addCommand(claim)
    .addCommand(release)
    .addCommand(judge);
}

const HELP = `
Examples:
  $ kervyxa review list
  $ kervyxa review claim chk_… --node readers
  $ kervyxa review judge chk_… sea_… --judgment accept --statement "Right."
${REMOTE_HELP}`;

function pathOf(check: string, ...rest: readonly string[]): string {
  return ['/v1/checks', check, 'seats', ...rest].join('/');
}
