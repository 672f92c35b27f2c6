import type { Check } from '@kervyxa/setup';
import { describe, expect, it } from 'vitest';
import { fakeScreen } from '../testing/fake-host.ts';
import { showChecks } from './doctor.ts';

const NODE: Check = {
  id: 'node',
  status: 'ok',
  found: '24.22.3',
  expected: '22.18 or newer',
  fix: '',
};
const RUNC: Check = {
  id: 'runc',
  status: 'warn',
  found: '1.1.5+ds1',
  expected: '1.2.8 or newer',
  fix: 'a build of the distribution with fixes of its own: keep it updated and see its security tracker',
};
const ENGINE: Check = {
  id: 'engine',
  status: 'fail',
  found: 'none answers',
  expected: 'a Docker engine',
  fix: 'run npm run setup',
};

describe('kervyxa doctor', () => {
  it('shows what was found, and below what is wrong how to mend it', () => {
    const screen = fakeScreen();
    expect(showChecks([NODE, RUNC, ENGINE], {}, screen)).toBe(1);
    expect(screen.text()).toBe(`ok    node    24.22.3
warn  runc    1.1.5+ds1 (expected 1.2.8 or newer)
              fix: a build of the distribution with fixes of its own: keep it
              updated and see its security tracker
FAIL  engine  none answers (expected a Docker engine)
              fix: run npm run setup

This machine can not verify: 1 problem, 1 warning.
`);
  });

  it('says what was found also where the terminal is hardly wide enough for it', () => {
    const screen = fakeScreen({ columns: 18 });
    showChecks([NODE], {}, screen);
    expect(screen.text()).toContain('24.22.3');
  });

  it('exits with 0 where there are only warnings', () => {
    const screen = fakeScreen();
    expect(showChecks([NODE, RUNC], {}, screen)).toBe(0);
    expect(screen.text()).toMatch(/\nThis machine can verify, 1 warning\.\n$/);
  });

  it('prints the same as JSON, with the same exit code', () => {
    const screen = fakeScreen();
    expect(showChecks([NODE, ENGINE], { json: true }, screen)).toBe(1);
    expect(JSON.parse(screen.text())).toEqual({ ok: false, checks: [NODE, ENGINE] });
  });
});
