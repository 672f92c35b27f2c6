import { WINDOW_SECONDS_MIN, type OperatorSettings } from '@kervyxa/contract';
import { BUNDLE_LIMITS, toPrintable } from '@kervyxa/core';
import { DEFAULT_POLICY, type SettlementPolicy } from '@kervyxa/settlement';
import { REPLAYS_DEFAULT } from '@kervyxa/verifier';
import { z } from 'zod';
import { cliError } from './errors.ts';
import { parseAllowedOrigins } from './git-allow.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Every variable that kervyxa reads. docs/operations.md has the same table, and a test compares them. */
export const SETTINGS = {
  KERVYXA_HOME: 'folder of all that outlives a run',
  DATABASE_URL: 'PostgreSQL to use instead of the built-in one',
  KERVYXA_GIT_ALLOW: 'origins beside public https that git may use',
  KERVYXA_TRUST_PROXY: '1: believe X-Forwarded-For of a proxy in front',
  KERVYXA_PAYOUT_URL: 'where payouts are posted; else only balances',
  KERVYXA_PAYOUT_SECRET: 'whsec_… that signs what is posted there',
  KERVYXA_WINDOW_MIN_SECONDS: 'shortest challenge and response window (60)',
  KERVYXA_CAPTURE_GRACE_SECONDS: 'time to fetch a commit and keep its place (600)',
  KERVYXA_HELD_GRACE_SECONDS: 'how long a HELD one holds up others (259200)',
  KERVYXA_ARBITRATION_SECONDS: 'how long an arbiter has (604800)',
  KERVYXA_PROVE_REPLAYS: 'how often a criterion runs on known-good (3)',
  KERVYXA_PROVE_SECONDS: 'how long one approval may run containers (7200)',
  KERVYXA_UPLOAD_MB: 'largest package or dependency bundle (512)',
  KERVYXA_VERIFIER_ID: 'URI that attestations name as their verifier',
  KERVYXA_CONTAINER_RUNTIME: 'engine’s runtime for untrusted code: runsc',
  DOCKER_HOST: 'container engine to use',
  NO_COLOR: 'no colours',
  KERVYXA_DEBUG: '1: the stack of an error',
} as const satisfies Record<string, string>;
type SettingName = keyof typeof SETTINGS;

/** What the operator says in the environment. */
export interface Settings {
  /** Null: the embedded one. */
  readonly databaseUrl: string | null;
  /** Null: payouts are balances. */
  readonly rail: { readonly url: string; readonly secret: string } | null;
  readonly policy: SettlementPolicy;
  readonly trustProxy: boolean;
  /** Who verifies, in attestations. */
  readonly verifierId: string;
  /** Null: the engine's default. */
  readonly containerRuntime: string | null;
  /** Of the approval of a contract: how often each criterion runs on known-good, and how long one may take. */
  readonly proving: { readonly replays: number; readonly durationMsMax: number };
  /** Of a hidden package or dependency bundle. */
  readonly uploadBytesMax: number;
  readonly operator: Pick<Required<OperatorSettings>, 'allowedOrigins' | 'windowSecondsMin'>;
}

/** Throws CLI_GIT_ALLOW_INVALID or, for any other variable, CLI_SETTING_INVALID. */
export function parseSettings(env: Environment): Settings {
  const seconds = (name: SettingName, standard: number) =>
    read(env, name, SecondsSchema, 'a whole number of seconds, 1 or more') ?? standard;
  const rail = parseRail(env);
  const policyMs = (name: SettingName, standardMs: number) =>
    seconds(name, standardMs / 1000) * 1000;
  return {
    databaseUrl: read(env, 'DATABASE_URL', DatabaseUrlSchema, 'postgresql://user:…@host/database'),
    rail,
    trustProxy: read(env, 'KERVYXA_TRUST_PROXY', z.enum(['0', '1']), '0 or 1') === '1',
    verifierId:
      read(env, 'KERVYXA_VERIFIER_ID', UriSchema, 'a URI such as https://verifier.example.org') ??
      LOCAL_VERIFIER,
    containerRuntime: read(
      env,
      'KERVYXA_CONTAINER_RUNTIME',
      RuntimeSchema,
      'the name of a runtime of the engine',
    ),
    proving: {
      replays:
        read(env, 'KERVYXA_PROVE_REPLAYS', ReplaysSchema, 'a whole number from 2 to 100') ??
        REPLAYS_DEFAULT,
      durationMsMax:
        1_000 *
        (read(env, 'KERVYXA_PROVE_SECONDS', ProveSecondsSchema, 'seconds, at most a week') ??
          PROVE_SECONDS_MAX),
    },
    uploadBytesMax:
      read(env, 'KERVYXA_UPLOAD_MB', MebibytesSchema, 'a whole number of MiB from 1 to 512') ??
      BUNDLE_LIMITS.bytesMax,
    policy: {
      ...DEFAULT_POLICY,
      captureGraceMs: policyMs('KERVYXA_CAPTURE_GRACE_SECONDS', DEFAULT_POLICY.captureGraceMs),
      heldGraceMs: policyMs('KERVYXA_HELD_GRACE_SECONDS', DEFAULT_POLICY.heldGraceMs),
      arbitrationMs: policyMs('KERVYXA_ARBITRATION_SECONDS', DEFAULT_POLICY.arbitrationMs),
      rail: rail === null ? 'internal' : 'webhook',
    },
    operator: {
      allowedOrigins: parseAllowedOrigins(env['KERVYXA_GIT_ALLOW']),
      windowSecondsMin: seconds('KERVYXA_WINDOW_MIN_SECONDS', WINDOW_SECONDS_MIN),
    },
  };
}

/** An amount of time that a person means: a year at most, so that no sum of them overflows a date. */
const SECONDS_MAX = 31_536_000;
const SecondsSchema = z
  .string()
  .regex(/^[1-9][0-9]{0,8}$/)
  .transform(Number)
  .refine((seconds) => seconds <= SECONDS_MAX);

const PROVE_SECONDS_MAX = 7_200;
const WEEK_SECONDS = 604_800;
const ProveSecondsSchema = SecondsSchema.refine((seconds) => seconds <= WEEK_SECONDS);

const WholeSchema = z
  .string()
  .regex(/^[1-9][0-9]{0,2}$/)
  .transform(Number);
const ReplaysSchema = WholeSchema.refine((count) => count >= 2 && count <= 100);
/** No more than what bundles are packed and mounted with. */
const MebibytesSchema = WholeSchema.transform((count) => count * 1_048_576).refine(
  (bytes) => bytes <= BUNDLE_LIMITS.bytesMax,
);

/** Nobody in particular: whoever wants to be known by more than a key says who they are. */
export const LOCAL_VERIFIER = 'urn:kervyxa:verifier:local';
const UriSchema = z.string().regex(/^[a-z][a-z0-9+.-]{1,20}:[\x21-\x7e]{1,500}$/);

const RuntimeSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/);

/** Not as strict as a URL: PostgreSQL's own form may lack a host, where a socket is meant. */
const DatabaseUrlSchema = z.string().regex(/^postgres(ql)?:\/\/./);

/** Signed messages about money: in the clear only where no wire is. */
const PayoutUrlSchema = z.string().refine((text) => {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return false;
  const isLoopback = /^(127\.[0-9.]+|\[::1\]|localhost)$/.test(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback);
});

/** What the Standard Webhooks specification asks of a secret: 24 to 64 random bytes. */
const SecretSchema = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/]+={0,2}$/)
  .refine((text) => {
    const bytes = Buffer.from(text.slice('whsec_'.length), 'base64').length;
    return bytes >= 24 && bytes <= 64;
  });

function parseRail(env: Environment): Settings['rail'] {
  const form = 'an https URL without user, password or fragment (http on loopback)';
  const url = read(env, 'KERVYXA_PAYOUT_URL', PayoutUrlSchema, form);
  if (url === null) return null;
  const secret = read(
    env,
    'KERVYXA_PAYOUT_SECRET',
    SecretSchema,
    'whsec_ and base64 of 24 to 64 bytes',
  );
  if (secret !== null) return { url, secret };
  throw cliError('CLI_SETTING_INVALID', {
    message: 'expected KERVYXA_PAYOUT_SECRET beside KERVYXA_PAYOUT_URL, got none',
    fix: `Give both, for example KERVYXA_PAYOUT_SECRET=whsec_$(openssl rand -base64 32), and the same secret to the service.`,
  });
}

/** Null where the variable is not set or empty. */
function read<T>(
  env: Environment,
  name: SettingName,
  schema: z.ZodType<T, string>,
  form: string,
): T | null {
  const text = env[name] ?? '';
  if (text === '') return null;
  const parsed = schema.safeParse(text);
  if (parsed.success) return parsed.data;
  const got = SECRETS.has(name) ? 'something else' : `"${toPrintable(text, 100)}"`;
  throw cliError('CLI_SETTING_INVALID', {
    message: `expected ${form} in ${name}, got ${got}`,
    fix: `${name}: ${SETTINGS[name]}. docs/operations.md explains every setting.`,
  });
}

/** May hold passwords, so that they are never repeated. */
const SECRETS: ReadonlySet<SettingName> = new Set([
  'DATABASE_URL',
  'KERVYXA_PAYOUT_URL',
  'KERVYXA_PAYOUT_SECRET',
]);
