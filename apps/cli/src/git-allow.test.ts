import { describe, expect, it } from 'vitest';
import { parseAllowedOrigins } from './git-allow.ts';

describe('KERVYXA_GIT_ALLOW', () => {
  it.each([
    [undefined, []],
    ['', []],
    [' , ', []],
    ['http://127.0.0.1:8080', ['http://127.0.0.1:8080']],
    [
      'HTTP://Localhost:80/, https://git.example.org',
      ['http://localhost', 'https://git.example.org'],
    ],
  ])('%j means %j', (text, origins) => {
    expect(parseAllowedOrigins(text)).toEqual(origins);
  });

  it('holds a password: it is refused, and not repeated', () => {
    const parse = () => parseAllowedOrigins('https://user:s3cret@git.example.org');
    expect(parse).toThrow(expect.objectContaining({ code: 'CLI_GIT_ALLOW_INVALID' }));
    expect(parse).not.toThrow(/s3cret/);
  });

  it.each([
    '127.0.0.1:8080',
    'ssh://127.0.0.1',
    'http://127.0.0.1/only-this.git',
    'http://user@127.0.0.1',
    'http://127.0.0.1?x',
    'http://a\\@127.0.0.1',
    '*',
    'http://ok:1,nonsense',
  ])('refuses %j', (text) => {
    expect(() => parseAllowedOrigins(text)).toThrow(
      expect.objectContaining({ code: 'CLI_GIT_ALLOW_INVALID' }),
    );
  });
});
