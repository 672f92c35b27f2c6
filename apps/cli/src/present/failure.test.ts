import { SetupError } from '@kervyxa/setup';
import { describe, expect, it } from 'vitest';
import { cliError } from '../errors.ts';
import { fakeHost } from '../testing/fake-host.ts';
import { presentFailure } from './failure.ts';

describe('an error on the screen', () => {
  it('is one line with its code, and one with the fix', () => {
    const host = fakeHost();
    const error = cliError('CLI_COMMIT_INVALID', { message: 'got "abc"', fix: 'All 40.' });
    expect(presentFailure(error, host)).toMatchObject({ fault: 'caller', exitCode: 2 });
    expect(host.stderr.text()).toBe('error CLI_COMMIT_INVALID: got "abc"\nfix: All 40.\n');
  });

  it('is wrapped at blanks on a terminal', () => {
    const host = fakeHost({ terminal: true, columns: 40 });
    const message = 'expected a commit as 40 lower-case hex digits';
    presentFailure(cliError('CLI_COMMIT_INVALID', { message }), host);
    expect(host.stderr.text()).toBe(
      'error CLI_COMMIT_INVALID: expected a\ncommit as 40 lower-case hex digits\n',
    );
  });

  it('M22 shows line breaks and escape sequences of a hostile message as text', () => {
    const host = fakeHost();
    presentFailure(new Error('x\u001b[2J\nerror FORGED: line'), host);
    expect(host.stderr.text()).toMatch(/^error CLI_INTERNAL: x\\u\{1b\}\[2J\\u\{a\}error FORGED/);
  });

  it.each([
    ['SETUP_ENGINE_MISSING', 'infra', 69],
    ['SETUP_STATE_UNUSABLE', 'caller', 78],
  ] as const)('keeps the lines of %s, which set-up wrote itself', (code, fault, exitCode) => {
    const host = fakeHost();
    const error = new SetupError(code, { message: 'one\n  two\u001b', fix: 'a\nb' });
    expect(presentFailure(error, host)).toMatchObject({ fault, exitCode });
    expect(host.stderr.text()).toBe(`error ${code}: one\n  two\\u{1b}\nfix: a\nb\n`);
  });

  it.each([new Error('boom'), 'boom', new Error('')])(
    'calls %j a defect of ours, without its stack',
    (error) => {
      const host = fakeHost();
      expect(presentFailure(error, host)).toMatchObject({ fault: 'bug', exitCode: 70 });
      expect(host.stderr.text()).toContain('KERVYXA_DEBUG=1');
      expect(host.stderr.text()).not.toContain('    at ');
    },
  );

  it('shows the stack and its causes with KERVYXA_DEBUG=1', () => {
    const host = fakeHost({ env: { KERVYXA_DEBUG: '1' } });
    presentFailure(new Error('outer', { cause: new Error('inner') }), host);
    expect(host.stderr.text()).toMatch(/Error: outer[^]* at [^]*caused by: Error: inner/);
  });
});
