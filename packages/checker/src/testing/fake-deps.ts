import { createFakeSandbox, type FakeBehaviour, type FakeCommand } from '@kervyxa/sandbox/fake';
import type { CheckDeps } from '../run/check-deps.ts';

export const SCRIPT_COMMAND = 'python3 /input/checker/checker.py';
export const PYTHON_IMAGE = `sha256:${'2'.repeat(64)}`;

export interface FakeDeps extends CheckDeps {
  /** In order, which way each invocation went through the gate. */
  readonly passed: readonly ('beside' | 'alone')[];
}

/** Dependencies whose one command, that of every script, does what is given. */
export function fakeDeps(script: FakeCommand, imageCommand?: FakeCommand): FakeDeps {
  const passed: ('beside' | 'alone')[] = [];
  const enter =
    (way: 'beside' | 'alone') =>
    <T>(work: () => Promise<T>): Promise<T> => {
      passed.push(way);
      return work();
    };
  return {
    sandbox: createFakeSandbox({
      commands: { [SCRIPT_COMMAND]: script },
      ...(imageCommand !== undefined && { imageCommand }),
    }),
    runtimes: new Map([['kervyxa-runtime/python:1', PYTHON_IMAGE]]),
    gate: { beside: enter('beside'), alone: enter('alone') },
    passed,
  };
}

/** What a program that comes to an answer does. */
export function says(answer: object): FakeBehaviour {
  return { writes: { 'result.json': JSON.stringify(answer) } };
}
