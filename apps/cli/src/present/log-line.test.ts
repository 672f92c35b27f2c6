import { describe, expect, it } from 'vitest';
import { cliError } from '../errors.ts';
import { createLog } from '../io/log.ts';
import { fakeHost } from '../testing/fake-host.ts';
import { toLogLine } from './log-line.ts';

const { stdout: screen } = fakeHost();
const line = (facts: object) => toLogLine(JSON.stringify(facts), screen);

describe('a line of the log, for a person', () => {
  it('has the time, who says it, what happened, and the facts', () => {
    const facts = { runId: 'run_1', tries: 2 };
    expect(
      line({
        level: 'info',
        time: '2026-01-02T03:04:05.678Z',
        part: 'worker',
        msg: 'run',
        ...facts,
      }),
    ).toBe('03:04:05   worker    run  runId=run_1 tries=2');
  });

  it('has the message of an error and no stack', () => {
    const err = { type: 'AppError', message: 'no database', code: 'DB_X', stack: 'at …' };
    expect(line({ level: 'warn', time: '2026-01-02T03:04:05.678Z', msg: 'failed', err })).toBe(
      '03:04:05 !           failed  DB_X: no database',
    );
  });

  it('leaves out what is not there', () => {
    const facts = { verdict: 'PASS', reason: null };
    expect(
      line({ level: 'info', time: '2026-01-02T03:04:05.678Z', msg: 'verdict sealed', ...facts }),
    ).toBe('03:04:05             verdict sealed  verdict=PASS');
  });

  it('S29 holds a line end and an escape sequence: neither forges a line', () => {
    const facts = { name: 'x\n03:04:05   api       all paid', 'a\u001b[2Jb': 1 };
    const text = line({
      level: 'info',
      time: '2026-01-02T03:04:05.678Z',
      msg: '\r\u009b2J',
      ...facts,
    });
    expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  });

  it('is shown as it is where it is no such line', () => {
    expect(toLogLine('Segmentation fault\n', screen)).toBe('Segmentation fault');
  });
});

describe('the log', () => {
  it('is JSON lines for programs, without what is secret', () => {
    const host = fakeHost();
    const log = createLog(host, true).child({ part: 'api' });
    log.info({ request: { headers: { authorization: 'Bearer s3cret' } }, key: 's3cret' }, 'asked');
    expect(JSON.parse(host.stdout.text())).toMatchObject({
      level: 'info',
      part: 'api',
      msg: 'asked',
      key: '[Redacted]',
      request: { headers: { authorization: '[Redacted]' } },
    });
    expect(host.stdout.text()).not.toContain('s3cret');
  });

  it('tells a foreseen error by code, message and fix; the stack is for defects, and for who asks for it', () => {
    const foreseen = cliError('CLI_LISTEN_FAILED', { message: 'expected a port', fix: 'Free it.' });
    const defect = cliError('CLI_INTERNAL', { message: 'expected no defect' });
    const said = (err: Error, env: Record<string, string> = {}): unknown => {
      const host = fakeHost({ env });
      createLog(host, true).warn({ err }, 'failed');
      return JSON.parse(host.stdout.text()).err;
    };
    expect(said(foreseen)).toEqual({
      code: 'CLI_LISTEN_FAILED',
      message: 'expected a port',
      fix: 'Free it.',
      details: {},
    });
    const withStack = { stack: expect.any(String) };
    expect(said(foreseen, { KERVYXA_DEBUG: '1' })).toMatchObject(withStack);
    expect(said(defect)).toMatchObject(withStack);
    expect(said(new Error('unforeseen'))).toMatchObject(withStack);
  });
});
