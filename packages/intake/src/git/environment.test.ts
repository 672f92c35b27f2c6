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

it('G03 G04 pins a remote to its checked addresses and follows no redirect', () => {
  const pin = 'git.example.com:443:8.8.8.8,[2606:50c0:8000::153]';
  const environment = gitEnvironment({ ...options, remote: { protocol: 'https', pin } });
  expect(environment['GIT_ALLOW_PROTOCOL']).toBe('https');
  expect(settingsOf(environment)).toMatchObject({
    'http.curloptResolve': pin,
    'http.followRedirects': 'false',
    'http.sslVerify': 'true',
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
