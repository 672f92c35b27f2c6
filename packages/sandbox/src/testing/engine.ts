import { randomUUID } from 'node:crypto';
import { ensureReady } from '@kervyxa/setup';
import Docker from 'dockerode';
import { createDockerSandbox, type DockerSandboxOptions } from '../docker/index.ts';
import type { Bench } from './harness.ts';

// Other programs may use the engine at the same time.
const BENCH_LABEL = 'dev.kervyxa.test-bench';

/** A bench on the real engine, and the engine itself to look at what is there. */
export interface EngineBench extends Bench {
  readonly dockerHost: string;
  readonly docker: Docker;
  /** Ids of containers and names of volumes that this bench's sandbox made and that are there now. */
  ours(): Promise<string[]>;
  /** Throws where there are any. */
  assertNothingLeft(): Promise<void>;
}

export async function openEngineBench(
  options: Partial<DockerSandboxOptions> = {},
): Promise<EngineBench> {
  const { dockerHost, runtimes } = await ensureReady();
  const image = runtimes.get('kervyxa-runtime/node:22')?.imageId;
  if (image === undefined) throw new Error('expected the node runtime, got none');
  const name = randomUUID();
  const docker = new Docker({ socketPath: new URL(dockerHost).pathname });
  const ours = (): Promise<string[]> => listOurs(docker, `${BENCH_LABEL}=${name}`);
  return {
    dockerHost,
    docker,
    image,
    sandbox: createDockerSandbox({
      dockerHost,
      toolsImage: image,
      labels: { [BENCH_LABEL]: name },
      ...options,
    }),
    ours,
    assertNothingLeft: async () => {
      const left = await ours();
      if (left.length > 0) throw new Error(`expected nothing left, got ${left.join(', ')}`);
    },
  };
}

async function listOurs(docker: Docker, label: string): Promise<string[]> {
  const filters = { label: [label] };
  const [containers, volumes] = await Promise.all([
    docker.listContainers({ all: true, filters }),
    docker.listVolumes({ filters }),
  ]);
  return [...containers.map(({ Id }) => Id), ...(volumes.Volumes ?? []).map(({ Name }) => Name)];
}
