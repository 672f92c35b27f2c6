import type Docker from 'dockerode';
import { sandboxError } from '../errors.ts';
import type { toContainerConfig, toKeeperConfig } from './container-config.ts';
import { statusOf } from './engine-errors.ts';
import type { Engine } from './engine.ts';

/** Creates a container. Throws SANDBOX_IMAGE_UNAVAILABLE where the image is not there. */
export function createContainer(
  engine: Engine,
  body: ReturnType<typeof toContainerConfig | typeof toKeeperConfig>,
): Promise<Docker.Container> {
  // Told apart, or dockerode repeats the whole body in the URL, which not every engine takes. Its type declarations
  // know only the flat form.
  const options: object = { _query: {}, _body: body };
  const created = engine.docker.createContainer(options).catch((error: unknown) => {
    if (statusOf(error) === 404) throw imageNotThere(body.Image, error);
    throw error;
  });
  return engine.call('create a container', created);
}

/** Starts it. The entry is ours and the same in every container, so a refusal of it is the image's doing. */
export function startContainer(
  engine: Engine,
  container: Docker.Container,
  image: string,
): Promise<unknown> {
  const started = container.start().catch((error: unknown) => {
    const status = statusOf(error);
    if (status === 400 || status === 404) {
      throw imageWithoutShell(image, error);
    }
    throw error;
  });
  return engine.call('start a container', started);
}

export function imageNotThere(image: string, cause: unknown): Error {
  return sandboxError('SANDBOX_IMAGE_UNAVAILABLE', {
    message: `expected image ${image} on the engine, but it is not there`,
    fix: 'Build or pull the image on this engine (kervyxa runtimes).',
    cause,
  });
}

/** Everything is started by a shell, an image's own command too. */
export function imageWithoutShell(image: string, cause: unknown): Error {
  return sandboxError('SANDBOX_IMAGE_UNAVAILABLE', {
    message: `expected image ${image} to start a shell, but it has no /bin/sh that runs`,
    fix: 'Build the image for this machine, on one that has /bin/sh.',
    cause,
  });
}
