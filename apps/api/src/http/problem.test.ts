import { defineErrors } from '@kervyxa/core';
import { describe, expect, it } from 'vitest';
import { createApiError } from '../errors.ts';
import { toProblem } from './problem.ts';

const { create } = defineErrors({
  TEST_REFUSED: { fault: 'caller', retryable: false, httpStatus: 409, exitCode: 2, meaning: 'No.' },
  TEST_DOWN: { fault: 'infra', retryable: true, httpStatus: 503, exitCode: 4, meaning: 'Down.' },
});

describe('a problem', () => {
  it('tells a caller what was expected, what came and how to mend it', () => {
    const error = create('TEST_REFUSED', {
      message: 'expected A, got B',
      fix: 'send A',
      details: { balanceMinor: 12n },
    });
    expect(toProblem(error, 'req_1')).toEqual({
      type: 'urn:kervyxa:problem:TEST_REFUSED',
      title: 'No.',
      status: 409,
      code: 'TEST_REFUSED',
      detail: 'expected A, got B',
      fix: 'send A',
      instance: 'req_1',
      details: { balanceMinor: '12' },
    });
  });

  it('says nothing of our insides, whatever broke', () => {
    const secrets = [
      create('TEST_DOWN', { message: 'SECRET host', details: { password: 'SECRET' } }),
      new Error('SECRET path'),
      new Error('outer', { cause: new Error('SECRET') }),
      'SECRET text',
      null,
    ];
    const problems = secrets.map((each) => toProblem(each, 'req_1'));
    expect(problems.map(({ status }) => status)).toEqual([503, 500, 500, 500, 500]);
    expect(JSON.stringify(problems)).not.toContain('SECRET');
  });

  it('S29 a forged line in a message of the parser: made printable', () => {
    const error = Object.assign(new Error('a\r\n{"level":60}\u001b[2J'), {
      code: 'FST_ERR_BAD_URL',
      statusCode: 400,
    });
    expect(toProblem(error, 'req_1')).toMatchObject({
      code: 'API_REQUEST_MALFORMED',
      detail: 'a\\u{d}\\u{a}{"level":60}\\u{1b}[2J',
    });
  });

  it('keeps the word of a busy server, which the caller can act on', () => {
    const error = createApiError('API_BUSY', { message: 'expected fewer', fix: 'wait' });
    expect(toProblem(error, 'req_1')).toMatchObject({ status: 503, detail: 'expected fewer' });
  });
});
