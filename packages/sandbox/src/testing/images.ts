import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { TreeArchive } from '@kervyxa/core';
import type { EngineBench } from './engine.ts';
import { never } from './harness.ts';

/** The bench's image with another configuration; returns its id. The caller removes it. */
export async function commitImage({ docker, image }: EngineBench, config: object): Promise<string> {
  const container = await docker.createContainer({ Image: image, Cmd: ['true'] });
  const { Id } = await container.commit({ _query: { container: container.id }, _body: config });
  await container.remove();
  return Id;
}

/** An image that holds a tree and nothing else, with lines of a Dockerfile; returns its id. The caller removes it. */
export async function importImage(
  { docker }: EngineBench,
  tree: TreeArchive,
  options: { readonly changes?: string } = {},
): Promise<string> {
  const progress = await docker.importImage(Readable.from(tree.open(never)), options);
  const id = /"status":"(sha256:[0-9a-f]{64})"/.exec(await text(progress))?.[1];
  if (id === undefined) throw new Error('expected the id of an imported image, got none');
  return id;
}

/** The bench's image without one of its files; returns its id. The caller removes it. */
export async function imageWithout({ docker, image }: EngineBench, path: string): Promise<string> {
  const container = await docker.createContainer({ Image: image, Cmd: ['rm', path], User: '0:0' });
  await container.start();
  await container.wait();
  const { Id } = await container.commit({ _query: { container: container.id }, _body: {} });
  await container.remove();
  return Id;
}
