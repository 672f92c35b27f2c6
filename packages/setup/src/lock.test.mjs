import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tryLock, withLock } from './lock.mjs';
import { parseStamp, processStamp } from './processes.mjs';

/** @type {string} */
let folder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kervyxa-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const quiet = { log: () => undefined };

describe('the set-up lock', () => {
  it('lets one at a time in, and tells the one that waits who is inside', async () => {
    /** @type {string[]} */
    const events = [];
    const { promise: inside, resolve: leave } = Promise.withResolvers();
    const first = withLock(folder, quiet, async () => {
      events.push('first in');
      await inside;
      events.push('first out');
    });
    const log = (/** @type {string} */ line) => {
      events.push(line);
      leave(undefined);
    };
    const second = withLock(folder, { log }, async () => {
      events.push('second in');
    });
    await Promise.all([first, second]);
    expect(events).toEqual([
      'first in',
      `another set-up is running (pid ${process.pid}): waiting for it`,
      'first out',
      'second in',
    ]);
  });

  it('is free again after the work failed', async () => {
    const failing = withLock(folder, quiet, () => Promise.reject(new Error('no space')));
    await expect(failing).rejects.toThrow('no space');
    expect(await withLock(folder, quiet, () => Promise.resolve('in'))).toBe('in');
  });

  it('is taken over from a process that was killed', () => {
    const { pid } = spawnSync('true');
    writeFileSync(join(folder, '7'), `${pid} boot:1`);
    expect(tryLock(folder)).toBe(8);
    expect(readdirSync(folder)).toEqual(['8']);
  });

  it('is taken over when the holder’s pid now belongs to another process', () => {
    writeFileSync(join(folder, '7'), `${process.pid} boot:1`);
    expect(tryLock(folder)).toBe(8);
  });

  it('is not taken over from a living holder', () => {
    writeFileSync(join(folder, '7'), `${process.pid} ${processStamp(process.pid)}`);
    expect(tryLock(folder)).toEqual({ pid: process.pid });
  });

  it('takes a file that a power cut left half written for free', () => {
    writeFileSync(join(folder, '7'), `${process.pid}`);
    expect(tryLock(folder)).toBe(8);
  });

  it('stops waiting when it is interrupted', async () => {
    const controller = new AbortController();
    await withLock(folder, quiet, async () => {
      const log = () => controller.abort(new Error('interrupted'));
      const waiting = withLock(folder, { log, signal: controller.signal }, () => Promise.resolve());
      await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    });
  });
});

describe('processStamp', () => {
  it('knows this process and no dead one', () => {
    const { pid } = spawnSync('true');
    expect(processStamp(process.pid)).toMatch(/:\d+$/);
    expect(processStamp(pid)).toBeNull();
  });

  it('reads past brackets and spaces in a program’s name', () => {
    const rest = `S ${Array.from({ length: 18 }, (_, at) => at).join(' ')} 4711 0`;
    expect(parseStamp(`12 (a) S 1 (b) ${rest}`, 'boot')).toBe('boot:4711');
  });

  it('takes a zombie for dead', () => {
    expect(parseStamp(`12 (x) Z ${Array.from({ length: 30 }, () => 1).join(' ')}`, 'b')).toBeNull();
  });
});
