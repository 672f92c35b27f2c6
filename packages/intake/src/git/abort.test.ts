import { expect, it } from 'vitest';
import { orAborted } from './abort.ts';

it('ends with the promise, or with the reason of the abort, whichever is first', async () => {
  const controller = new AbortController();
  expect(await orAborted(Promise.resolve(7), controller.signal)).toBe(7);
  await expect(orAborted(Promise.reject(new Error('no')), controller.signal)).rejects.toThrow('no');
  const reason = new Error('the user gave up');
  const { promise, reject } = Promise.withResolvers<never>();
  const waiting = orAborted(promise, controller.signal);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  // Vitest fails for a rejection that nobody handles, here and where the signal is aborted from the start.
  reject(new Error('too late'));
  await expect(orAborted(Promise.reject(new Error('no')), controller.signal)).rejects.toBe(reason);
});
