import { describe, expect, it } from 'vitest';
import { never, run, runOnce, textOf, toRequest, withSession } from '../testing/harness.ts';
import { itKeepsInputs } from '../testing/inputs-suite.ts';
import { itBehavesLikeASandbox, type OpenBench } from '../testing/shared-suite.ts';
import { testTree } from '../testing/trees.ts';
import { createFakeSandbox } from './index.ts';

const image = `sha256:${'0'.repeat(64)}`;

describe('the fake sandbox', () => {
  const openBench: OpenBench = async (commands) => ({
    sandbox: createFakeSandbox({ commands }),
    image,
  });
  itBehavesLikeASandbox(openBench);
  itKeepsInputs(openBench);
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

describe('the command of an image', () => {
  const inputs = { layout: 'inputs', tree: testTree({ 'a.txt': 'A' }) } as const;
  const ofImage = { command: null };

  it('does what the fake was told', async () => {
    const sandbox = createFakeSandbox({
      commands: {},
      imageCommand: ({ input }) => ({ stdout: [...input.keys()].join() }),
    });
    await withSession({ sandbox, image }, inputs, async (session) => {
      expect(textOf(await run(session, 'true', ofImage))).toBe('a.txt');
    });
  });

  it('is not there unless the fake has one', async () => {
    const sandbox = createFakeSandbox({ commands: {} });
    await withSession({ sandbox, image }, inputs, async (session) => {
      const staged = session.stage(toRequest('true', ofImage), never);
      await expect(staged).rejects.toMatchObject({ code: 'SANDBOX_IMAGE_UNFIT' });
    });
  });

  it('is not run on a workspace', async () => {
    const sandbox = createFakeSandbox({ commands: {}, imageCommand: {} });
    await expect(runOnce({ sandbox, image }, 'true', { request: ofImage })).rejects.toMatchObject({
      code: 'SANDBOX_MISUSED',
    });
  });
});

it.each(['tree', 'package', 'dependencies'] as const)(
  'measures another %s when somebody has changed it meanwhile, and nothing else does',
  async (meanwhileChanged) => {
    const sandbox = createFakeSandbox({ commands: { true: { meanwhileChanged } } });
    const tree = testTree({ 'a.txt': 'A' });
    const request = { tree, verifierPackage: tree, dependencies: tree };
    await withSession({ sandbox, image }, request, async (session) => {
      const before = await session.measure(never);
      await run(session, 'true');
      const after = await session.measure(never);
      expect(after[meanwhileChanged]).not.toBe(before[meanwhileChanged]);
      expect({ ...after, [meanwhileChanged]: before[meanwhileChanged] }).toEqual(before);
    });
  },
);
