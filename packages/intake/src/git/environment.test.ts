import { expect, it } from 'vitest';
import { gitEnvironment } from './environment.ts';
import { DEFAULT_LIMITS } from './limits.ts';

const options = { gitDir: '/r.git', home: '/home', limits: DEFAULT_LIMITS, remote: null };

function settingsOf(environment: Record<string, string>): Record<string, string | undefined> {
  const count = Number(environment['GIT_CONFIG_COUNT']);
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      environment[`GIT_CONFIG_KEY_${index}`],
      environment[`GIT_CONFIG_VALUE_${index}`],
    ]),
  );
}

it('lets a git without a remote connect to nothing', () => {
  expect(gitEnvironment(options)['GIT_ALLOW_PROTOCOL']).toBe('none');
});

it('G03 lets a git with a remote speak http to it, and follow no redirect', () => {
  const environment = gitEnvironment({ ...options, remote: 'http://127.0.0.1:1/r' });
  expect(environment['GIT_ALLOW_PROTOCOL']).toBe('http');
  expect(settingsOf(environment)).toMatchObject({
    'http.followRedirects': 'false',
    'http.proxy': '',
    'credential.helper': '',
  });
});

it('G09 hands on nothing of the daemon’s environment', () => {
  process.env['GIT_SSH_COMMAND'] = 'touch /canary';
  process.env['HTTPS_PROXY'] = 'http://proxy.example.com';
  try {
    const names = Object.keys(gitEnvironment(options));
    expect(names).not.toContain('GIT_SSH_COMMAND');
    expect(names).not.toContain('HTTPS_PROXY');
  } finally {
    delete process.env['GIT_SSH_COMMAND'];
    delete process.env['HTTPS_PROXY'];
  }
});

it('quotes folders with a colon in their names', () => {
  const environment = gitEnvironment({ ...options, alternates: ['/a:b', '/c'] });
  expect(environment['GIT_ALTERNATE_OBJECT_DIRECTORIES']).toBe('"/a:b/objects":"/c/objects"');
});
