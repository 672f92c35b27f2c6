import type { Contract } from '@kervyxa/contract';

const PINNED = /^(.+)@(sha256:[0-9a-f]{64})$/;

/** `name@sha256:<image id>`: the one image that a catalogue name means here now, frozen into the contract. */
export function pinImage(contract: Contract, imageId: string): Contract {
  const { environment } = contract;
  if (PINNED.test(environment.image)) return contract;
  const image = `${environment.image}@${imageId}`;
  return { ...contract, environment: { ...environment, image } };
}

/**
 * What the engine is asked for: a catalogue name's image, also where a contract has pinned it. The same image or none:
 * one that has been rebuilt since has another id, and the engine says whether it still holds the old one.
 */
export function toImageReference(image: string, runtimes: ReadonlyMap<string, string>): string {
  const [, name, imageId] = PINNED.exec(image) ?? [];
  if (name !== undefined && imageId !== undefined && runtimes.has(name)) return imageId;
  return runtimes.get(image) ?? image;
}
