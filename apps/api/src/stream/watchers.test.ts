import { expect, it } from 'vitest';
import { createWatchers } from './watchers.ts';

it('opens streams without end: each principal has a bound, all together another', () => {
  const watchers = createWatchers({ watchersPerPrincipalMax: 2, watchersMax: 3 });
  const leave = watchers.enter('a');
  watchers.enter('a');
  const refused = expect.objectContaining({ code: 'API_WATCHERS_EXCEEDED' });
  expect(() => watchers.enter('a')).toThrow(refused);
  watchers.enter('b');
  expect(() => watchers.enter('c')).toThrow(refused);
  leave();
  watchers.enter('c');
});
