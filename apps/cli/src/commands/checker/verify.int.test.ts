import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runCli } from '../../cli.ts';
import { fakeHost } from '../../testing/fake-host.ts';

const PACKAGE = join(import.meta.dirname, '../../../../../fixtures/checkers/deposition/package');

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kervyxa-check-'));
});
afterEach(() => rmSync(root, { recursive: true }));

// Keeps R-CLI-CODES.
it('puts an answer before programs in containers, once they have reproduced their fixtures', async () => {
  const answer = join(root, 'own name.json');
  writeFileSync(answer, '{"compound": "aspirin", "yield_percent": 101}');
  const host = fakeHost();
  const exitCode = await runCli(
    ['checker', 'verify', PACKAGE, '--artifact', `record=${answer}`, '--json'],
    host,
  );
  expect(exitCode).toBe(1);
  expect(JSON.parse(host.stdout.text())).toMatchObject({
    result: 'refuted',
    stages: [
      { key: 'shape', result: 'verified', reason: 'the two keys alone' },
      { key: 'range', result: 'refuted' },
      { key: 'faithful', result: 'not_run' },
      { key: 'accepted', result: 'not_run' },
    ],
  });
  expect(host.stderr.text()).toContain('ok    impossible');
});
