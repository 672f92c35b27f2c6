import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createGate, type Gate } from './gate.ts';

const never = new AbortController().signal;

/** Work that notes when it begins and ends when it is told to. */
function controlled(log: string[], name: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    end: resolve,
    work: async () => {
      log.push(name);
      await promise;
      return name;
    },
  };
}

function enter(gate: Gate, mode: 'beside' | 'alone', log: string[], name: string, signal = never) {
  const { end, work } = controlled(log, name);
  const done = gate[mode](work, signal);
  return { end, done };
}

describe('the gate', () => {
  it('lets any number run beside each other', async () => {
    const log: string[] = [];
    const gate = createGate();
    const runs = ['a', 'b', 'c'].map((name) => enter(gate, 'beside', log, name));
    await turn();
    expect(log).toEqual(['a', 'b', 'c']);
    runs.forEach(({ end }) => end());
    expect(await Promise.all(runs.map(({ done }) => done))).toEqual(['a', 'b', 'c']);
  });

  it('keeps one that is alone from those that run, and keeps those that come later behind it', async () => {
    const log: string[] = [];
    const gate = createGate();
    const first = enter(gate, 'beside', log, 'first');
    const alone = enter(gate, 'alone', log, 'alone');
    const later = enter(gate, 'beside', log, 'later');
    await turn();
    expect(log).toEqual(['first']);
    first.end();
    await first.done;
    await turn();
    expect(log).toEqual(['first', 'alone']);
    alone.end();
    await alone.done;
    await turn();
    expect(log).toEqual(['first', 'alone', 'later']);
    later.end();
    await later.done;
  });

  it('lets two that want to be alone at once run one after the other', async () => {
    const log: string[] = [];
    const gate = createGate();
    const runs = ['a', 'b'].map((name) => enter(gate, 'alone', log, name));
    await turn();
    expect(log).toEqual(['a']);
    runs.forEach(({ end }) => end());
    await Promise.all(runs.map(({ done }) => done));
    expect(log).toEqual(['a', 'b']);
  });

  it('is free again after work that failed', async () => {
    const gate = createGate();
    const failed = gate.alone(() => Promise.reject(new Error('broke')), never);
    await expect(failed).rejects.toThrow('broke');
    expect(await gate.alone(async () => 'next', never)).toBe('next');
  });

  it('forgets who gives up waiting, and lets in those behind', async () => {
    const log: string[] = [];
    const gate = createGate();
    const first = enter(gate, 'beside', log, 'first');
    const controller = new AbortController();
    const alone = enter(gate, 'alone', log, 'alone', controller.signal);
    const later = enter(gate, 'beside', log, 'later');
    controller.abort(new Error('no longer wanted'));
    await expect(alone.done).rejects.toThrow('no longer wanted');
    await turn();
    expect(log).toEqual(['first', 'later']);
    first.end();
    later.end();
    await Promise.all([first.done, later.done]);
  });
});
