import { expect, it } from 'vitest';
import { judgeRunc } from './runc-version.ts';

it.each(['1.2.8', '1.2.9', '1.3.3', '1.4.0', '1.4.1+ds1', '1.5.0-rc.1', '2.0.0', 'v1.3.4'])(
  'C34 has the fixes of known ways out in runc %s',
  (version) => {
    expect(judgeRunc(version)).toBeNull();
  },
);

it.each(['0.1.1', '1.1.5+ds1', '1.1.12', '1.2.7', '1.3.2', '1.4.0-rc.2', '1.0.0-rc93'])(
  'C34 says that runc %s lacks them',
  (version) => {
    expect(judgeRunc(version)).toContain('1.2.8, 1.3.3, 1.4.0 or later');
  },
);

it.each(['', 'unknown', '1.2'])('C34 says that it can not tell by %j', (version) => {
  expect(judgeRunc(version)).toContain('does not tell');
});
