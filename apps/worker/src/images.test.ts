import { parseContract } from '@kervyxa/contract';
import { describe, expect, it } from 'vitest';
import { pinImage, toImageReference } from './images.ts';
import { helloContract } from './testing/hello.ts';

const [one, two] = [`sha256:${'1'.repeat(64)}`, `sha256:${'2'.repeat(64)}`];
const NAME = 'kervyxa-runtime/node:22';

describe('the image of a contract', () => {
  it('is frozen as the one that its name means at approval', () => {
    const pinned = pinImage(parseContract(helloContract()), one);
    expect(parseContract(pinned).environment.image).toBe(`${NAME}@${one}`);
    expect(pinImage(pinned, two)).toEqual(pinned);
  });

  it('is that image also after the catalogue has another under the name', () => {
    const runtimes = new Map([[NAME, two]]);
    expect(toImageReference(NAME, runtimes)).toBe(two);
    expect(toImageReference(`${NAME}@${one}`, runtimes)).toBe(one);
  });

  it('goes to the engine as it is where the catalogue has no such name', () => {
    const foreign = `example/image@${one}`;
    expect(toImageReference(foreign, new Map([[NAME, two]]))).toBe(foreign);
  });
});
