import { describe, expect, it } from 'vitest';
import { toGitCheck, toRuntimeCheck, toSandboxChecks, toSettingsCheck } from './machine-checks.ts';

describe('the check of git', () => {
  it.each([
    [{ version: '2.50.1', status: 'fixed', note: null }, 'ok', ''],
    [
      { version: '2.39.5', status: 'backport_unknown', note: 'see' },
      'warn',
      'keep it updated: see',
    ],
    [
      { version: '2.30.0', status: 'too_old', note: '2.37 is needed' },
      'fail',
      'update git: 2.37 is needed',
    ],
  ] as const)('answers %j with %s', (version, status, fix) => {
    expect(toGitCheck(version)).toMatchObject({ found: version.version, status, fix });
  });

  it('fails where git can not be started, and says how to get it', () => {
    const check = toGitCheck(new Error('spawn git ENOENT'));
    expect(check).toMatchObject({ status: 'fail', found: 'spawn git ENOENT' });
    expect(check.fix).toContain('apt-get install git');
  });
});

describe('the check of the sandbox', () => {
  const FACTS = {
    kind: 'docker',
    version: '20.10',
    apiVersion: '1.41',
    cgroupVersion: '1',
    cpuCount: 2,
    memoryBytes: 2 ** 30,
    architecture: 'x86_64',
    strategy: 'overlay',
    runtime: 'runc',
    limitations: [],
  } as const;

  it('is one line on an engine that can do everything', () => {
    expect(toSandboxChecks(FACTS)).toEqual([
      {
        id: 'sandbox',
        status: 'ok',
        found: 'workspaces by overlay, cgroup v1, runtime runc',
        expected: 'a trial run',
        fix: '',
      },
    ]);
  });

  it('warns of each thing that the engine can not do', () => {
    const limitations = ["The engine can't limit swap.", "The engine can't pin a run to CPUs."];
    const checks = toSandboxChecks({ ...FACTS, limitations });
    expect(checks.slice(1).map(({ status, found }) => [status, found])).toEqual([
      ['warn', limitations[0]],
      ['warn', limitations[1]],
    ]);
  });
});

it('fails for a container runtime that the engine does not have, and says what to do', () => {
  const error = {
    message: 'expected an engine with runsc, got one with runc',
    fix: 'name it in daemon.json',
  };
  expect(toRuntimeCheck(error)).toMatchObject({
    status: 'fail',
    found: 'expected an engine with runsc, got one with runc',
    fix: 'name it in daemon.json',
  });
});

it('shows a malformed setting as a check that failed, with its fix', () => {
  const error = { message: 'expected 0 or 1 in A, got "2"', fix: 'A: whether to' };
  expect(toSettingsCheck(error)).toMatchObject({
    status: 'fail',
    found: 'expected 0 or 1 in A, got "2"',
    fix: 'A: whether to',
  });
});
