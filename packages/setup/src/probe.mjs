import { SetupError } from './errors.mjs';

const RUN_MS = 60_000;
const LABEL = 'org.kervyxa.setup-probe';

/**
 * Runs the recipe's probe in the image, as an unprivileged user without a network, as every contract's command runs.
 * @param {import('./engine-api.mjs').Engine} engine
 * @param {import('./recipe.mjs').Recipe} recipe
 * @param {string} imageId
 * @throws {SetupError} SETUP_IMAGE_UNFIT, SETUP_ENGINE_REFUSED
 */
export async function probeImage(engine, recipe, imageId) {
  const image = await engine.findJson(`/images/${imageId}/json`);
  // A volume of the image would be writable disk that no limit covers (THREATS C06).
  if (Object.keys(image?.Config?.Volumes ?? {}).length > 0)
    throw unfit(recipe, 'it declares volumes');
  const { Id: id } = await engine.readJson('/containers/create', {
    method: 'POST',
    body: {
      Image: imageId,
      Entrypoint: ['/bin/sh', '-ec'],
      Cmd: [recipe.probe],
      Env: ['HOME=/tmp'],
      User: '65534:65534',
      WorkingDir: '/',
      NetworkDisabled: true,
      Labels: { [LABEL]: '1' },
      HostConfig: {
        NetworkMode: 'none',
        CapDrop: ['ALL'],
        ReadonlyRootfs: true,
        Tmpfs: { '/tmp': 'size=64m' },
      },
    },
  });
  try {
    await engine.readJson(`/containers/${id}/start`, { method: 'POST' });
    const { StatusCode: status } = await engine.readJson(`/containers/${id}/wait`, {
      method: 'POST',
      answerMs: RUN_MS,
    });
    if (status !== 0) {
      const { text } = await engine.readText(`/containers/${id}/logs?stdout=1&stderr=1&tail=5`);
      // Each piece of a container's output has a binary header.
      throw unfit(
        recipe,
        `its probe ended with status ${status}: ${text.replace(/[^\x20-\x7e]+/g, ' ').trim()}`,
      );
    }
  } finally {
    await engine.readText(`/containers/${id}?force=1&v=1`, { method: 'DELETE' });
  }
}

/** @param {import('./engine-api.mjs').Engine} engine */
export async function removeProbes(engine) {
  const filters = encodeURIComponent(JSON.stringify({ label: [LABEL] }));
  for (const { Id: id } of await engine.readJson(`/containers/json?all=1&filters=${filters}`)) {
    await engine.readText(`/containers/${id}?force=1&v=1`, { method: 'DELETE' });
  }
}

/**
 * @param {import('./recipe.mjs').Recipe} recipe
 * @param {string} problem
 */
export function unfit({ name }, problem) {
  return new SetupError('SETUP_IMAGE_UNFIT', {
    message: `the image for ${name} can’t be used: ${problem}`,
    fix: `remove it from the engine (DELETE /images/${name}, or docker rmi ${name}) and repeat the command`,
  });
}
