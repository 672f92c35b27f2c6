import type {
  RunOutcome,
  RunRequest,
  Sandbox,
  SandboxLimits,
  SandboxSession,
  SessionRequest,
  StagedRun,
} from '../port.ts';
import { testTree } from './trees.ts';

const MIB = 1_024 * 1_024;

export const LIMITS: SandboxLimits = {
  memoryBytes: 128 * MIB,
  cpuCount: 1,
  pidsMax: 64,
  workspaceBytes: 16 * MIB,
  outputBytes: 256 * 1_024,
};

export const never = new AbortController().signal;

/** A sandbox and the image to use on it. */
export interface Bench {
  readonly sandbox: Sandbox;
  readonly image: string;
}

/** Opens a session, closes it whatever happens. */
export async function withSession<T>(
  { sandbox, image }: Bench,
  request: Partial<SessionRequest>,
  work: (session: SandboxSession) => Promise<T>,
): Promise<T> {
  const session = await sandbox.openSession(
    { image, limits: LIMITS, tree: testTree({}), verifierPackage: null, runsMax: 4, ...request },
    never,
  );
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

export function toRequest(command: string, more: Partial<RunRequest> = {}): RunRequest {
  return { command, timeoutMs: 20_000, package: 'none', ...more };
}

/** Stages, releases, and passes the ended run on before it is disposed. */
export async function run<T = undefined>(
  session: SandboxSession,
  command: string,
  more: Partial<RunRequest> = {},
  look?: (staged: StagedRun) => Promise<T>,
): Promise<RunOutcome & { looked: T | undefined }> {
  const staged = await session.stage(toRequest(command, more), never);
  try {
    const outcome = await staged.release(never);
    return { ...outcome, looked: await look?.(staged) };
  } finally {
    await staged.dispose();
  }
}

/** One command in a session of its own. */
export function runOnce(
  bench: Bench,
  command: string,
  { limits, request = {} }: { limits?: Partial<SandboxLimits>; request?: Partial<RunRequest> } = {},
): Promise<RunOutcome> {
  return withSession(bench, { limits: { ...LIMITS, ...limits } }, (session) =>
    run(session, command, request),
  );
}

export function textOf({ stdout }: RunOutcome): string {
  return Buffer.from(stdout.head).toString();
}
