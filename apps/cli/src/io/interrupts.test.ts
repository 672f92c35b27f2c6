import { describe, expect, it } from 'vitest';
import { fakeHost } from '../testing/fake-host.ts';
import { watchInterrupts } from './interrupts.ts';

describe('a stop signal', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s announces, then aborts, and asks for exit code %i', (name, exitCode) => {
    const host = fakeHost();
    const interrupts = watchInterrupts(host);
    const order: string[] = [];
    interrupts.onFirst((signal) => order.push(`announce ${signal}`));
    interrupts.signal.addEventListener('abort', () => order.push('abort'));
    expect(interrupts.exitCode()).toBeNull();
    host.raise(name);
    expect(order).toEqual([`announce ${name}`, 'abort']);
    expect(interrupts.exitCode()).toBe(exitCode);
    expect(host.exits).toEqual([]);
  });

  it('leaves at once when it comes a second time, also as another signal', () => {
    const host = fakeHost();
    const interrupts = watchInterrupts(host);
    host.raise('SIGINT');
    host.raise('SIGTERM');
    expect(host.exits).toEqual([143]);
    expect(interrupts.exitCode()).toBe(130);
  });

  it('forces when it comes a second time, where the command knows how, and leaves at the third', () => {
    const host = fakeHost();
    const interrupts = watchInterrupts(host);
    let forced = 0;
    interrupts.onSecond(() => {
      forced += 1;
    });
    for (const _ of [1, 2]) host.raise('SIGINT');
    expect({ forced, exits: host.exits }).toEqual({ forced: 1, exits: [] });
    host.raise('SIGTERM');
    expect({ forced, exits: host.exits }).toEqual({ forced: 1, exits: [143] });
  });

  it('is the process’s own again after the end', () => {
    const host = fakeHost();
    const interrupts = watchInterrupts(host);
    interrupts.close();
    host.raise('SIGINT');
    expect(interrupts.signal.aborted).toBe(false);
  });
});
