import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_POLICY } from '@kervyxa/settlement';
import { describe, expect, it } from 'vitest';
import { parseSettings, SETTINGS } from './settings.ts';

const SECRET = `whsec_${'A'.repeat(32)}`;

describe('the settings', () => {
  it('need nothing', () => {
    expect(parseSettings({ DATABASE_URL: '' })).toEqual({
      databaseUrl: null,
      rail: null,
      trustProxy: false,
      verifierId: 'urn:kervyxa:verifier:local',
      containerRuntime: null,
      proving: { replays: 3, durationMsMax: 7_200_000 },
      uploadBytesMax: 512 * 1_048_576,
      policy: DEFAULT_POLICY,
      operator: { allowedOrigins: [], windowSecondsMin: 60 },
    });
  });

  it('are what the environment says', () => {
    const url = 'https://pay.example.org/in?tenant=1';
    const settings = parseSettings({
      DATABASE_URL: 'postgresql://me@db.example.org/kervyxa',
      KERVYXA_GIT_ALLOW: 'http://127.0.0.1:8080',
      KERVYXA_PAYOUT_URL: url,
      KERVYXA_PAYOUT_SECRET: SECRET,
      KERVYXA_TRUST_PROXY: '1',
      KERVYXA_WINDOW_MIN_SECONDS: '2',
      KERVYXA_CAPTURE_GRACE_SECONDS: '30',
      KERVYXA_HELD_GRACE_SECONDS: '40',
      KERVYXA_ARBITRATION_SECONDS: '50',
      KERVYXA_PROVE_REPLAYS: '20',
      KERVYXA_PROVE_SECONDS: '600',
      KERVYXA_UPLOAD_MB: '1',
      KERVYXA_VERIFIER_ID: 'https://verifier.example.org',
      KERVYXA_CONTAINER_RUNTIME: 'runsc',
    });
    expect(settings).toEqual({
      databaseUrl: 'postgresql://me@db.example.org/kervyxa',
      rail: { url, secret: SECRET },
      trustProxy: true,
      verifierId: 'https://verifier.example.org',
      containerRuntime: 'runsc',
      proving: { replays: 20, durationMsMax: 600_000 },
      uploadBytesMax: 1_048_576,
      policy: {
        ...DEFAULT_POLICY,
        captureGraceMs: 30_000,
        heldGraceMs: 40_000,
        arbitrationMs: 50_000,
        rail: 'webhook',
      },
      operator: { allowedOrigins: ['http://127.0.0.1:8080'], windowSecondsMin: 2 },
    });
  });

  it.each([
    ['DATABASE_URL', 'mysql://db/x'],
    ['DATABASE_URL', 'db.example.org'],
    ['KERVYXA_TRUST_PROXY', 'yes'],
    ['KERVYXA_WINDOW_MIN_SECONDS', '0'],
    ['KERVYXA_WINDOW_MIN_SECONDS', '1.5'],
    ['KERVYXA_WINDOW_MIN_SECONDS', '60s'],
    ['KERVYXA_ARBITRATION_SECONDS', '999999999'],
    ['KERVYXA_PROVE_REPLAYS', '1'],
    ['KERVYXA_PROVE_SECONDS', '604801'],
    ['KERVYXA_UPLOAD_MB', '513'],
    ['KERVYXA_VERIFIER_ID', 'our verifier'],
    ['KERVYXA_CONTAINER_RUNTIME', '/usr/bin/runsc'],
    ['KERVYXA_PAYOUT_URL', 'http://pay.example.org/'],
    ['KERVYXA_PAYOUT_URL', 'http://127.0.0.1.example.org/'],
    ['KERVYXA_PAYOUT_URL', 'https://user@pay.example.org/'],
    ['KERVYXA_PAYOUT_URL', 'file:///etc/passwd'],
    ['KERVYXA_PAYOUT_SECRET', 'whsec_c2hvcnQ='],
    ['KERVYXA_PAYOUT_SECRET', 'A'.repeat(32)],
  ])('refuse %s=%s', (name, text) => {
    const rail = { KERVYXA_PAYOUT_URL: 'http://[::1]:9/pay', KERVYXA_PAYOUT_SECRET: SECRET };
    const parse = () => parseSettings({ ...rail, [name]: text });
    expect(() => parseSettings(rail)).not.toThrow();
    expect(parse).toThrow(expect.objectContaining({ code: 'CLI_SETTING_INVALID' }));
    expect(parse).toThrow(name);
  });

  it('are in the guide for operators, each with its meaning, and no other', () => {
    const guide = readFileSync(join(import.meta.dirname, '../../../docs/operations.md'), 'utf8');
    const section = guide.split('\n## Settings\n')[1]?.split('\n## ')[0] ?? '';
    const rows = section.split('\n').filter((line) => line.startsWith('| `'));
    expect(rows.map((row) => row.split('|').map((cell) => cell.trim()))).toEqual(
      Object.entries(SETTINGS).map(([name, meaning]) => ['', `\`${name}\``, meaning, '']),
    );
  });

  it('refuse a rail without a secret', () => {
    expect(() => parseSettings({ KERVYXA_PAYOUT_URL: 'https://pay.example.org/' })).toThrow(
      expect.objectContaining({ code: 'CLI_SETTING_INVALID' }),
    );
  });

  it.each([
    ['DATABASE_URL', 'mysql://me:s3cret@db/x'],
    ['KERVYXA_PAYOUT_URL', 'ftp://pay/?token=s3cret'],
    ['KERVYXA_PAYOUT_SECRET', 's3cret'],
  ])('hold a password in %s: it is refused, and not repeated', (name, text) => {
    const rail = { KERVYXA_PAYOUT_URL: 'https://pay.example.org/', KERVYXA_PAYOUT_SECRET: SECRET };
    const parse = () => parseSettings({ ...rail, [name]: text });
    expect(parse).toThrow(name);
    expect(parse).not.toThrow(/s3cret/);
  });
});
