import { describe, expect, it } from 'vitest';
import { sandboxError } from '../errors.ts';
import { toEngineError } from './engine-errors.ts';

const failure = (message: string, more: object): Error => Object.assign(new Error(message), more);

describe('what an engine call threw', () => {
  it.each([
    ['nobody listens', failure('connect', { code: 'ECONNREFUSED' }), 'SANDBOX_ENGINE_UNAVAILABLE'],
    ['there is no socket', failure('connect', { code: 'ENOENT' }), 'SANDBOX_ENGINE_UNAVAILABLE'],
    ['it hung up', failure('socket hang up', { code: 'ECONNRESET' }), 'SANDBOX_ENGINE_UNAVAILABLE'],
    ['it failed', failure('oops', { statusCode: 500 }), 'SANDBOX_ENGINE_UNAVAILABLE'],
    ['it refused us', failure('bad parameter', { statusCode: 400 }), 'SANDBOX_ENGINE_UNAVAILABLE'],
    [
      'its disk is full',
      failure('mkdir x: no space left on device', { statusCode: 500 }),
      'SANDBOX_DISK_FULL',
    ],
    [
      'our container is gone',
      failure('no such container', { statusCode: 404 }),
      'SANDBOX_RUN_LOST',
    ],
    ['something that is no error', 'text', 'SANDBOX_ENGINE_UNAVAILABLE'],
  ])('says that %s', (_, error, code) => {
    expect(toEngineError('do it', error)).toMatchObject({ code, traits: { fault: 'infra' } });
  });

  it('is shown without control characters', () => {
    const { message } = toEngineError('do it', failure('\u001b[2Jgone', { statusCode: 500 }));
    expect(message).toBe('expected the engine to do it, got HTTP 500: \\u{1b}[2Jgone');
  });

  it('stays what it is where it is an error of ours', () => {
    const own = sandboxError('SANDBOX_DISK_FULL', { message: 'full' });
    expect(toEngineError('do it', own)).toBe(own);
  });
});
