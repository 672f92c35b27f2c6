import { describe, expect, it } from 'vitest';
import * as check from './checks.mjs';

describe('the doctor', () => {
  it.each([
    ['1.1.11', 'fail'],
    ['1.1.12', 'warn'],
    ['1.1.5+ds1-1+deb12u1', 'warn'],
    ['1.1.12-0ubuntu2~22.04.1', 'warn'],
    ['1.2.7', 'warn'],
    ['1.2.8', 'ok'],
    ['1.3.2', 'warn'],
    ['1.3.3', 'ok'],
    ['1.4.0-rc.2', 'warn'],
    ['1.4.0', 'ok'],
    ['2.0.0', 'ok'],
    [null, 'warn'],
  ])('holds runc %s against the known escapes: %s', (version, status) => {
    expect(check.checkRunc(version).status).toBe(status);
  });

  it.each([
    ['19.03.15', 'fail'],
    ['20.10.24+dfsg1', 'ok'],
    ['28.2.2', 'ok'],
  ])('takes engine %s for %s', (version, status) => {
    expect(check.checkEngineVersion(version, 'env').status).toBe(status);
  });

  it('fails an engine that can’t limit what a contract limits, and names the limit', () => {
    const limits = { CgroupVersion: '1', MemoryLimit: true, PidsLimit: true, CpuCfsQuota: true };
    expect(check.checkCgroup({ ...limits, SwapLimit: true })).toMatchObject({
      status: 'ok',
      fix: '',
    });
    expect(check.checkCgroup(limits)).toMatchObject({
      status: 'fail',
      found: 'v1, without SwapLimit',
    });
  });

  it('fails an engine without seccomp', () => {
    expect(check.checkSeccomp(['name=seccomp,profile=default']).status).toBe('ok');
    expect(check.checkSeccomp(['name=cgroupns']).status).toBe('fail');
  });

  it('gives a fix with everything that is not ok', () => {
    const bad = [
      check.checkNode('20.0.0'),
      check.checkCpus(1),
      check.checkMemory(1e9),
      check.checkDisk('disk', '/', 1e9),
      check.checkStorage('vfs'),
      check.checkPlatform({ OSType: 'windows', Architecture: 'x86_64', KernelVersion: '10' }),
      check.checkImage('k', undefined),
    ];
    for (const { status, fix } of bad) {
      expect(status).not.toBe('ok');
      expect(fix).not.toBe('');
    }
  });
});

describe('compareVersions', () => {
  it('compares numbers, not text, and takes what is missing for 0', () => {
    expect(check.compareVersions(check.parseVersion('v1.10'), [1, 9, 9])).toBeGreaterThan(0);
    expect(check.compareVersions(check.parseVersion('1.2'), [1, 2, 0])).toBe(0);
    expect(check.compareVersions(check.parseVersion('junk'), [0, 1])).toBeLessThan(0);
  });
});
