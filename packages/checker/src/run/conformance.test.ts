import { AppError } from '@kervyxa/core';
import { SANDBOX_ERRORS } from '@kervyxa/sandbox';
import type { FakeCommand } from '@kervyxa/sandbox/fake';
import { describe, expect, it } from 'vitest';
import type { Fixture } from '../contract/schema.ts';
import { type FakeDeps, fakeDeps, says } from '../testing/fake-deps.ts';
import { fixtureOf, scriptPackage, STAGE_KEY } from '../testing/script-package.ts';
import { createConformance } from './conformance.ts';
import type { FixtureReport } from './run-fixture.ts';

const never = new AbortController().signal;
const GOOD = fixtureOf('good', 'verified', 'good');
const BAD = fixtureOf('bad', 'refuted', 'bad');

const withFixtures = (fixtures: Fixture[], more: object = {}) =>
  scriptPackage('# scripted', {
    contract: { conformance_fixtures: fixtures, ...more },
    fixtureFiles: ['good', 'bad', 'odd'],
  });

/** Says verified of "good", with the score where there is one, and refuted of everything else. */
const honest =
  (score?: number): FakeCommand =>
  ({ input }) => {
    const path = [...input.keys()].find((each) => /^artifacts\/answer\/./.test(each)) ?? '';
    const text = Buffer.from((input.get(path) ?? '') as Uint8Array).toString();
    return says(text === 'good' ? { result: 'verified', score } : { result: 'refuted' });
  };

const ask = (command: FakeCommand, checker = withFixtures([GOOD, BAD])) =>
  createConformance()(fakeDeps(command), checker, STAGE_KEY, never);

// Keeps R-CHECKER-CONFORMANCE.
describe('a program', () => {
  it('reproduces every fixture of its stage', async () => {
    const seen: FixtureReport[] = [];
    const checker = withFixtures([GOOD, { ...BAD, stage_key: 'other' }, BAD]);
    const report = await createConformance()(fakeDeps(honest()), checker, STAGE_KEY, never, {
      onFixture: (fixture) => seen.push(fixture),
    });
    expect(report).toMatchObject({ isConformant: true, problem: null });
    expect(report.fixtures.map(({ key, ok }) => [key, ok])).toEqual([
      ['good', true],
      ['bad', true],
    ]);
    expect(seen.toSorted((a, b) => b.key.localeCompare(a.key))).toEqual(report.fixtures);
  });

  it('verifies everything: it misses what is to be refuted', async () => {
    const report = await ask(says({ result: 'verified' }));
    expect(report).toMatchObject({
      isConformant: false,
      problem: expect.stringContaining('bad (expected refuted, got verified)'),
    });
    expect(report.fixtures[1]).toMatchObject({
      ok: false,
      got: { result: 'verified', score: null },
    });
  });

  it('breaks: no fixture expects that, and the code is told', async () => {
    const report = await ask({ exitCode: 1 });
    expect(report.fixtures[1]).toMatchObject({
      ok: false,
      got: { result: 'broken' },
      message: expect.stringContaining('got EXIT_STATUS'),
    });
  });

  it('gives another score', async () => {
    const contract = { result_kind: 'score' as const };
    const scored = fixtureOf('good', 'verified', 'good', 0.3);
    const right = await ask(honest(0.3), withFixtures([scored, BAD], contract));
    expect(right).toMatchObject({ isConformant: true });
    const near = await ask(honest(0.1 + 0.2), withFixtures([scored, BAD], contract));
    expect(near.problem).toContain(
      'expected verified with score 0.3, got verified with score 0.30000000000000004',
    );
  });

  it('meets what can not be put before it: inconclusive, as for whoever submits it', async () => {
    const odd = fixtureOf('odd', 'inconclusive', 'odd');
    const unmet = { ...odd, inputs: { ...odd.inputs, artifacts: [] } };
    expect(await ask(honest(), withFixtures([GOOD, BAD, unmet]))).toMatchObject({
      isConformant: true,
    });
    expect(await ask(honest(), withFixtures([GOOD, BAD, odd]))).toMatchObject({
      isConformant: false,
    });
  });

  it.each([
    ['verified', [BAD]],
    ['refuted', [GOOD]],
    ['verified or refuted', []],
  ])('is held to no fixture that is %s', async (lacking, fixtures) => {
    const report = await ask(honest(), withFixtures(fixtures));
    expect(report).toMatchObject({
      isConformant: false,
      problem: expect.stringContaining(`got none that is ${lacking}`),
    });
  });
});

describe('an image', () => {
  const program = { kind: 'image', reference: `a@sha256:${'3'.repeat(64)}` } as const;
  const { programs } = scriptPackage('', { program });
  const checker = { ...withFixtures([GOOD, BAD]), programs };
  const unfit = new AppError<string>('SANDBOX_IMAGE_UNFIT', SANDBOX_ERRORS.SANDBOX_IMAGE_UNFIT, {
    message: 'it declares a volume',
  });
  const unavailable = new AppError<string>(
    'SANDBOX_IMAGE_UNAVAILABLE',
    SANDBOX_ERRORS.SANDBOX_IMAGE_UNAVAILABLE,
    { message: 'it has no /bin/sh that runs' },
  );
  const refusing = (deps: FakeDeps, error = unfit) => ({
    ...deps,
    sandbox: { ...deps.sandbox, resolveImage: () => Promise.reject(error) },
  });

  it('has no command of its own: it conforms to nothing, and is told so', async () => {
    const report = await createConformance()(fakeDeps({}), checker, STAGE_KEY, never);
    expect(report).toMatchObject({
      isConformant: false,
      problem: expect.stringContaining('an ENTRYPOINT or CMD'),
      image: program.reference,
      fixtures: [],
    });
  });

  it('is refused before it is run at all: the same', async () => {
    const deps = refusing(fakeDeps({}, honest()));
    const report = await createConformance()(deps, checker, STAGE_KEY, never);
    expect(report).toMatchObject({ isConformant: false, problem: 'it declares a volume' });
  });

  it('is here, and has no shell to start it with: the same', async () => {
    const deps = fakeDeps({}, { breaksWith: unavailable });
    const report = await createConformance()(deps, checker, STAGE_KEY, never);
    expect(report).toMatchObject({ isConformant: false, problem: unavailable.message });
  });

  it('is not here: trouble of ours, which says nothing of the program', async () => {
    const deps = refusing(fakeDeps({}, honest()), unavailable);
    const asked = createConformance()(deps, checker, STAGE_KEY, never);
    await expect(asked).rejects.toBe(unavailable);
  });

  it('is to run scripts, and is refused: for the operator to mend, whatever the script', async () => {
    const deps = refusing(fakeDeps(honest()));
    const asked = createConformance()(deps, withFixtures([GOOD, BAD]), STAGE_KEY, never);
    await expect(asked).rejects.toBe(unfit);
  });
});

describe('a report', () => {
  it('is remembered, and asked for again where the package or the image is another', async () => {
    const conformance = createConformance();
    const deps = fakeDeps(honest());
    const checker = withFixtures([GOOD, BAD]);
    await conformance(deps, checker, STAGE_KEY, never);
    await conformance(deps, checker, STAGE_KEY, never);
    expect(deps.passed).toHaveLength(2);
    await conformance(deps, { ...checker, digest: 'f'.repeat(64) }, STAGE_KEY, never);
    expect(deps.passed).toHaveLength(4);
    const runtimes = new Map([['kervyxa-runtime/python:1', `sha256:${'7'.repeat(64)}`]]);
    await conformance({ ...deps, runtimes }, checker, STAGE_KEY, never);
    expect(deps.passed).toHaveLength(6);
  });

  it('is forgotten where many others were asked for since', async () => {
    const conformance = createConformance(2);
    const deps = fakeDeps(honest());
    const askOf = (name: string) => {
      const checker = { ...withFixtures([GOOD, BAD]), digest: name.repeat(64) };
      return conformance(deps, checker, STAGE_KEY, never);
    };
    for (const name of ['a', 'b', 'a', 'c', 'a']) await askOf(name);
    expect(deps.passed).toHaveLength(3 * 2);
    await askOf('b');
    expect(deps.passed).toHaveLength(4 * 2);
  });

  it('is shared by those who ask meanwhile', async () => {
    const conformance = createConformance();
    const checker = withFixtures([GOOD, BAD]);
    const deps = fakeDeps(honest());
    const [one, other] = await Promise.all([
      conformance(deps, checker, STAGE_KEY, never),
      conformance(deps, checker, STAGE_KEY, never),
    ]);
    expect(other).toBe(one);
    expect(deps.passed).toHaveLength(2);
  });

  it('of a program that once missed a fixture is not kept: it is asked again', async () => {
    const conformance = createConformance();
    const checker = withFixtures([GOOD, BAD]);
    const starved = fakeDeps({ hangs: 'until_timeout' });
    expect(await conformance(starved, checker, STAGE_KEY, never)).toMatchObject({
      isConformant: false,
    });
    expect(await conformance(fakeDeps(honest()), checker, STAGE_KEY, never)).toMatchObject({
      isConformant: true,
    });
  });

  it('fails by trouble of ours: who asks again is answered', async () => {
    const conformance = createConformance();
    const checker = withFixtures([GOOD, BAD]);
    const broken = fakeDeps({ breaksWith: new Error('no engine') });
    await expect(conformance(broken, checker, STAGE_KEY, never)).rejects.toThrow('no engine');
    expect(await conformance(fakeDeps(honest()), checker, STAGE_KEY, never)).toMatchObject({
      isConformant: true,
    });
  });

  it('goes on for the others when one who asked gives up, and stops when all have', async () => {
    const conformance = createConformance();
    const checker = withFixtures([GOOD, BAD]);
    const deps = fakeDeps({ hangs: 'until_abort' });
    const [one, other] = [new AbortController(), new AbortController()];
    const asked = [one, other].map(({ signal }) => conformance(deps, checker, STAGE_KEY, signal));
    const ends = Promise.allSettled(asked);
    one.abort(new Error('one left'));
    await expect(asked[0]).rejects.toThrow('one left');
    other.abort(new Error('all left'));
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(asked[1]).rejects.toThrow('all left');
    expect(await conformance(fakeDeps(honest()), checker, STAGE_KEY, never)).toMatchObject({
      isConformant: true,
    });
  });
});
