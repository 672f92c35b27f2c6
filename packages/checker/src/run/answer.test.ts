import { sha256Hex } from '@kervyxa/core';
import type { FileReading } from '@kervyxa/sandbox';
import { describe, expect, it } from 'vitest';
import { type AnswerTerms, readAnswer } from './answer.ts';

const ABSENT: FileReading = { kind: 'absent' };
const PASS_FAIL: AnswerTerms = { resultKind: 'pass_fail', evidenceSchema: null };
const SCORED: AnswerTerms = { resultKind: 'score', evidenceSchema: null };
const COUNTED: AnswerTerms = {
  resultKind: 'pass_fail',
  evidenceSchema: { type: 'object', required: ['count'], properties: { count: { minimum: 1 } } },
};

function file(content: string | Uint8Array): FileReading {
  const head = Buffer.from(content);
  const parts = { bytesTotal: head.length, sha256: sha256Hex(head), lineCount: 1 };
  return { kind: 'file', head, ...parts };
}

const read = (terms: AnswerTerms, result: FileReading, evidence: FileReading = ABSENT) =>
  readAnswer(terms, { result, evidence });

// Keeps R-CHECKER-PROTOCOL.
describe('a program that ended with 0', () => {
  it.each(['verified', 'refuted', 'inconclusive'] as const)('says %s', async (kind) => {
    const result = file(JSON.stringify({ result: kind, reason: 'because', other: [1] }));
    const expected = { kind, reason: 'because', score: null, evidence: null };
    expect(await read(PASS_FAIL, result)).toEqual(expected);
  });

  it('gives no reason, or null for one', async () => {
    const expected = { kind: 'verified', reason: null, score: null, evidence: null };
    expect(await read(PASS_FAIL, file('{"result":"verified"}'))).toEqual(expected);
    const nulls = file('{"result":"verified","reason":null,"score":null}');
    expect(await read(PASS_FAIL, nulls)).toEqual(expected);
  });

  it('moves the cursor of a terminal by its reason: it is printable, and bounded', async () => {
    const reason = `\u001b[2J${'x'.repeat(5_000)}`;
    const end = await read(PASS_FAIL, file(JSON.stringify({ result: 'refuted', reason })));
    expect(end).toMatchObject({ reason: `\\u{1b}[2J${'x'.repeat(1_991)}…` });
  });

  it.each([
    ['writes nothing', 'RESULT_MISSING', ABSENT],
    ['leaves a link to another file', 'RESULT_MALFORMED', notRegular('symbolic link')],
    ['leaves a folder', 'RESULT_MALFORMED', notRegular('folder')],
    ['leaves a pipe that nobody writes to', 'RESULT_MALFORMED', notRegular('named pipe')],
    ['writes more than 64 KiB', 'RESULT_MALFORMED', { kind: 'too_large', bytesMax: 65_536 }],
    ['writes nothing into the file', 'RESULT_MALFORMED', file('')],
    ['writes half of it', 'RESULT_MALFORMED', file('{"result":"verif')],
    ['writes two values', 'RESULT_MALFORMED', file('{"result":"verified"} {}')],
    [
      'writes what is no UTF-8',
      'RESULT_MALFORMED',
      file(Buffer.from('{"result":"\xff"}', 'latin1')),
    ],
    ['writes UTF-16', 'RESULT_MALFORMED', file(Buffer.from('{"result":"verified"}', 'utf16le'))],
    [
      'says two things by one key',
      'RESULT_MALFORMED',
      file('{"result":"refuted","result":"verified"}'),
    ],
    [
      'says two things by a key and its escape',
      'RESULT_MALFORMED',
      file('{"result":"refuted","r\\u0065sult":"verified"}'),
    ],
    [
      'nests 65 levels',
      'RESULT_MALFORMED',
      file(`{"result":"verified","a":${'['.repeat(65)}${']'.repeat(65)}}`),
    ],
    ['writes NaN', 'RESULT_MALFORMED', file('{"result":"verified","score":NaN}')],
    [
      'writes a number beyond all bounds',
      'RESULT_MALFORMED',
      file('{"result":"verified","a":1e999}'),
    ],
    [
      'writes half a character',
      'RESULT_MALFORMED',
      file('{"result":"verified","reason":"\\ud800"}'),
    ],
    ['writes the word alone', 'RESULT_MALFORMED', file('"verified"')],
    ['writes a list', 'RESULT_MALFORMED', file('["verified"]')],
    ['writes null', 'RESULT_MALFORMED', file('null')],
    ['writes no result', 'RESULT_UNKNOWN', file('{}')],
    ['writes a result of its own', 'RESULT_UNKNOWN', file('{"result":"pass"}')],
    ['shouts', 'RESULT_UNKNOWN', file('{"result":"VERIFIED"}')],
    ['pads the word', 'RESULT_UNKNOWN', file('{"result":"verified "}')],
    ['writes true', 'RESULT_UNKNOWN', file('{"result":true}')],
    ['puts the word into a list', 'RESULT_UNKNOWN', file('{"result":["verified"]}')],
    [
      'has the result from a prototype',
      'RESULT_UNKNOWN',
      file('{"__proto__":{"result":"verified"}}'),
    ],
    ['claims an error', 'ERROR_CLAIMED', file('{"result":"error"}')],
    [
      'gives a reason that is no text',
      'RESULT_MALFORMED',
      file('{"result":"refuted","reason":{}}'),
    ],
    ['gives a score as text', 'RESULT_MALFORMED', file('{"result":"verified","score":"1"}')],
    [
      'gives a score that nobody asked for',
      'SCORE_UNEXPECTED',
      file('{"result":"verified","score":0}'),
    ],
  ] as const)('%s: %s', async (_, code, result) => {
    const end = await read(PASS_FAIL, result as FileReading);
    expect(end).toMatchObject({
      kind: 'broken',
      code,
      message: expect.stringMatching(/expected .*, got /),
    });
  });
});

describe('a program of a score stage', () => {
  it('gives the number with verified', async () => {
    const end = await read(SCORED, file('{"result":"verified","score":0.25}'));
    expect(end).toMatchObject({ kind: 'verified', score: 0.25 });
  });

  it('gives none with verified: SCORE_MISSING', async () => {
    const end = await read(SCORED, file('{"result":"verified"}'));
    expect(end).toMatchObject({ kind: 'broken', code: 'SCORE_MISSING' });
  });

  it.each(['refuted', 'inconclusive'])('gives one with %s: it counts for nothing', async (kind) => {
    const end = await read(SCORED, file(JSON.stringify({ result: kind, score: 1 })));
    expect(end).toMatchObject({ kind, score: null });
  });
});

describe('the evidence', () => {
  const verified = file('{"result":"verified"}');

  it('satisfies the schema of its stage, and goes with the answer', async () => {
    const end = await read(COUNTED, verified, file('{"count":3}'));
    expect(end).toMatchObject({ kind: 'verified', evidence: { count: 3 } });
  });

  it('goes with the answer also where the stage has no schema', async () => {
    const end = await read(PASS_FAIL, verified, file('[1]'));
    expect(end).toMatchObject({ kind: 'verified', evidence: [1] });
  });

  it.each([
    ['is not there', 'EVIDENCE_MISSING', ABSENT],
    ['leads through a link', 'EVIDENCE_MALFORMED', notRegular('symbolic link')],
    ['is larger than 1 MiB', 'EVIDENCE_MALFORMED', { kind: 'too_large', bytesMax: 1_048_576 }],
    ['is no JSON', 'EVIDENCE_MALFORMED', file('count=3')],
    ['has a key twice', 'EVIDENCE_MALFORMED', file('{"count":0,"count":1}')],
    ['breaks the schema', 'EVIDENCE_REFUSED', file('{"count":0}')],
  ] as const)('%s: %s, whatever the result says', async (_, code, evidence) => {
    for (const result of ['verified', 'refuted', 'inconclusive']) {
      const end = await read(COUNTED, file(JSON.stringify({ result })), evidence as FileReading);
      expect(end).toMatchObject({ kind: 'broken', code });
    }
  });

  it('names the place that the schema refuses', async () => {
    const end = await read(COUNTED, verified, file('{"count":0}'));
    expect(end).toMatchObject({ message: expect.stringContaining('/count: must be >= 1') });
  });

  it('meets a schema that refers to a network: refused, and the schema is to blame', async () => {
    const evidenceSchema = { $ref: 'https://example.com/schema.json' };
    const end = await read({ resultKind: 'pass_fail', evidenceSchema }, verified, file('{}'));
    expect(end).toMatchObject({
      kind: 'broken',
      code: 'EVIDENCE_REFUSED',
      message: expect.stringContaining('https://example.com/schema.json'),
    });
  });
});

function notRegular(found: string): FileReading {
  return { kind: 'not_regular', found };
}
