// Run by npm before `test`, `demo` and `bench`: makes sure of npm packages, a Docker engine and the runtime images.
import { explainError } from './errors.mjs';
import { interruptible } from './interrupt.mjs';
import { ensurePackages } from './packages.mjs';
import { createReporter } from './progress.mjs';
import { ensureReady } from './ready.mjs';

const reporter = createReporter(process.stderr);
const interactive = Boolean(process.stdin.isTTY && process.stdout.isTTY && !process.env['CI']);
try {
  await interruptible(async (signal) => {
    await ensurePackages({ ...reporter, signal });
    await ensureReady({ ...reporter, signal, interactive });
  });
} catch (error) {
  const { text, exitCode } = explainError(error);
  reporter.log(text);
  process.exitCode = exitCode;
}
