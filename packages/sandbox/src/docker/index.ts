export { createDockerSandbox } from './sandbox.ts';
export type { DockerSandboxOptions } from './sandbox.ts';
