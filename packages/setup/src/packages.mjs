import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { indent, runCommand } from './command.mjs';
import { SetupError } from './errors.mjs';
import { withLock } from './lock.mjs';
import { endNotedGroup, runNoted } from './process-group.mjs';
import { readIfThere } from './processes.mjs';
import { withProgress } from './progress.mjs';
import { prepareStateFolder, REPOSITORY, stateFolder, statePaths } from './state.mjs';

/** The oldest Node.js that runs the TypeScript sources directly. @type {readonly [number, number]} */
export const NODE_MIN = [22, 18];

/** What Prisma generates from the schema. It is imported like a source, and git does not keep it. */
const CLIENT = 'packages/db/src/generated';
const SCHEMA = 'prisma/schema.prisma';

/**
 * Installs the npm packages when they are missing or are not those of the lock file, and generates the database client
 * when it is not that of the schema. What was interrupted has no stamp and is done again. Quick and silent when all is
 * well.
 * @param {import('./progress.mjs').Reporter & { signal?: AbortSignal | undefined }} options
 * @param {string} [repository]
 * @throws {SetupError} SETUP_PACKAGES_FAILED, SETUP_NODE_TOO_OLD, SETUP_STATE_UNUSABLE
 */
export async function ensurePackages({ signal, ...reporter }, repository = REPOSITORY) {
  if (arePackagesCurrent(repository) && isClientCurrent(repository)) return;
  const folder = stateFolder();
  prepareStateFolder(folder);
  await withLock(folder, { log: reporter.log, signal }, async () => {
    const { group } = statePaths(folder);
    if (!arePackagesCurrent(repository)) {
      await endNotedGroup(group);
      await withProgress(reporter, 'installing npm packages', (advance) =>
        install(repository, { advance, signal, noteFile: group }),
      );
      await assertNodeRuns(repository);
      writeFileSync(stampFile(repository), packagesStamp(repository));
    }
    if (!isClientCurrent(repository)) {
      await endNotedGroup(group);
      await generateClient(repository, { signal, noteFile: group });
      writeFileSync(clientStampFile(repository), clientStamp(repository));
    }
  });
}

/**
 * @param {string} repository
 * @param {{ advance: (detail: string) => void, signal: AbortSignal | undefined, noteFile: string }} options
 */
async function install(repository, { advance, signal, noteFile }) {
  // No script of any package runs: the lock file pins what is installed, and nothing here needs one.
  const args = [
    'ci',
    '--ignore-scripts',
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    // `npm run -s` hands its silence down, and then a failure has no words.
    '--loglevel=error',
  ];
  const result = await runNoted('npm', args, {
    cwd: repository,
    env: { ...process.env, npm_config_workspace: undefined, npm_config_workspaces: undefined },
    onLine: (line) => advance(line.trim().slice(0, 60)),
    noteFile,
    signal,
  });
  if (result.exitCode === 0) return;
  throw new SetupError('SETUP_PACKAGES_FAILED', {
    message: `npm ci ended with status ${result.exitCode}:\n${indent(result.excerpt)}`,
    fix: 'put right what npm complains about (network, registry setting, disk space) and repeat the command',
  });
}

/**
 * @param {string} repository
 * @param {{ signal: AbortSignal | undefined, noteFile: string }} options
 */
async function generateClient(repository, { signal, noteFile }) {
  const program = join(repository, 'node_modules/prisma/build/index.js');
  const result = await runNoted(
    findNode(repository),
    [program, 'generate', '--schema', join(repository, SCHEMA)],
    {
      cwd: repository,
      // Its native engine is a download, and is not needed to generate.
      env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true', CHECKPOINT_DISABLE: '1' },
      noteFile,
      signal,
    },
  );
  if (result.exitCode === 0) return;
  throw new SetupError('SETUP_PACKAGES_FAILED', {
    message: `prisma generate ended with status ${result.exitCode}:\n${indent(result.excerpt)}`,
    fix: `put right what it complains about (${SCHEMA}, disk space) and repeat the command`,
  });
}

/**
 * A Node.js that is new enough: this one, or the one among the npm packages, which npm scripts find first.
 * @param {string} [repository]
 * @returns {string} path of the program
 */
export function findNode(repository = REPOSITORY) {
  return isNewEnough(process.versions.node)
    ? process.execPath
    : join(repository, 'node_modules/.bin/node');
}

/**
 * @param {string} repository
 * @throws {SetupError} SETUP_NODE_TOO_OLD
 */
async function assertNodeRuns(repository) {
  const { exitCode, stdout, excerpt } = await runCommand(findNode(repository), ['--version']);
  if (exitCode === 0 && isNewEnough(stdout.trim().replace(/^v/, ''))) return;
  throw new SetupError('SETUP_NODE_TOO_OLD', {
    message: `expected Node.js ${NODE_MIN.join('.')} or newer, got ${process.versions.node}; the one among the npm packages does not run on this machine (${process.platform} ${process.arch}): ${excerpt}`,
    fix: `install Node.js ${NODE_MIN.join('.')} or newer and put it first in PATH`,
  });
}

/** @param {string} version without a leading v */
export function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
}

/** @param {string} [repository] */
export function arePackagesCurrent(repository = REPOSITORY) {
  return readIfThere(stampFile(repository)) === packagesStamp(repository);
}

/** @param {string} [repository] one without a schema needs no client */
export function isClientCurrent(repository = REPOSITORY) {
  if (!existsSync(join(repository, SCHEMA))) return true;
  return readIfThere(clientStampFile(repository)) === clientStamp(repository);
}

/** @param {string} repository */
function clientStampFile(repository) {
  return join(repository, CLIENT, '.stamp');
}

/**
 * @param {string} repository
 * @returns {string} digest of all that decides what the client is: the schema, and the generator's version
 */
export function clientStamp(repository) {
  return createHash('sha256')
    .update(readFileSync(join(repository, SCHEMA)))
    .update(readFileSync(join(repository, 'packages/db/package.json')))
    .digest('hex');
}

/** @param {string} repository */
function stampFile(repository) {
  // `npm ci` removes the whole folder first, and so the stamp of what was there.
  return join(repository, 'node_modules/.kervyxa-stamp');
}

/**
 * @param {string} repository
 * @returns {string} digest of all that decides what belongs in node_modules
 */
export function packagesStamp(repository) {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\0`);
  for (const file of ['package-lock.json', 'package.json', ...workspaceManifests(repository)]) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(repository, file)))
      .update('\0');
  }
  return hash.digest('hex');
}

/** @param {string} repository */
function workspaceManifests(repository) {
  return ['packages', 'apps'].flatMap((parent) => {
    const folder = join(repository, parent);
    if (!existsSync(folder)) return [];
    // oxlint-disable-next-line unicorn/no-array-sort -- Node 18 has no toSorted
    const names = readdirSync(folder).sort();
    return names
      .map((name) => join(parent, name, 'package.json'))
      .filter((file) => existsSync(join(repository, file)));
  });
}
