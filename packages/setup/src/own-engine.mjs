import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runCommand, indent } from './command.mjs';
import { systemPath } from './debian.mjs';
import { Engine } from './engine-api.mjs';
import { SetupError } from './errors.mjs';
import { listProcesses, readIfThere, sendSignal, waitUntilGone } from './processes.mjs';
import { withProgress } from './progress.mjs';

const START_MS = 60_000;
// dockerd itself gives containers 15 s when it is asked to end.
const STOP_MS = 25_000;
const KILL_MS = 10_000;
const POLL_MS = 100;

/** @typedef {import('./state.mjs').EnginePaths} EnginePaths */

/**
 * Starts our own dockerd, detached so that it serves later runs too, and waits until it answers. What a killed
 * engine or a reboot left behind is cleared first. One that is already starting is waited for.
 * @param {EnginePaths} paths
 * @param {import('./progress.mjs').Reporter & { signal?: AbortSignal | undefined }} options
 * @throws {SetupError} SETUP_ENGINE_NOT_STARTED
 */
export async function startOwnEngine(paths, { signal, ...reporter }) {
  await withProgress(reporter, 'starting the Docker engine', async () => {
    if (findOwn(paths).dockerd === undefined) {
      await clearRemains(paths);
      spawnDockerd(paths);
    }
    await waitUntilItAnswers(paths, signal);
  });
}

/** @param {EnginePaths} paths */
function spawnDockerd(paths) {
  mkdirSync(paths.folder, { recursive: true });
  const log = openSync(paths.log, 'w');
  const args = [
    `--data-root=${paths.data}`,
    `--exec-root=${paths.exec}`,
    `--pidfile=${paths.pidFile}`,
    `--host=unix://${paths.socket}`,
    '--log-level=warn',
    // Containers get no network, so the engine need not touch the machine's.
    '--iptables=false',
    '--ip6tables=false',
    '--bridge=none',
  ];
  const child = spawn('dockerd', args, {
    cwd: '/',
    env: { PATH: systemPath() },
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  // Without a listener a program that can't be started would end this one; the wait below reports it.
  child.on('error', () => undefined);
  child.unref();
}

/**
 * @param {EnginePaths} paths
 * @param {AbortSignal | undefined} signal
 */
async function waitUntilItAnswers(paths, signal) {
  const engine = new Engine(`unix://${paths.socket}`);
  const deadlineMs = performance.now() + START_MS;
  let silence = await engine.silence(POLL_MS * 10);
  while (silence !== null) {
    const { dockerd } = findOwn(paths);
    if (dockerd === undefined || performance.now() > deadlineMs) {
      throw new SetupError('SETUP_ENGINE_NOT_STARTED', {
        message: [
          dockerd === undefined
            ? 'dockerd ended instead of answering; the end of its log:'
            : `dockerd (pid ${dockerd}) does not answer within ${START_MS / 1_000} s: ${silence}; the end of its log:`,
          indent(tailOf(paths.log)),
        ].join('\n'),
        fix: `read ${paths.log}; npm run engine:stop clears a hung engine; or name another engine in DOCKER_HOST`,
      });
    }
    await delay(POLL_MS, undefined, signal && { signal });
    silence = await engine.silence(POLL_MS * 10);
  }
}

/** @param {string} file */
function tailOf(file) {
  return (readIfThere(file) ?? '(no log)').trimEnd().split('\n').slice(-8).join('\n');
}

/**
 * Ends our own engine, also one that hangs, with all it started; its images are kept. Touches no other engine.
 * @param {EnginePaths} paths
 * @param {(line: string) => void} log
 * @returns {Promise<boolean>} whether there was one
 * @throws {SetupError} SETUP_ENGINE_NOT_STARTED
 */
export async function stopOwnEngine(paths, log) {
  const { dockerd } = findOwn(paths);
  if (dockerd !== undefined) {
    log(`stopping our Docker engine (pid ${dockerd}) …`);
    sendSignal(dockerd, 'SIGTERM');
    if (!(await waitUntilGone([dockerd], STOP_MS))) {
      log(`it does not end on request within ${STOP_MS / 1_000} s: killing it`);
    }
  }
  await clearRemains(paths);
  return dockerd !== undefined;
}

/**
 * Kills what is left of an engine of ours and undoes its mounts, so that the next one starts clean.
 * @param {EnginePaths} paths
 */
async function clearRemains(paths) {
  const { dockerd, others } = findOwn(paths);
  const left = [...(dockerd === undefined ? [] : [dockerd]), ...others];
  for (const pid of left) sendSignal(pid, 'SIGKILL');
  if (!(await waitUntilGone(left, KILL_MS)))
    throw notCleared(`processes ${left.join(', ')} can’t be killed`);
  for (;;) {
    const mount = mountsBelow(paths.folder).at(-1);
    if (mount === undefined) break;
    // Lazy, because a mount of a killed container can stay busy for a moment.
    const { exitCode, excerpt } = await runCommand('umount', ['-l', mount], {
      env: { PATH: systemPath() },
    });
    if (exitCode !== 0) throw notCleared(`umount ${mount}: ${excerpt}`);
  }
  for (const file of [paths.pidFile, paths.socket, join(paths.exec, 'containerd')]) {
    rmSync(file, { recursive: true, force: true });
  }
}

/** @param {string} what */
function notCleared(what) {
  return new SetupError('SETUP_ENGINE_NOT_STARTED', {
    message: `what an earlier engine of ours left can’t be cleared: ${what}`,
    fix: 'run npm run engine:stop as root; if that fails too, restart the machine',
  });
}

/**
 * Our engine's processes, known by the folders in their command lines rather than by pid files, which lie after a
 * kill or a reboot: dockerd, its containerd, the shims of its containers, and those containers' first processes.
 * @param {EnginePaths} paths
 * @returns {{ dockerd: number | undefined, others: number[] }}
 */
function findOwn(paths) {
  if (process.platform !== 'linux') return { dockerd: undefined, others: [] };
  return pickOwn(listProcesses(), paths, process.getuid?.() ?? 0);
}

/**
 * Exported for its test. What names itself after our engine and is another user's is a program in a container, which
 * can read the engine's folders in its list of mounts; it must not pass for an engine that runs.
 * @param {import('./processes.mjs').RunningProcess[]} running
 * @param {Pick<EnginePaths, 'data' | 'exec'>} paths
 * @param {number} user who starts our engine
 * @returns {{ dockerd: number | undefined, others: number[] }}
 */
export function pickOwn(running, paths, user) {
  const ours = running.filter((candidate) => candidate.user === user);
  const dockerd = ours.find(
    ({ argv }) => argv[0]?.endsWith('dockerd') && argv.includes(`--data-root=${paths.data}`),
  )?.pid;
  const helpers = ours.filter(
    ({ argv }) =>
      /(^|\/)containerd/.test(argv[0] ?? '') &&
      argv.some((word) => word.startsWith(`${paths.exec}/`)),
  );
  const shims = new Set(
    helpers.filter(({ argv }) => argv.includes('-address')).map(({ pid }) => pid),
  );
  const inside = running.filter(({ parent }) => shims.has(parent));
  return { dockerd, others: [...inside, ...helpers].map(({ pid }) => pid) };
}

/**
 * @param {string} folder
 * @returns {string[]} mount points in it, the last one mounted last
 */
export function mountsBelow(folder) {
  if (!existsSync('/proc/self/mountinfo')) return [];
  return parseMountPoints(readFileSync('/proc/self/mountinfo', 'utf8')).filter((point) =>
    point.startsWith(`${folder}/`),
  );
}

/**
 * @param {string} mountinfo in the order of mounting
 * @returns {string[]}
 */
export function parseMountPoints(mountinfo) {
  return mountinfo
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .map((point) =>
      point.replace(/\\(\d{3})/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 8))),
    );
}
