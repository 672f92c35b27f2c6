import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contractDigest } from '@kervyxa/contract';
import { sha256Hex } from '@kervyxa/core';
import type { VerificationResult } from '@kervyxa/verifier';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contractOf } from '../testing/sample-contract.ts';
import { openEvidenceFolder } from './evidence-folder.ts';
import { LOG_BYTES_MAX } from './step-logs.ts';

const CONTRACT = contractOf();
const RESULT: VerificationResult = {
  verdict: 'PASS',
  contractDigest: contractDigest(CONTRACT),
  commit: 'a'.repeat(40),
  tree: null,
  imageDigest: null,
  changedFiles: [],
  inputs: null,
  criteria: [],
  reasons: [],
};

let root = '';
let folder = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kervyxa-evidence-'));
  folder = join(root, 'evidence');
});
afterEach(() => rmSync(root, { recursive: true }));

function output(text: string | Uint8Array, { stepId = 'criterion:tests', attempt = 1 } = {}) {
  const chunk = typeof text === 'string' ? Buffer.from(text) : text;
  return { kind: 'output', stepId, attempt, stream: 'stdout', chunk } as const;
}

function refusal(code: string) {
  return expect.objectContaining({ code });
}

describe('the evidence folder', () => {
  it('holds the contract whose SHA-256 is its digest, the result, and a log each stream', () => {
    const evidence = openEvidenceFolder(folder, CONTRACT);
    evidence.onEvent(output('one '));
    evidence.onEvent(output('two'));
    evidence.onEvent(output('again', { attempt: 2 }));
    evidence.onEvent(output('set up', { stepId: 'setup:0' }));
    evidence.finish(RESULT);

    const read = (name: string) => readFileSync(join(folder, name), 'utf8');
    expect(`sha256:${sha256Hex(read('contract.json'))}`).toBe(contractDigest(CONTRACT));
    expect(JSON.parse(read('result.json'))).toEqual(RESULT);
    expect(read('criteria/tests.stdout.log')).toBe('one two');
    expect(read('criteria/tests.attempt-2.stdout.log')).toBe('again');
    expect(read('setup/0.stdout.log')).toBe('set up');
  });

  it('makes the folders above it', () => {
    openEvidenceFolder(join(folder, 'of', 'today'), CONTRACT).finish(RESULT);
    expect(readdirSync(join(folder, 'of', 'today'))).toContain('result.json');
  });

  it('is asked for below a folder that takes none, where mkdir of Node.js never ends', () => {
    const open = () => openEvidenceFolder('/proc/kervyxa/evidence', CONTRACT);
    expect(open).toThrow(refusal('CLI_EVIDENCE_UNWRITABLE'));
  });

  it('has the output on disk before the run has ended', () => {
    openEvidenceFolder(folder, CONTRACT).onEvent(output('so far'));
    expect(readFileSync(join(folder, 'criteria/tests.stdout.log'), 'utf8')).toBe('so far');
  });

  it('cuts an endless log and says so in it', () => {
    const evidence = openEvidenceFolder(folder, CONTRACT);
    evidence.onEvent(output(Buffer.alloc(LOG_BYTES_MAX - 1)));
    evidence.onEvent(output('abc'));
    evidence.onEvent(output('d'));
    evidence.finish(RESULT);
    const log = readFileSync(join(folder, 'criteria/tests.stdout.log'));
    expect(log.subarray(LOG_BYTES_MAX - 1).toString()).toBe(
      'a\n[kervyxa: 3 more bytes were not kept]\n',
    );
  });

  it('replaces what an earlier run left there', () => {
    const first = openEvidenceFolder(folder, CONTRACT);
    first.onEvent(output('old', { stepId: 'criterion:gone' }));
    first.finish(RESULT);
    openEvidenceFolder(folder, CONTRACT);
    expect(readdirSync(folder).toSorted()).toEqual([
      '.kervyxa-evidence',
      'contract.json',
      'criteria',
      'setup',
    ]);
    expect(readdirSync(join(folder, 'criteria'))).toEqual([]);
  });

  it('refuses a folder with files of somebody else, and leaves them alone', () => {
    mkdirSync(folder);
    writeFileSync(join(folder, 'result.json'), 'mine');
    expect(() => openEvidenceFolder(folder, CONTRACT)).toThrow(
      refusal('CLI_EVIDENCE_FOLDER_REFUSED'),
    );
    expect(readFileSync(join(folder, 'result.json'), 'utf8')).toBe('mine');
  });

  it.each([
    ['a file beside ours', (at: string) => writeFileSync(join(at, 'notes.txt'), 'mine')],
    ['a file among the logs', (at: string) => writeFileSync(join(at, 'criteria/x.txt'), 'mine')],
    ['a folder among the logs', (at: string) => mkdirSync(join(at, 'setup/x.log'))],
  ])('refuses a folder of ours with %s, and removes nothing', (_what, add) => {
    openEvidenceFolder(folder, CONTRACT).finish(RESULT);
    add(folder);
    expect(() => openEvidenceFolder(folder, CONTRACT)).toThrow(
      refusal('CLI_EVIDENCE_FOLDER_REFUSED'),
    );
    expect(readdirSync(folder)).toContain('result.json');
  });

  it.each(['', '/'])(
    'does not write through a link to a folder, named with "%s" at its end',
    (end) => {
      const target = join(root, 'target');
      mkdirSync(target);
      symlinkSync(target, folder);
      expect(() => openEvidenceFolder(folder + end, CONTRACT)).toThrow(
        refusal('CLI_EVIDENCE_FOLDER_REFUSED'),
      );
      expect(readdirSync(target)).toEqual([]);
    },
  );

  it('does not follow a link that was put where a log or the result will be', () => {
    const victim = join(root, 'victim');
    writeFileSync(victim, 'mine');
    const evidence = openEvidenceFolder(folder, CONTRACT);
    symlinkSync(victim, join(folder, 'criteria/tests.stdout.log'));
    symlinkSync(victim, join(folder, 'result.json'));
    evidence.onEvent(output('attack'));
    expect(() => evidence.finish(RESULT)).toThrow(refusal('CLI_EVIDENCE_UNWRITABLE'));
    expect(readFileSync(victim, 'utf8')).toBe('mine');
  });

  it('does not let the id of a step choose a path, and tells of it at the end', () => {
    const evidence = openEvidenceFolder(folder, CONTRACT);
    evidence.onEvent(output('attack', { stepId: 'criterion:../../victim' }));
    expect(() => evidence.finish(RESULT)).toThrow(refusal('CLI_EVIDENCE_UNWRITABLE'));
    expect(readdirSync(root)).toEqual(['evidence']);
  });

  it('refuses a file, and says that it can not write below one', () => {
    writeFileSync(folder, 'mine');
    const open = (path: string) => () => openEvidenceFolder(path, CONTRACT);
    expect(open(folder)).toThrow(refusal('CLI_EVIDENCE_FOLDER_REFUSED'));
    expect(open(join(folder, 'below'))).toThrow(refusal('CLI_EVIDENCE_UNWRITABLE'));
    expect(readFileSync(folder, 'utf8')).toBe('mine');
  });
});
