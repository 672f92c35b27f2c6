import { createConformance, type CheckerPackage } from '@kervyxa/checker';
import { createFakeSandbox, type FakeCommand } from '@kervyxa/sandbox/fake';
import { createGate } from '@kervyxa/verifier';
import type { CheckerMachine } from '../io/checker-machine.ts';

const COMMAND = 'python3 /input/checker/checker.py';

/** A machine whose packages are given and whose every program does what `script` says; `files` are by path. */
export function fakeCheckerMachine(
  packages: Readonly<Record<string, CheckerPackage>>,
  script: FakeCommand,
  files: Readonly<Record<string, string>> = {},
): CheckerMachine {
  return {
    loadPackages: async () =>
      Object.entries(packages).map(([name, checker]) => ({ name, package: checker })),
    async loadInput(path) {
      const text = files[path];
      if (text === undefined) throw new Error(`expected no reading of ${path}`);
      return { filename: path, mediaType: null, content: Buffer.from(text, 'latin1') };
    },
    async open({ log }) {
      log('engine ready');
      return {
        sandbox: createFakeSandbox({ commands: { [COMMAND]: script } }),
        runtimes: new Map([['kervyxa-runtime/python:1', `sha256:${'2'.repeat(64)}`]]),
        gate: createGate(),
        conformance: createConformance(),
      };
    },
  };
}

/** Says verified where the only artifact has the word in it, else refuted. */
export function verifiesWhere(word: string): FakeCommand {
  return ({ input }) => {
    const path = [...input.keys()].find((each) => /^artifacts\/[^/]+\/./.test(each)) ?? '';
    const isRight = Buffer.from((input.get(path) ?? '') as Uint8Array).includes(word);
    const result = isRight ? 'verified' : 'refuted';
    return { writes: { 'result.json': JSON.stringify({ result, reason: `looked for ${word}` }) } };
  };
}
