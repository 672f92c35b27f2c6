import { toPrintable } from '@kervyxa/core';
import { sandboxError } from '../errors.ts';
import type { ImageProgram } from './container-config.ts';
import { imageNotThere } from './containers.ts';
import { statusOf } from './engine-errors.ts';
import type { Engine } from './engine.ts';

/** `sha256:<id>` or `name@sha256:<digest>`: what can't come to mean something else (THREATS C43). */
const PINNED = /^(?:[a-z0-9][a-z0-9._/:-]*@)?sha256:[0-9a-f]{64}$/;

export interface ResolvedImage {
  readonly id: string;
  /** Names of environment variables that it would set. */
  readonly variables: readonly string[];
  /** Null for an image with neither ENTRYPOINT nor CMD. */
  readonly program: ImageProgram | null;
}

/**
 * The image that a pinned reference means on this engine. Throws SANDBOX_IMAGE_NOT_PINNED, SANDBOX_IMAGE_UNAVAILABLE,
 * and SANDBOX_IMAGE_UNFIT for one that writes where no limit holds (C06).
 */
export async function resolveImage(engine: Engine, reference: string): Promise<ResolvedImage> {
  if (!PINNED.test(reference)) {
    throw sandboxError('SANDBOX_IMAGE_NOT_PINNED', {
      message: `expected an image by digest, got "${toPrintable(reference, 200)}"`,
      fix: 'Name it as sha256:<image id> or name@sha256:<digest>; kervyxa runtimes lists digests.',
    });
  }
  const image = await engine.call(
    'inspect an image',
    engine.docker
      .getImage(reference)
      .inspect()
      .catch((error: unknown) => {
        if (statusOf(error) === 404) throw imageNotThere(reference, error);
        throw error;
      }),
  );
  const volumes = Object.keys(image.Config.Volumes ?? {});
  if (image.Os !== 'linux') throw unfit(reference, `is for ${toPrintable(image.Os, 50)}`);
  if (volumes.length > 0) {
    throw unfit(reference, `declares the volume ${toPrintable(volumes.join(', '), 200)}`);
  }
  const variables = (image.Config.Env ?? []).map((line) => line.split('=', 1)[0] ?? '');
  const words = [...toWords(image.Config.Entrypoint), ...toWords(image.Config.Cmd)];
  const folder = image.Config.WorkingDir === '' ? '/' : image.Config.WorkingDir;
  return { id: image.Id, variables, program: words.length === 0 ? null : { words, folder } };
}

/** Of an image that was resolved. Throws SANDBOX_IMAGE_UNFIT where it has no command of its own. */
export function programOf({ id, program }: ResolvedImage): ImageProgram {
  if (program !== null) return program;
  throw sandboxError('SANDBOX_IMAGE_UNFIT', {
    message: `expected an image with an ENTRYPOINT or a CMD, but ${id} has neither`,
    fix: 'Build the image with an ENTRYPOINT that starts its program.',
  });
}

/** The engine has null for none, and takes a word alone for a list. */
function toWords(words: readonly string[] | string | null | undefined): readonly string[] {
  return typeof words === 'string' ? [words] : (words ?? []);
}

function unfit(reference: string, problem: string): Error {
  return sandboxError('SANDBOX_IMAGE_UNFIT', {
    message: `expected a Linux image without volumes, but ${reference} ${problem}`,
    fix: 'Build the image without VOLUME.',
  });
}
