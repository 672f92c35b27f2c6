import type { TreeArchive } from '@kervyxa/core';
import type { RunOutcome, RunRequest, Sandbox, SandboxLimits } from '@kervyxa/sandbox';
import { checkerError } from '../errors.ts';
import type { StageLimits } from '../package/checker-package.ts';
import {
  EVIDENCE_BYTES_MAX,
  EVIDENCE_PATH,
  type LeftFiles,
  RESULT_BYTES_MAX,
  RESULT_PATH,
} from './answer.ts';

const MIB = 1_024 * 1_024;
/** What a program may print; none of it is an answer. */
const OUTPUT_BYTES_MAX = 4 * MIB;
const PIDS_MAX = 256;

export interface ProgramRun {
  readonly outcome: RunOutcome;
  /** Null where it did not end with 0 by itself: then nothing that it left is looked at. */
  readonly left: LeftFiles | null;
}

export interface ProgramRequest {
  readonly image: string;
  readonly command: string | null;
  readonly tree: TreeArchive;
  readonly limits: StageLimits;
  readonly onOutput: RunRequest['onOutput'];
}

/**
 * One invocation, in a container that is gone, with all that was in it, when this resolves. Files are read when every
 * process of it is dead.
 *
 * Throws CHECKER_INPUTS_CHANGED, and what the sandbox throws.
 */
export async function runProgram(
  sandbox: Sandbox,
  { image, command, tree, limits, onOutput }: ProgramRequest,
  signal: AbortSignal,
): Promise<ProgramRun> {
  const session = await sandbox.openSession(
    {
      image,
      tree,
      layout: 'inputs',
      limits: toSandboxLimits(limits),
      verifierPackage: null,
      runsMax: 1,
    },
    signal,
  );
  try {
    const request: RunRequest = {
      command,
      timeoutMs: limits.timeoutSeconds * 1_000,
      package: 'none',
      ...(onOutput !== undefined && { onOutput }),
    };
    const [staged, before] = await Promise.all([
      session.stage(request, signal),
      session.measure(signal),
    ]);
    try {
      const outcome = await staged.release(signal);
      const after = await session.measure(signal);
      if (after.tree !== before.tree) {
        throw checkerError('CHECKER_INPUTS_CHANGED', {
          message: `expected the inputs of a checker as they were laid out (${before.tree}), got others (${after.tree})`,
          fix: 'Nothing in a container can write there: see who else can use the engine of this machine.',
        });
      }
      if (outcome.exitCode !== 0 || outcome.timedOut || outcome.outputExceeded) {
        return { outcome, left: null };
      }
      const left = {
        result: await staged.readFile(RESULT_PATH, RESULT_BYTES_MAX, signal),
        evidence: await staged.readFile(EVIDENCE_PATH, EVIDENCE_BYTES_MAX, signal),
      };
      return { outcome, left };
    } finally {
      await staged.dispose();
    }
  } finally {
    await session.close();
  }
}

function toSandboxLimits({ memoryMb, vcpu, diskMb }: StageLimits): SandboxLimits {
  return {
    memoryBytes: memoryMb * MIB,
    cpuCount: vcpu,
    pidsMax: PIDS_MAX,
    workspaceBytes: diskMb * MIB,
    outputBytes: OUTPUT_BYTES_MAX,
  };
}
