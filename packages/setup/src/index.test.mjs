import { expect, it } from 'vitest';
import * as setup from './index.mjs';

it('set-up exports what other packages use, and no more', () => {
  expect(new Set(Object.keys(setup))).toEqual(
    new Set([
      'SETUP_ERRORS',
      'SetupError',
      'createReporter',
      'diagnose',
      'ensureReady',
      'explainError',
      'findEngine',
      'interruptible',
      'loadRuntimes',
      'stateFolder',
    ]),
  );
});

it('each error code says what it means and ends in a status of its own kind', () => {
  for (const [code, { exitCode, meaning }] of Object.entries(setup.SETUP_ERRORS)) {
    expect(code).toMatch(/^SETUP_[A-Z]+(_[A-Z]+)*$/);
    expect(meaning).not.toBe('');
    expect([69, 78, 130]).toContain(exitCode);
  }
});
