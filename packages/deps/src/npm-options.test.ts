import { describe, expect, it } from 'vitest';
import { toPatience } from './npm-options.ts';

describe('the waits for a registry', () => {
  it('are shorter than those that npm sets itself, so that a dead network is told soon', () => {
    const ofNpm = {
      'fetch-timeout': 300_000,
      'fetch-retry-mintimeout': 10_000,
      'fetch-retry-maxtimeout': 60_000,
    };
    const patience = toPatience(ofNpm);
    expect(patience).toEqual(toPatience({}));
    expect(patience['fetchRetryMaxtimeout']).toBeLessThan(10_000);
    expect(patience['timeout']).toBeLessThan(ofNpm['fetch-timeout']);
  });

  it('are the user’s own where those were set', () => {
    const own = {
      'fetch-timeout': 600_000,
      'fetch-retry-mintimeout': 20_000,
      'fetch-retry-maxtimeout': 120_000,
    };
    expect(toPatience(own)).toEqual({
      timeout: 600_000,
      fetchRetryMintimeout: 20_000,
      fetchRetryMaxtimeout: 120_000,
    });
  });
});
