#!/usr/bin/env node
// Plain JavaScript, so that any Node.js can start it: it makes sure of the npm packages, then hands over to the
// program on a Node.js that runs TypeScript. Set-up is imported by path because node_modules may be what is missing.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { explainError } from '../../../packages/setup/src/errors.mjs';
import { interruptible } from '../../../packages/setup/src/interrupt.mjs';
import { ensurePackages, findNode } from '../../../packages/setup/src/packages.mjs';
import { createReporter } from '../../../packages/setup/src/progress.mjs';

const MAIN = new URL('../src/main.ts', import.meta.url);
const FORWARDED = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGWINCH']);

try {
  // stdout belongs to the command's own output.
  const reporter = createReporter(process.stderr);
  await interruptible((signal) => ensurePackages({ ...reporter, signal }));
  const node = findNode();
  if (node === process.execPath) await import(MAIN.href);
  else process.exitCode = await runOn(node);
} catch (error) {
  const { text, exitCode } = explainError(error);
  console.error(text);
  process.exitCode = exitCode;
}

/**
 * @param {string} node
 * @returns {Promise<number>} the exit status to end with
 */
async function runOn(node) {
  const child = spawn(node, [fileURLToPath(MAIN), ...process.argv.slice(2)], {
    stdio: 'inherit',
    // A group of its own: a terminal's Ctrl-C then comes to this process only, and goes on exactly once.
    detached: true,
  });
  for (const name of FORWARDED) process.on(name, () => child.kill(name));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, name) => {
      resolve(code ?? 128 + (name === null ? 0 : constants.signals[name]));
    });
  });
}
