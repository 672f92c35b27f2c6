import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { runCliProcess } from '../../apps/cli/src/testing/cli-process.ts';
import type { Stage } from './stage.ts';

const ItemsSchema = z.looseObject({
  items: z.array(z.looseObject({ id: z.string(), state: z.string() })),
});
const DetailSchema = z.looseObject({
  source: z.looseObject({ commit: z.string() }),
  runs: z.array(z.looseObject({ id: z.string(), state: z.string() })),
});
const CheckSchema = z.looseObject({ problem: z.string().nullable() });
const ReplaySchema = z.looseObject({
  outcome: z.string(),
  verdict: z.looseObject({ got: z.string().nullable() }),
});

/** What others can make of the evidence of the winner's run, each by a process of its own with nothing of the daemon's. */
export interface CheckedEvidence {
  /** Exit codes of `kervyxa evidence verify`: as it is, and about another commit. */
  readonly verified: number | null;
  readonly verifiedAsOther: number | null;
  /** What `kervyxa evidence replay` came to, and the verdict that it gave: `same PASS`; else all that it said. */
  readonly replay: string;
  /** Where the audit log breaks, or null. */
  readonly auditProblem: string | null;
}

/** For a story that was told to its end. */
export async function checkEvidence(stage: Stage): Promise<CheckedEvidence> {
  const ask = async (path: string): Promise<Response> => {
    const headers = { authorization: `Bearer ${stage.operatorKey}` };
    const answer = await fetch(`${stage.origin}${path}`, { headers });
    if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  const idOf = async (path: string, state: string): Promise<string> => {
    const { items } = ItemsSchema.parse(await (await ask(path)).json());
    const found = items.find((item) => item.state === state);
    if (found === undefined) throw new Error(`expected one that is ${state} at ${path}, got none`);
    return found.id;
  };
  const contract = await idOf('/v1/contracts', 'SETTLED');
  const winner = await idOf(`/v1/contracts/${contract}/submissions`, 'PAID');
  const detail = DetailSchema.parse(await (await ask(`/v1/submissions/${winner}`)).json());
  const run = detail.runs.find(({ state }) => state === 'SEALED');

  const folder = await mkdtemp(join(tmpdir(), 'kervyxa-evidence-'));
  try {
    const keys = join(folder, 'keys.json');
    const bundle = join(folder, 'evidence.tar');
    const save = async (file: string, path: string): Promise<void> =>
      writeFile(file, Buffer.from(await (await ask(path)).arrayBuffer()));
    await save(keys, '/.well-known/kervyxa-keys.json');
    await save(bundle, `/v1/runs/${run?.id}/evidence`);
    const verify = (subject: string) =>
      runCliProcess(['evidence', 'verify', bundle, '--key', keys, '--subject', subject]);
    const replay = await runCliProcess(['evidence', 'replay', bundle, '--key', keys, '--json']);
    return {
      verified: (await verify(detail.source.commit)).exitCode,
      verifiedAsOther: (await verify('a'.repeat(40))).exitCode,
      replay: toReplay(replay),
      auditProblem: CheckSchema.parse(await (await ask('/v1/audit/check')).json()).problem,
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function toReplay({ exitCode, stdout, stderr }: Awaited<ReturnType<typeof runCliProcess>>): string {
  if (exitCode !== 0) return `exit code ${exitCode}: ${stderr}`;
  const { outcome, verdict } = ReplaySchema.parse(JSON.parse(stdout));
  return `${outcome} ${verdict.got}`;
}
