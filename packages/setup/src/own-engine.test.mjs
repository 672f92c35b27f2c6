import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { pickOwn } from './own-engine.mjs';
import { listProcesses } from './processes.mjs';

const paths = { data: '/var/lib/kervyxa/engine/data', exec: '/var/lib/kervyxa/engine/exec' };
const root = 0;
const nobody = 65_534;

/**
 * @param {number} pid
 * @param {number} parent
 * @param {number} user
 * @param {string[]} argv
 */
const running = (pid, parent, user, argv) => ({ pid, parent, group: pid, user, argv });

const dockerd = running(10, 1, root, ['dockerd', `--data-root=${paths.data}`]);
const containerd = running(11, 10, root, [
  'containerd',
  '--config',
  `${paths.exec}/containerd/containerd.toml`,
]);
const shim = running(12, 1, root, [
  '/usr/bin/containerd-shim-runc-v2',
  '-address',
  `${paths.exec}/containerd/containerd.sock`,
]);
const contained = running(13, 12, nobody, ['node', 'solve.js']);

it('finds our engine, its helpers and what runs in its containers', () => {
  const others = running(14, 1, root, ['dockerd', '--data-root=/var/lib/docker']);
  expect(pickOwn([others, dockerd, containerd, shim, contained], paths, root)).toEqual({
    dockerd: 10,
    others: [13, 11, 12],
  });
});

it('is not fooled by a program in a container that calls itself our engine', () => {
  const forged = running(13, 12, nobody, dockerd.argv);
  expect(pickOwn([shim, forged], paths, root)).toEqual({ dockerd: undefined, others: [13, 12] });
});

it('kills nothing for a program in a container that calls itself a shim', () => {
  const forged = running(20, 12, nobody, shim.argv);
  const child = running(21, 20, nobody, ['x']);
  expect(pickOwn([forged, child], paths, root).others).toEqual([]);
});

it('reads whose a process is', async () => {
  const child = spawn('sleep', ['60'], { argv0: 'dockerd' });
  await once(child, 'spawn');
  try {
    const found = listProcesses().find(({ pid }) => pid === child.pid);
    expect(found).toMatchObject({ user: process.getuid?.(), parent: process.pid });
  } finally {
    child.kill('SIGKILL');
  }
});
