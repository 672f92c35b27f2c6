import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contractDigest } from '@kervyxa/contract';
import { signStatement, toStatement } from '@kervyxa/evidence';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../cli.ts';
import { openSigningKeys, rotateSigningKey } from '../../io/signing-key.ts';
import { fakeHost, type FakeHost } from '../../testing/fake-host.ts';
import { COMMIT, TREE, twoCriteria, writeEvidence } from '../../testing/sample-evidence.ts';

let root = '';
let host: FakeHost;
let files: Awaited<ReturnType<typeof writeEvidence>>;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'kervyxa-evidence-'));
  host = fakeHost({ columns: 80 });
  const keys = openSigningKeys(join(root, 'keys'), host.clock);
  files = await writeEvidence(root, keys, { view: 'full' });
});
afterEach(() => rmSync(root, { recursive: true }));

const verify = (file: string, ...more: string[]) =>
  runCli(['evidence', 'verify', file, '--key', files.keys, ...more], host);

// Keeps R-EVIDENCE-SIGNED.
describe('kervyxa evidence verify', () => {
  it('says what a good bundle proves, and what it does not', async () => {
    expect(await verify(files.bundle, '--subject', TREE)).toBe(0);
    const text = host.stdout.text();
    expect(text).toMatch(/^good {2}PASS\n\ncommit +c{40}\ntree +d{40}\n/);
    expect(text).toContain('audit log  7 aaaa');
    expect(text).toMatch(/\nproven\n {2}Who holds the key has signed this verdict/);
    expect(text).toMatch(
      /you did not ask for the contract \(--contract\),\s+the verifier \(--verifier\),\s+the repository \(--repo\)\./,
    );
    expect(text).not.toContain('(--subject)');
    const widths = text.split('\n').map((line) => line.length);
    expect(Math.max(...widths.filter((width) => width < 70))).toBeLessThanOrEqual(80);
  });

  it('calls no answer to a problem a commit, and promises no replay of it', async () => {
    const keys = openSigningKeys(join(root, 'keys'), host.clock);
    const statement = toStatement({
      subjects: [{ name: 'report', digest: { sha256: 'a'.repeat(64) } }],
      verifierId: 'urn:kervyxa:verifier:test',
      timeVerified: host.clock.now(),
      resourceUri: 'urn:kervyxa:entry:ent_1',
      policy: { uri: 'urn:kervyxa:checker:vct_1', digest: `sha256:${'b'.repeat(64)}` },
      inputs: [],
      outcome: { verdict: 'PASS', reason: null, runRef: 'urn:x', audit: null, view: 'public' },
    });
    writeFileSync(files.attestation, signStatement(statement, keys.current));
    expect(await verify(files.attestation)).toBe(0);
    const text = host.stdout.text();
    expect(text).toContain('this verdict on this answer');
    expect(text).toContain('the file (--subject)');
    expect(text).not.toMatch(/commit|replay/);
  });

  it('says of a file that is no bundle that it is none', async () => {
    expect(await verify('/dev/null')).toBe(1);
    expect(host.stderr.text()).toContain('expected a bundle, which begins with bundle.json');
  });

  it('asks for all that it is told to ask for', async () => {
    const all = [
      ['--subject', COMMIT],
      ['--contract', contractDigest(twoCriteria())],
      ['--verifier', 'urn:kervyxa:verifier:test'],
      ['--repo', 'https://x.example/r.git'],
    ].flat();
    expect(await verify(files.bundle, ...all)).toBe(0);
    expect(host.stdout.text()).not.toContain('you did not ask');
  });

  it('takes an attestation alone, and says the same of it to programs', async () => {
    expect(await verify(files.attestation, '--json')).toBe(0);
    const alone = JSON.parse(host.stdout.text());
    host = fakeHost();
    expect(await verify(files.bundle, '--json')).toBe(0);
    const { passed, absent, kind, ...same } = JSON.parse(host.stdout.text());
    expect({ passed, absent, kind }).toEqual({ passed: true, absent: [], kind: 'bundle' });
    expect(alone).toEqual({ ...same, kind: 'attestation' });
    expect(alone).toMatchObject({
      verdict: 'PASS',
      view: 'full',
      verifier: 'urn:kervyxa:verifier:test',
    });
  });

  it.each([
    ['commit', ['--subject', 'e'.repeat(40)], 'EVIDENCE_SUBJECT_MISMATCH'],
    ['contract', ['--contract', `sha256:${'e'.repeat(64)}`], 'EVIDENCE_POLICY_MISMATCH'],
    ['verifier', ['--verifier', 'urn:other'], 'EVIDENCE_VERIFIER_MISMATCH'],
    ['repository', ['--repo', 'https://y.example/r.git'], 'EVIDENCE_RESOURCE_MISMATCH'],
  ])('refuses a good signature over another %s', async (_, more, code) => {
    for (const file of [files.bundle, files.attestation]) {
      host = fakeHost();
      expect(await verify(file, ...more)).toBe(1);
      expect(host.stderr.text()).toContain(`error ${code}: `);
      expect(host.stdout.text()).toBe('');
    }
  });

  it('refuses what was changed, and what another signed', async () => {
    const changed = readFileSync(files.bundle);
    changed[3_000] = (changed[3_000] ?? 0) ^ 1;
    writeFileSync(files.bundle, changed);
    expect(await verify(files.bundle)).toBe(1);
    writeFileSync(files.attestation, `${readFileSync(files.attestation, 'utf8')}\n`);
    expect(await verify(files.attestation)).toBe(1);
    const stranger = openSigningKeys(join(root, 'stranger'), host.clock);
    files = { ...files, ...(await writeEvidence(root, stranger, { view: 'full' })) };
    const own = openSigningKeys(join(root, 'keys'), host.clock);
    const { keys } = await writeEvidence(mkdtempSync(join(root, 'own-')), own, { view: 'full' });
    files = { ...files, keys };
    expect(await verify(files.bundle)).toBe(1);
    expect(host.stderr.text()).toContain('error EVIDENCE_KEY_UNKNOWN: ');
  });

  it('takes what a retired key signed while it was in use, and nothing of later', async () => {
    const folder = join(root, 'keys');
    const before = openSigningKeys(folder, host.clock);
    host.advance(1_000);
    const { publicKeys } = rotateSigningKey(folder, host.clock);
    const after = { current: before.current, publicKeys };
    files = await writeEvidence(root, after, { view: 'full' });
    expect(await verify(files.bundle)).toBe(0);
    files = await writeEvidence(root, after, { view: 'full', timeVerified: new Date(1_000) });
    expect(await verify(files.bundle)).toBe(1);
    expect(host.stderr.text()).toContain('error EVIDENCE_TIME_REFUSED: ');
  });

  it.each([
    ['no key', (): string[] => ['evidence', 'verify', files.bundle]],
    [
      'half a commit',
      () => ['evidence', 'verify', files.bundle, '--key', files.keys, '--subject', 'cccc'],
    ],
    [
      'a contract without its kind',
      () => ['evidence', 'verify', files.bundle, '--key', files.keys, '--contract', 'e'.repeat(64)],
    ],
    ['no file', () => ['evidence', 'verify', join(root, 'none'), '--key', files.keys]],
    ['a folder', () => ['evidence', 'verify', root, '--key', files.keys]],
    ['a key that is none', () => ['evidence', 'verify', files.bundle, '--key', files.bundle]],
  ])('answers %s with exit code 2', async (_, argv) => {
    expect(await runCli(argv(), host)).toBe(2);
    expect(host.stderr.text()).toMatch(/^error [A-Z_]+: [^\n]*\nfix: [^\n]*\n$/);
  });
});
