import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { indent, runCommand } from './command.mjs';
import { SetupError } from './errors.mjs';
import { withProgress } from './progress.mjs';

/** Debian packages that hold the programs set-up calls. @type {Readonly<Record<string, readonly string[]>>} */
const PACKAGES_OF = {
  dockerd: ['docker.io'],
  // On Ubuntu the keys of Debian's archive are a package of their own.
  mmdebstrap: ['mmdebstrap', 'debian-archive-keyring'],
};

/** PATH with the folders of system programs, which an ordinary user's PATH may lack. */
export function systemPath(env = process.env) {
  return [
    ...(env['PATH'] ?? '').split(delimiter),
    '/usr/local/sbin',
    '/usr/sbin',
    '/sbin',
    '/usr/bin',
    '/bin',
  ]
    .filter((folder) => folder !== '')
    .join(delimiter);
}

/**
 * @param {string} program
 * @param {string} [path]
 */
export function hasProgram(program, path = systemPath()) {
  return path.split(delimiter).some((folder) => isExecutable(join(folder, program)));
}

/** @param {string} file */
function isExecutable(file) {
  if (!existsSync(file)) return false;
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {string[]} programs names from PACKAGES_OF
 * @returns {string[]} the Debian packages that bring those that are missing
 */
export function missingPackages(programs) {
  return programs.flatMap((name) => (hasProgram(name) ? [] : (PACKAGES_OF[name] ?? [name])));
}

/** @returns {string | null} why Debian packages can't be installed by this process */
export function whyNotInstallable() {
  if (process.platform !== 'linux') return `this is ${process.platform}, not Debian or Ubuntu`;
  if (!hasProgram('apt-get')) return 'there is no apt-get: this is not Debian or Ubuntu';
  if (process.getuid?.() !== 0) return 'this user is not root';
  return null;
}

/**
 * Installs Debian packages; on a terminal only after a yes.
 * @param {string[]} packages
 * @param {import('./progress.mjs').Reporter & { why: string, interactive: boolean, signal?: AbortSignal | undefined }} options
 * @throws {SetupError} SETUP_INSTALL_FAILED, SETUP_DECLINED
 */
export async function installPackages(packages, { why, interactive, signal, ...reporter }) {
  const command = `apt-get install --no-install-recommends ${packages.join(' ')}`;
  const obstacle = whyNotInstallable();
  if (obstacle !== null) {
    throw new SetupError('SETUP_INSTALL_FAILED', {
      message: `${why}: the Debian packages ${packages.join(', ')} are needed, but ${obstacle}`,
      fix: `run as root on Debian or Ubuntu: ${command}`,
    });
  }
  reporter.log(`${why}: ${packages.join(', ')} will be installed with apt-get`);
  if (interactive && !(await askYes('Install now? [y/N] '))) {
    throw new SetupError('SETUP_DECLINED', {
      message: `nothing was installed, as answered: ${packages.join(', ')} are still missing`,
      fix: `run ${command} yourself and repeat the command, or name an engine in DOCKER_HOST`,
    });
  }
  await withProgress(reporter, `installing ${packages.join(', ')}`, async (advance) => {
    // One unreachable source among many makes `update` fail; what matters is whether the installation succeeds.
    const update = await runApt(['update'], advance, signal);
    const args = ['install', '-y', '--no-install-recommends', ...packages];
    const { exitCode, excerpt } = await runApt(args, advance, signal);
    if (exitCode === 0) return;
    throw new SetupError('SETUP_INSTALL_FAILED', {
      message: [
        ...(update.exitCode === 0 ? [] : ['apt-get update failed too:', indent(update.excerpt)]),
        `apt-get install ended with status ${exitCode}:`,
        indent(excerpt),
      ].join('\n'),
      fix: `run apt-get update && ${command} yourself, put right what it complains about, and repeat the command`,
    });
  });
}

/**
 * @param {string[]} args
 * @param {(detail: string) => void} advance
 * @param {AbortSignal | undefined} signal
 */
function runApt(args, advance, signal) {
  return runCommand('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=120', ...args], {
    env: { ...process.env, PATH: systemPath(), DEBIAN_FRONTEND: 'noninteractive' },
    onLine: (line) => advance(line.trim().slice(0, 60)),
    signal,
  });
}

/**
 * @param {string} question
 * @returns {Promise<boolean>} false also when the input ends
 */
async function askYes(question) {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise((resolve) => terminal.once('close', () => resolve('')));
  const answer = await Promise.race([terminal.question(question), ended]);
  terminal.close();
  return /^\s*y(es)?\s*$/i.test(String(answer));
}
