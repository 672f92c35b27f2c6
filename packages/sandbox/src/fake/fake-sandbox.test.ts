import { describe, expect, it } from 'vitest';
import { never, runOnce } from '../testing/harness.ts';
import { itBehavesLikeASandbox } from '../testing/shared-suite.ts';
import { createFakeSandbox } from './index.ts';

const image = `sha256:${'0'.repeat(64)}`;

describe('the fake sandbox', () => {
  itBehavesLikeASandbox(async (commands) => ({ sandbox: createFakeSandbox({ commands }), image }));
});

it('refuses a command that has no script, instead of passing it', async () => {
  const sandbox = createFakeSandbox({ commands: {} });
  await expect(runOnce({ sandbox, image }, 'true')).rejects.toMatchObject({
    code: 'SANDBOX_MISUSED',
  });
});

it('rejects a run with the trouble that its script names', async () => {
  const trouble = new Error('engine gone');
  const sandbox = createFakeSandbox({ commands: { true: { breaksWith: trouble } } });
  await expect(runOnce({ sandbox, image }, 'true')).rejects.toBe(trouble);
});

it('knows only the images that it was given', async () => {
  const sandbox = createFakeSandbox({ commands: {}, images: { [`name@${image}`]: image } });
  expect(await sandbox.resolveImage(`name@${image}`, never)).toBe(image);
  await expect(sandbox.resolveImage(image, never)).rejects.toMatchObject({
    code: 'SANDBOX_IMAGE_UNAVAILABLE',
  });
});
