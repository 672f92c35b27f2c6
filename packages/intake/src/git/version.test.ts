import { expect, it } from 'vitest';
import { judgeGitVersion } from './version.ts';

it.each([
  ['git version 2.50.1', '2.50.1', 'fixed'],
  ['git version 2.43.7', '2.43.7', 'fixed'],
  ['git version 2.51.0', '2.51.0', 'fixed'],
  ['git version 3.0.0', '3.0.0', 'fixed'],
  ['git version 2.50.0', '2.50.0', 'backport_unknown'],
  ['git version 2.39.5', '2.39.5', 'backport_unknown'],
  ['git version 2.39.5 (Apple Git-154)', '2.39.5', 'backport_unknown'],
  ['git version 2.38', '2.38.0', 'backport_unknown'],
  ['git version 2.37.9', '2.37.9', 'too_old'],
  ['git version 1.9.1', '1.9.1', 'too_old'],
  ['command not found', 'unknown', 'too_old'],
])('%s is %s, %s', (text, version, status) => {
  expect(judgeGitVersion(text)).toMatchObject({ version, status });
});
