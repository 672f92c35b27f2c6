import type { IntakeLimits } from './limits.ts';

/**
 * Git settings that no repository and no user setting can change (THREATS 7.1). They travel in the environment, with
 * the precedence of `-c`, so that every helper that git starts has them too.
 */
function gitSettings(limits: IntakeLimits): [key: string, value: string][] {
  return [
    ['safe.bareRepository', 'explicit'],
    ['protocol.version', '2'],
    ['http.followRedirects', 'false'],
    ['http.lowSpeedLimit', String(limits.bytesPerSecondMin)],
    ['http.lowSpeedTime', String(limits.stallSecondsMax)],
    ['http.proxy', ''],
    ['credential.helper', ''],
    ['transfer.fsckObjects', 'true'],
    ...TOLERATED_IN_HISTORY.map((id): [string, string] => [`fetch.fsck.${id}`, 'ignore']),
    ['transfer.bundleURI', 'false'],
    ['fetch.uriProtocols', ''],
    ['fetch.recurseSubmodules', 'false'],
    ['submodule.recurse', 'false'],
    ['fetch.unpackLimit', '1'],
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
    ['core.hooksPath', '/dev/null'],
    ['core.fsmonitor', 'false'],
    ['core.untrackedCache', 'false'],
    ['core.protectHFS', 'true'],
    ['core.protectNTFS', 'true'],
    ['core.attributesFile', '/dev/null'],
    ['core.quotePath', 'false'],
    ['core.autocrlf', 'false'],
    ['core.bigFileThreshold', '1m'],
    // Address space is limited: neither whole packs in memory, nor a stack and an arena for each of 64 cores.
    ['core.packedGitWindowSize', '64m'],
    ['core.packedGitLimit', '512m'],
    ['pack.threads', '2'],
    ['diff.renames', 'false'],
    ['diff.external', ''],
    ['diff.ignoreSubmodules', 'none'],
  ];
}

/**
 * Malformations that do not end a fetch. Those of commits and tags are what old histories on public hosts are full of,
 * and change nothing that a verdict depends on. Those of trees are harmless in history; in the trees that the
 * submission brings they are looked for strictly (`raw-tree.ts`, `lint.ts`), and are then the submission's fault and
 * not a fetch that failed. Git has no way to tolerate the rest, such as an object that can't be parsed.
 */
export const TOLERATED_IN_HISTORY = [
  'badDate',
  'badDateOverflow',
  'badEmail',
  'badFilemode',
  'badName',
  'badTagName',
  'badTimezone',
  'duplicateEntries',
  'emptyName',
  'extraHeaderEntry',
  'fullPathname',
  'gitmodulesBlob',
  'gitmodulesLarge',
  'gitmodulesMissing',
  'gitmodulesName',
  'gitmodulesParse',
  'gitmodulesPath',
  'gitmodulesSymlink',
  'gitmodulesUpdate',
  'gitmodulesUrl',
  'hasDot',
  'hasDotdot',
  'hasDotgit',
  'missingEmail',
  'missingNameBeforeEmail',
  'missingSpaceBeforeDate',
  'missingSpaceBeforeEmail',
  'missingTaggerEntry',
  'multipleAuthors',
  'nulInCommit',
  'nullSha1',
  'treeNotSorted',
  'zeroPaddedDate',
  'zeroPaddedFilemode',
] as const;

export interface GitEnvironmentOptions {
  readonly gitDir: string;
  readonly alternates?: readonly string[];
  /** An empty folder: git finds no user settings in it. */
  readonly home: string;
  readonly limits: IntakeLimits;
  /** URL of the gateway that git may fetch from; null for a process that has no business on a network. */
  readonly remote: string | null;
}

/** The whole environment of a git process; nothing of the daemon's own is added to it. */
export function gitEnvironment(options: GitEnvironmentOptions): Record<string, string> {
  const settings = gitSettings(options.limits);
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: options.home,
    XDG_CONFIG_HOME: options.home,
    LC_ALL: 'C.UTF-8',
    TZ: 'UTC',
    MALLOC_ARENA_MAX: '2',
    GIT_DIR: options.gitDir,
    // Quoted, because a colon would end a plain path.
    GIT_ALTERNATE_OBJECT_DIRECTORIES: (options.alternates ?? [])
      .map((folder) => JSON.stringify(`${folder}/objects`))
      .join(':'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_ALLOW_PROTOCOL: options.remote === null ? 'none' : 'http',
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    SSH_ASKPASS: '/bin/false',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_PAGER: 'cat',
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}
