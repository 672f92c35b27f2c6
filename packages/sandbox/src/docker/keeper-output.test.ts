import { expect, it } from 'vitest';
import { KeeperOutput } from './keeper-output.ts';

it('hands out answers and measurements each in order, wherever a pipe cuts them or one comes between', async () => {
  const output = new KeeperOutput();
  const first = output.answers.next();
  for (const piece of ['o', 'k one\nmeas', 'ured aa bb\nok ', '\nmeasured cc\nok three\n']) {
    output.push('stdout', Buffer.from(piece));
  }
  expect(await first).toBe('ok one');
  expect(await output.answers.next()).toBe('ok ');
  expect(await output.answers.next()).toBe('ok three');
  expect(await output.measurements.next()).toBe('aa bb');
  expect(await output.measurements.next()).toBe('cc');
});

it('keeps the beginning of what a keeper complains of, and no more', () => {
  const output = new KeeperOutput();
  for (let time = 0; time < 100; time += 1) output.push('stderr', Buffer.from('No space left. '));
  expect(output.errors).toMatch(/^(No space left\. )+/);
  expect(output.errors).toHaveLength(500);
});
