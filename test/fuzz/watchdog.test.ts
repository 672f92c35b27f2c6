import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const WATCHDOG = join(import.meta.dirname, 'watchdog.ts');

it('has a reader that never comes back: ends the process, and says at which input', () => {
  const program = `
    import { startWatchdog } from ${JSON.stringify(WATCHDOG)};
    const watchdog = await startWatchdog('a reader', 7, 1);
    watchdog.beat();
    watchdog.beat();
    for (;;);
  `;
  const argv = ['--input-type=module', '-e', program];
  const { signal, stderr } = spawnSync(process.execPath, argv, {
    encoding: 'utf8',
    timeout: 30_000,
  });
  expect(stderr).toContain('HANGS: a reader, at input 2 of FUZZ_SEED=7\n');
  expect(signal).toBe('SIGKILL');
});

it('has a reader that goes on: lets the process end by itself', () => {
  const program = `
    import { startWatchdog } from ${JSON.stringify(WATCHDOG)};
    const watchdog = await startWatchdog('a reader', 7, 1);
    watchdog.beat();
    await watchdog.stop();
    process.exitCode = 3;
  `;
  const argv = ['--input-type=module', '-e', program];
  const { status, stderr } = spawnSync(process.execPath, argv, {
    encoding: 'utf8',
    timeout: 30_000,
  });
  expect([status, stderr]).toEqual([3, '']);
});
