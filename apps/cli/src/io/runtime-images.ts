import type { Runtimes } from '@kervyxa/setup';

/** Holds the few programs with which the sandbox lays out trees; the smaller of our images. */
const TOOLS_RUNTIME = 'kervyxa-runtime/python:1';

/** Runtime name → image id. */
export function toImageIds(runtimes: Runtimes): ReadonlyMap<string, string> {
  return new Map([...runtimes].map(([name, { imageId }]) => [name, imageId]));
}

/** The image for the sandbox's own containers, or its name where none is bound: the engine then says it is missing. */
export function toToolsImage(images: ReadonlyMap<string, string>): string {
  return images.get(TOOLS_RUNTIME) ?? TOOLS_RUNTIME;
}
