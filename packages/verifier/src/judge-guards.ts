/** What an exception that nobody caught becomes in a judge; 1 is the answer "refuted". */
export const GUARD_STATUS = 70;

const FOLDER = '.kervyxa';

/**
 * Node.js and Python leave with 1 for an exception that nobody caught, as a judge does that refutes: without these a
 * broken judge would be the solver's FAIL. An assertion that does not hold is a refutation and stays 1. Only what ends
 * the process by itself is changed: a judge that catches, or leaves by itself, has its own status.
 */
export const JUDGE_GUARDS: Readonly<Record<string, string>> = {
  [`${FOLDER}/guard.cjs`]: `'use strict';
process.on('uncaughtExceptionMonitor', (error) => {
  const isAssertion = error !== null && typeof error === 'object' && error.code === 'ERR_ASSERTION';
  if (isAssertion || process.listenerCount('uncaughtException') > 0) return;
  process.exitCode = ${GUARD_STATUS};
  process.once('exit', () => {
    process.exitCode = ${GUARD_STATUS};
  });
});
`,
  [`${FOLDER}/sitecustomize.py`]: `import os
import sys


def excepthook(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    if issubclass(kind, AssertionError):
        return
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    os._exit(${GUARD_STATUS})


sys.excepthook = excepthook
`,
};

/** Where the judge finds what the probe left; relative to /workspace. */
export const PROBE_OUTPUT_FOLDER = 'probe-output';

/** The judge's command as its container gets it, under the guards. */
export function toJudgeCommand(command: string): string {
  const names = [
    `KERVYXA_PROBE_OUTPUT=/workspace/${PROBE_OUTPUT_FOLDER}`,
    `NODE_OPTIONS=--require=/workspace/${FOLDER}/guard.cjs`,
    `PYTHONPATH=/workspace/${FOLDER}`,
  ];
  return `export ${names.join(' ')}\n${command}`;
}
