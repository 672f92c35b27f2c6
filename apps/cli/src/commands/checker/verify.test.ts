import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256Hex } from '@kervyxa/core';
import { EvaluationRecordSchema } from '@kervyxa/evidence';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandContext } from '../../context.ts';
import { loadCheckerPackage } from '../../io/checker-package.ts';
import { watchInterrupts } from '../../io/interrupts.ts';
import { fakeCheckerMachine, verifiesWhere } from '../../testing/fake-checker-machine.ts';
import { fakeHost, type FakeHost } from '../../testing/fake-host.ts';
import { runCheckerVerify, type CheckerVerifyOptions } from './verify.ts';

const FIXTURES = join(import.meta.dirname, '../../../../../fixtures/checkers');
const deposition = await loadCheckerPackage(join(FIXTURES, 'deposition/package'));
const keys = await loadCheckerPackage(join(FIXTURES, 'required-keys/package'));
const FILES = {
  'right.json': '{"yield_percent": 61.5}',
  'wrong.json': '{}',
  'schema.json': '{"required": []}',
  'latin.md': '\xff',
};

let host: FakeHost;
let root = '';
beforeEach(() => {
  host = fakeHost();
  root = mkdtempSync(join(tmpdir(), 'kervyxa-check-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function verify(options: CheckerVerifyOptions, packages = { './it': deposition }): Promise<number> {
  const context: CommandContext = {
    host,
    interrupts: watchInterrupts(host),
    exitCode: 0,
    endsBySignal: false,
    toExitCode: () => 0,
  };
  const machine = fakeCheckerMachine(packages, verifiesWhere('"yield_percent": 61.5'), FILES);
  return runCheckerVerify('./it', options, context, machine);
}

const RIGHT = { artifact: ['record=right.json'] };

// Keeps R-CLI-CODES.
describe('kervyxa checker verify', () => {
  it('answers 0 for what a stage verifies', async () => {
    expect(await verify({ ...RIGHT, stage: 'shape' })).toBe(0);
    expect(host.stdout.lines().slice(0, 2)).toEqual(['verified', '  shape  verified']);
  });

  it('answers 1 for what is refuted, and says what was not run', async () => {
    expect(await verify({ artifact: ['record=wrong.json'] })).toBe(1);
    expect(host.stdout.lines()).toEqual([
      'refuted',
      '  shape     refuted',
      '    looked for "yield_percent": 61.5',
      '  range     not run',
      '  faithful  not run',
      '  accepted  not run',
      '',
    ]);
  });

  it('answers 3 where people have to judge, and names them', async () => {
    expect(await verify(RIGHT)).toBe(3);
    expect(host.stdout.lines()).toContain('  faithful  inconclusive  STAGE_UNAVAILABLE');
    expect(host.stdout.text()).toContain('review by people');
    expect(host.stderr.lines()).toContain('stage range: verified');
  });

  it('answers 3 where something is missing', async () => {
    expect(await verify({})).toBe(3);
    expect(host.stdout.lines()).toContain('  shape     inconclusive  REQUIREMENTS_UNMET');
  });

  it.each<[string, CheckerVerifyOptions]>([
    ['a role without a file', { artifact: ['record'] }],
    ['a file without a role', { artifact: ['=right.json'] }],
    ['a role that there is not', { artifact: ['nope=right.json'] }],
    ['a slot that there is not', { ...RIGHT, reference: ['schema=schema.json'] }],
    ['a stage that there is not', { ...RIGHT, stage: 'nothing' }],
    ['words that are no UTF-8', { summary: 'latin.md' }],
  ])('is given %s: usage', async (_, options) => {
    await expect(verify(options)).rejects.toMatchObject({ code: 'CLI_USAGE_INVALID' });
  });

  it('is given a campaign: usage', async () => {
    const two = { './it': deposition, './other': keys };
    await expect(verify(RIGHT, two)).rejects.toMatchObject({ code: 'CLI_USAGE_INVALID' });
  });

  it('leaves an evaluation of every stage, and the result that it names', async () => {
    const folder = join(root, 'evidence');
    await verify({ ...RIGHT, evidence: folder, json: true });
    const result = readFileSync(join(folder, 'result.json'), 'utf8');
    expect(JSON.parse(result)).toEqual(JSON.parse(host.stdout.text()));
    const text = readFileSync(join(folder, 'evaluation.json'), 'utf8');
    expect(EvaluationRecordSchema.parse(JSON.parse(text))).toMatchObject({
      'verifier/digest': `sha256:${deposition.digest}`,
      'result/digest': `sha256:${sha256Hex(result)}`,
      checks: [
        { 'check/ref': 'shape', status: 'passed' },
        { 'check/ref': 'range', status: 'passed' },
        { 'check/ref': 'faithful', status: 'inconclusive' },
        { 'check/ref': 'accepted', status: 'not_run' },
      ],
      passed: false,
    });
  });

  it('is asked for one stage alone: the evaluation passes for none of the others', async () => {
    const folder = join(root, 'evidence');
    expect(await verify({ ...RIGHT, stage: 'shape', evidence: folder })).toBe(0);
    const text = readFileSync(join(folder, 'evaluation.json'), 'utf8');
    expect(JSON.parse(text)).toMatchObject({
      checks: [
        { 'check/ref': 'shape', status: 'passed' },
        { 'check/ref': 'range', status: 'not_run' },
        { 'check/ref': 'faithful', status: 'not_run' },
        { 'check/ref': 'accepted', status: 'not_run' },
      ],
      passed: false,
    });
  });
});
