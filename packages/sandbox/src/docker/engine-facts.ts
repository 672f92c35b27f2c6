import type { EngineFacts, SandboxSession, SessionRequest } from '../port.ts';
import type { EngineState } from './engine-state.ts';
import type { Engine } from './engine.ts';
import { resolveImage } from './images.ts';
import { judgeRunc } from './runc-version.ts';

const MIB = 1_024 * 1_024;

/** Features of an engine that limits rest on, as its own description names them. */
const NEEDED: readonly (readonly [field: string, sentence: string])[] = [
  ['MemoryLimit', "The engine can't limit memory."],
  ['SwapLimit', "The engine can't limit swap, so a run may use more than its memory limit."],
  ['PidsLimit', "The engine can't limit the number of processes."],
  ['CpuCfsQuota', "The engine can't limit CPU time."],
  ['CPUSet', "The engine can't pin a run to CPUs."],
];

/** What the engine says of itself, and what a trial session shows. Returns a function of what the session found. */
export async function inspectEngine(
  engine: Engine,
  options: {
    readonly toolsImage: string;
    readonly openSession: (request: SessionRequest) => Promise<SandboxSession>;
    readonly signal: AbortSignal;
  },
): Promise<(state: Pick<EngineState, 'cgroups' | 'runtime'>) => EngineFacts> {
  const [info, version] = await Promise.all([
    engine.call('describe itself', engine.docker.info()),
    engine.call('tell its version', engine.docker.version()),
  ]);
  const strategy = await tryRun(engine, options);
  const securityOptions: readonly string[] = info.SecurityOptions ?? [];
  const limitations = NEEDED.filter(([field]) => info[field] !== true).map(([, text]) => text);
  if (!securityOptions.some((option) => option.includes('name=seccomp'))) {
    limitations.push("The engine can't filter system calls (seccomp).");
  }
  if (strategy === 'copy') {
    limitations.push("The engine can't mount an overlay, so each run costs a copy of the tree.");
  }
  const runc = version.Components?.find(({ Name }) => Name === 'runc')?.Version ?? '';
  return ({ cgroups, runtime }) => ({
    kind: 'docker',
    version: version.Version,
    apiVersion: version.ApiVersion,
    cgroupVersion: info.CgroupVersion === '2' ? '2' : '1',
    cpuCount: info.NCPU,
    memoryBytes: info.MemTotal,
    architecture: info.Architecture,
    strategy,
    runtime,
    limitations: [
      ...limitations,
      ...(runtime.includes('runc') ? [judgeRunc(runc)].filter((text) => text !== null) : []),
      ...((cgroups ?? null) === null
        ? ["The engine's cgroups can't be seen here: no peak memory, and no fork refusals."]
        : []),
    ],
  });
}

async function tryRun(
  engine: Engine,
  { toolsImage, openSession, signal }: Parameters<typeof inspectEngine>[1],
): Promise<EngineFacts['strategy']> {
  const { Id } = await engine.call(
    'inspect an image',
    engine.docker.getImage(toolsImage).inspect(),
  );
  const { id: image } = await resolveImage(engine, Id);
  const session = await openSession({
    image,
    limits: {
      memoryBytes: 64 * MIB,
      cpuCount: 1,
      pidsMax: 64,
      workspaceBytes: MIB,
      outputBytes: 1_024,
    },
    tree: EMPTY_TREE,
    verifierPackage: null,
    runsMax: 1,
  });
  try {
    const run = await session.stage(
      { command: 'true', timeoutMs: 10_000, package: 'none' },
      signal,
    );
    await run.dispose();
    return session.strategy;
  } finally {
    await session.close();
  }
}

const EMPTY_TREE: SessionRequest['tree'] = {
  digest: 'empty',
  entryCount: 0,
  bytesTotal: 0,
  open: async function* open() {
    yield Buffer.alloc(1_024);
  },
};
