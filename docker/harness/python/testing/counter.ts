import { ensureReady } from '@kervyxa/setup';
import { z } from 'zod';
import type { RunOutcome, SandboxSession } from '../../../../packages/sandbox/src/port.ts';
import {
  type EngineBench,
  openEngineBench,
} from '../../../../packages/sandbox/src/testing/engine.ts';
import { LIMITS, never, run, toRequest } from '../../../../packages/sandbox/src/testing/harness.ts';
import { type TestFile, testTree } from '../../../../packages/sandbox/src/testing/trees.ts';

const MIB = 1_024 * 1_024;

const ReadingSchema = z.strictObject({
  count: z.int().min(0).nullable(),
  stdoutSha256: z.string().regex(/^[0-9a-f]{64}$/),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
});
export type Reading = z.infer<typeof ReadingSchema>;

/** Counts in containers of the Python runtime, all with the same files in /workspace. */
export interface Counter {
  /** The harness's reading; throws where its stdout is anything else than one line, or its status not 0. */
  count(source: string, command: string): Promise<Reading>;
  /** What came of the container, whatever the harness did. */
  run(source: string, command: string): Promise<RunOutcome>;
  close(): Promise<void>;
}

/** `setup` is a command that prepares the files once. */
export async function openCounter(
  files: Readonly<Record<string, TestFile>>,
  setup?: string,
): Promise<Counter> {
  const { runtimes } = await ensureReady();
  const image = runtimes.get('kervyxa-runtime/python:1')?.imageId;
  if (image === undefined) throw new Error('expected the Python runtime, got none');
  const bench: EngineBench = await openEngineBench();
  const session: SandboxSession = await bench.sandbox.openSession(
    {
      image,
      limits: { ...LIMITS, memoryBytes: 512 * MIB },
      tree: testTree(files),
      verifierPackage: null,
      runsMax: 200,
    },
    never,
  );
  if (setup !== undefined) await session.runSetup(toRequest(setup), never);
  const runOne: Counter['run'] = (source, command) =>
    run(session, `exec kervyxa-count ${source} ${command}`, { timeoutMs: 300_000 });
  return {
    run: runOne,
    count: async (source, command) => {
      const outcome = await runOne(source, command);
      const stdout = Buffer.from(outcome.stdout.head).toString();
      const line = /^KERVYXA_COUNT=(.*)\n$/.exec(stdout)?.[1];
      if (outcome.exitCode === 0 && line !== undefined)
        return ReadingSchema.parse(JSON.parse(line));
      const stderr = Buffer.from(outcome.stderr.head).toString();
      throw new Error(`expected a reading, got status ${outcome.exitCode}: ${stdout}${stderr}`);
    },
    close: async () => {
      await session.close();
      await bench.assertNothingLeft();
    },
  };
}
