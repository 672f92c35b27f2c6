import { describe, expect, it } from 'vitest';
import { runCli } from './cli.ts';
import { fakeHost } from './testing/fake-host.ts';

describe('the command line', () => {
  it.each([
    ['an unknown command', ['verfy'], /unknown command 'verfy'\nfix: Did you mean verify\?\n$/],
    [
      'an unknown option',
      ['lint', 'x', '--jsn'],
      /unknown option '--jsn'\nfix: Did you mean --json\?\n$/,
    ],
    [
      'a missing option',
      ['verify', '--repo', 'r'],
      /required option '--contract <file>' not specified\n/,
    ],
    [
      'a missing argument',
      ['lint'],
      /missing required argument 'file'\nfix: "kervyxa lint --help" shows how\.\n$/,
    ],
    [
      'a missing option of a command below another',
      ['deps', 'pack', '--lockfile', 'x'],
      /'-o, --out <file>' not specified\nfix: "kervyxa deps pack --help" shows how\.\n$/,
    ],
    ['an argument too many', ['doctor', 'now'], /too many arguments/],
    ['a port that is none', ['up', '--port', '65536'], /expected a whole number from 0 to 65535/],
    ['slots that are none', ['worker', '--slots', '1e3'], /expected a whole number from 1 to 64/],
  ])('answers %s with one clear line, a fix, and exit code 2', async (_what, argv, lines) => {
    const host = fakeHost();
    expect(await runCli(argv, host)).toBe(2);
    expect(host.stderr.text()).toMatch(lines);
    expect(host.stderr.text()).toMatch(/^error CLI_USAGE_INVALID: [^\n]*\nfix: [^\n]*\n$/);
    expect(host.stdout.text()).toBe('');
  });

  it('shows its help on stdout when asked, and on stderr with exit code 2 when not', async () => {
    const asked = fakeHost();
    expect(await runCli(['--help'], asked)).toBe(0);
    const notAsked = fakeHost();
    expect(await runCli([], notAsked)).toBe(2);
    expect(notAsked.stdout.text()).toBe('');
    expect(notAsked.stderr.text()).toBe(asked.stdout.text());
  });

  it.each([
    'up',
    'api',
    'worker',
    'operator-key',
    'lint',
    'prove',
    'verify',
    'doctor',
    'runtimes',
    'deps',
    'deps pack',
    'package',
    'package pack',
    'checker',
    'checker init',
    'checker lint',
    'evidence',
    'evidence verify',
    'evidence replay',
    'keys',
    'keys show',
    'keys rotate',
    'worker-key',
    'worker-key rotate',
    'worker-key retire',
    'checker publish',
    'checker list',
    'checker show',
    'problem',
    'problem create',
    'problem list',
    'problem show',
    'problem open',
    'problem close',
    'problem release',
    'entry',
    'entry submit',
    'entry show',
    'entry nominate',
    'check',
    'check show',
    'check list',
    'check report',
    'review',
    'review list',
    'review claim',
    'review release',
    'review judge',
  ])('explains %s with examples within 80 columns', async (command) => {
    const host = fakeHost({ columns: 80 });
    expect(await runCli([...command.split(' '), '--help'], host)).toBe(0);
    expect(host.stdout.text()).toContain(`$ kervyxa ${command}`);
    const widths = host.stdout
      .text()
      .split('\n')
      .map((line) => line.length);
    expect(Math.max(...widths)).toBeLessThanOrEqual(80);
  });

  it('prints its version', async () => {
    const host = fakeHost();
    expect(await runCli(['--version'], host)).toBe(0);
    expect(host.stdout.text()).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
