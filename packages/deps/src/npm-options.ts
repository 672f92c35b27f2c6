import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { toPrintable } from '@kervyxa/core';
import { z } from 'zod';
import { depsError } from './errors.ts';

/** The user's configuration of npm, as pacote takes it: registries, credentials, proxies, cache, retries. */
export type NpmOptions = Readonly<Record<string, unknown>> & {
  readonly registry: string;
  /** Where npm keeps what it has fetched. */
  readonly cache: string;
};

const TextSchema = z.string().nullish();
// Npm's own answer, which has more in it than is looked at here.
const ConfigSchema = z.looseObject({
  registry: z.string(),
  cache: z.string(),
  userconfig: TextSchema,
  globalconfig: TextSchema,
  'replace-registry-host': TextSchema,
  proxy: z.union([z.string(), z.boolean()]).nullish(),
  'https-proxy': z.union([z.string(), z.boolean()]).nullish(),
  noproxy: z.union([z.string(), z.array(z.string())]).nullish(),
  ca: z.union([z.string(), z.array(z.string())]).nullish(),
  cafile: TextSchema,
  cert: TextSchema,
  key: TextSchema,
  'local-address': TextSchema,
  'strict-ssl': z.boolean().nullish(),
  'user-agent': TextSchema,
  'fetch-retries': z.number().nullish(),
  'fetch-retry-factor': z.number().nullish(),
  'fetch-retry-mintimeout': z.number().nullish(),
  'fetch-retry-maxtimeout': z.number().nullish(),
  'fetch-timeout': z.number().nullish(),
});

export interface NpmPlace {
  /** As npm would be started in: its .npmrc counts. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Asks npm for its configuration. Npm tells no credentials, so those are read from the files that it names.
 *
 * Throws DEPS_NPM_UNAVAILABLE, and the signal's reason after an abort.
 */
export async function loadNpmOptions(place: NpmPlace, signal: AbortSignal): Promise<NpmOptions> {
  const config = await askNpm(place, signal);
  const files = [config.globalconfig, config.userconfig, join(place.folder, '.npmrc')];
  const texts = await Promise.all(files.map((file) => readIfThere(file ?? null)));
  const ofScopes = Object.entries(config).filter(([key]) => /^@[^:]+:registry$/.test(key));
  const set = {
    replaceRegistryHost: config['replace-registry-host'],
    proxy: textOf(config.proxy),
    httpsProxy: textOf(config['https-proxy']),
    noProxy: [config.noproxy ?? []].flat().join(','),
    ca: config.cafile ? await readIfThere(config.cafile) : config.ca,
    cert: config.cert,
    key: config.key,
    localAddress: config['local-address'],
    userAgent: config['user-agent'],
    strictSSL: config['strict-ssl'],
    fetchRetries: config['fetch-retries'],
    fetchRetryFactor: config['fetch-retry-factor'],
    ...toPatience(config),
  };
  return {
    ...Object.fromEntries(ofScopes),
    ...toCredentials(texts.join('\n'), place.env),
    // What npm leaves open is left to its client.
    ...Object.fromEntries(Object.entries(set).filter(([, value]) => (value ?? '') !== '')),
    registry: config.registry,
    cache: join(config.cache, '_cacache'),
  };
}

/** Npm's own waits, and what stands in for them, in milliseconds: a dead network is told within seconds. */
const PATIENCE = {
  timeout: { setting: 'fetch-timeout', ofNpm: 300_000, ours: 60_000 },
  fetchRetryMintimeout: { setting: 'fetch-retry-mintimeout', ofNpm: 10_000, ours: 1_000 },
  fetchRetryMaxtimeout: { setting: 'fetch-retry-maxtimeout', ofNpm: 60_000, ours: 5_000 },
} as const;

/** Npm tells what the user has set and what it sets itself alike: what differs from its own is the user's. */
export function toPatience(
  config: Readonly<
    Partial<Record<(typeof PATIENCE)[keyof typeof PATIENCE]['setting'], number | null | undefined>>
  >,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(PATIENCE).map(([name, { setting, ofNpm, ours }]) => {
      const set = config[setting] ?? ofNpm;
      return [name, set === ofNpm ? ours : set];
    }),
  );
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

async function askNpm({ folder, env }: NpmPlace, signal: AbortSignal) {
  try {
    const { stdout } = await promisify(execFile)(
      'npm',
      ['config', 'list', '--long', '--json', '--no-global', '--no-workspaces'],
      { cwd: folder, env: { ...env }, signal, maxBuffer: 16 * 1_048_576 },
    );
    return ConfigSchema.parse(JSON.parse(stdout));
  } catch (cause) {
    signal.throwIfAborted();
    throw depsError('DEPS_NPM_UNAVAILABLE', {
      message: `expected npm to tell its configuration, got ${toPrintable(String(cause), 500)}`,
      fix: 'see what "npm config list --long --json" says',
      cause,
    });
  }
}

async function readIfThere(file: string | null): Promise<string> {
  if (file === null) return '';
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    // Npm does without a configuration file that is not there or not for us, too.
    if (error instanceof Error && 'code' in error) return '';
    throw error;
  }
}

/** The lines `//host/path/:_authToken=…` of an npmrc, with `${NAME}` for variables; those of the environment win. */
function toCredentials(text: string, env: NpmPlace['env']): Record<string, string> {
  const found: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const [, key, value] = /^\s*(\/\/[^=\s]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (key === undefined || value === undefined) continue;
    const plain = value.replace(/^"(.*)"$/, '$1');
    found[key] = plain.replaceAll(/\$\{([^}]+)\}/g, (whole, name: string) => env[name] ?? whole);
  }
  for (const [name, value] of Object.entries(env)) {
    const key = /^npm_config_(\/\/.+)$/i.exec(name)?.[1];
    if (key !== undefined && value !== undefined) found[key] = value;
  }
  return found;
}
