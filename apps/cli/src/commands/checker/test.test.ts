import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CommandContext } from '../../context.ts';
import { loadCheckerPackage } from '../../io/checker-package.ts';
import { watchInterrupts } from '../../io/interrupts.ts';
import { fakeCheckerMachine, verifiesWhere } from '../../testing/fake-checker-machine.ts';
import { fakeHost, type FakeHost } from '../../testing/fake-host.ts';
import { runCheckerTest } from './test.ts';

const FIXTURES = join(import.meta.dirname, '../../../../../fixtures/checkers');
const deposition = await loadCheckerPackage(join(FIXTURES, 'deposition/package'));
/** Right for `shape`; `range` wants the number to be refuted. */
const honest = verifiesWhere('"yield_percent": 61.5');

let host: FakeHost;
beforeEach(() => {
  host = fakeHost();
});

function contextOf(): CommandContext {
  return {
    host,
    interrupts: watchInterrupts(host),
    exitCode: 0,
    endsBySignal: false,
    toExitCode: () => 0,
  };
}

const machine = (script = honest) => fakeCheckerMachine({ './it': deposition }, script);

// Keeps R-CLI-CODES.
describe('kervyxa checker test', () => {
  it('answers 0 where every fixture is reproduced, with a line a fixture on stderr', async () => {
    expect(await runCheckerTest('./it', {}, contextOf(), machine())).toBe(0);
    expect(host.stderr.lines().toSorted()).toEqual(
      [
        '',
        'engine ready',
        'ok    impossible',
        'ok    no_yield',
        'ok    possible',
        'ok    right_shape',
      ].toSorted(),
    );
    expect(host.stdout.lines()).toEqual([
      'conformant  ./it: 4 fixtures of 2 sandbox stages',
      '',
      'stage shape',
      '  ✔  right_shape  verified',
      '  ✔  no_yield     refuted',
      '',
      'stage range',
      '  ✔  possible    verified',
      '  ✔  impossible  refuted',
      '',
    ]);
  });

  it('answers 1 where one is missed, and says which and what came', async () => {
    const exit = await runCheckerTest('./it', {}, contextOf(), machine(verifiesWhere('yield')));
    expect(exit).toBe(1);
    const told = [
      '  ✘  impossible  verified (wanted refuted)',
      '       expected refuted, got verified: looked for yield',
    ];
    expect(host.stdout.lines().slice(-3)).toEqual([...told, '']);
    expect(host.stderr.lines()).toContain(
      'BAD   impossible: expected refuted, got verified: looked for yield',
    );
  });

  it('runs one stage alone', async () => {
    await runCheckerTest('./it', { stage: 'range' }, contextOf(), machine());
    expect(host.stdout.lines()[0]).toBe('conformant  ./it: 2 fixtures of 1 sandbox stage');
  });

  it.each(['faithful', 'nothing', 'constructor'])('refuses --stage %s', async (stage) => {
    const run = runCheckerTest('./it', { stage }, contextOf(), machine());
    await expect(run).rejects.toMatchObject({
      code: 'CLI_USAGE_INVALID',
      message: expect.stringContaining('shape, range'),
    });
  });

  it('prints the reports as JSON', async () => {
    await runCheckerTest('./it', { json: true }, contextOf(), machine());
    const { conformant, packages } = JSON.parse(host.stdout.text());
    expect(conformant).toBe(true);
    expect(packages).toMatchObject([
      {
        name: './it',
        digest: deposition.digest,
        stages: [{ stageKey: 'shape' }, { stageKey: 'range' }],
      },
    ]);
  });

  it('has trouble of its own: thrown, not judged', async () => {
    const broken = machine(() => ({ breaksWith: new Error('no engine') }));
    await expect(runCheckerTest('./it', {}, contextOf(), broken)).rejects.toThrow('no engine');
    expect(host.stdout.text()).toBe('');
  });
});
