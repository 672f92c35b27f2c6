import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Contract } from '@kervyxa/contract';
import type { VerificationResult } from '@kervyxa/verifier';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandContext } from '../../context.ts';
import { watchInterrupts } from '../../io/interrupts.ts';
import { openSigningKeys } from '../../io/signing-key.ts';
import { fakeHost, type FakeHost } from '../../testing/fake-host.ts';
import { passOf, twoCriteria, writeEvidence } from '../../testing/sample-evidence.ts';
import { runEvidenceReplay, type EvidenceReplayOptions, type OpenReplay } from './replay.ts';

let root = '';
let host: FakeHost;
let files: Awaited<ReturnType<typeof writeEvidence>>;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kervyxa-replay-test-'));
  host = fakeHost();
});
afterEach(() => rmSync(root, { recursive: true }));

async function write(view: 'full' | 'public', more: object = {}): Promise<void> {
  const keys = openSigningKeys(join(root, 'keys'), host.clock);
  files = await writeEvidence(root, keys, { view, ...more });
}

interface Ran {
  readonly saved: string[];
  readonly contracts: Contract[];
  closed: number;
}

/** A machine on which every run ends with what is given. */
function machineOf(result: VerificationResult | null): { open: OpenReplay; ran: Ran } {
  const ran: Ran = { saved: [], contracts: [], closed: 0 };
  const open: OpenReplay = async () => ({
    saveBlob: async ({ path }, content) => {
      for await (const piece of content) void piece;
      ran.saved.push(path);
    },
    run: async (_bundle, contract) => {
      ran.contracts.push(contract);
      if (result === null) throw new Error('expected nothing to be run');
      return result;
    },
    close: async () => void (ran.closed += 1),
  });
  return { open, ran };
}

function contextOf(): CommandContext {
  const interrupts = watchInterrupts(host);
  return { host, interrupts, exitCode: 0, endsBySignal: false, toExitCode: () => 0 };
}

function replay(open: OpenReplay, options: EvidenceReplayOptions = {}, file = files.bundle) {
  return runEvidenceReplay(file, { key: files.keys, ...options }, contextOf(), open);
}

const contract = twoCriteria();
const errorOf = (code: 'IMAGE_UNAVAILABLE' | 'HOST_DISK_FULL') =>
  passOf(contract, {
    verdict: 'ERROR',
    reasons: [{ code, message: 'it is not there', subject: null }],
  });

// Keeps R-EVIDENCE-REPLAY.
describe('kervyxa evidence replay', () => {
  it('answers 0 where every field came out again', async () => {
    await write('full');
    const { open, ran } = machineOf(passOf(contract));
    expect(await replay(open)).toBe(0);
    expect(host.stdout.text()).toMatch(
      /^same {2}PASS, in every field\ncommit c{40} of https:\/\/x\.example\/r\.git\nunder sha256:[0-9a-f]{64}\nsigned with [0-9a-f]{64}\n$/,
    );
    expect(ran).toMatchObject({ saved: ['base.bundle', 'source.bundle'], closed: 1 });
    expect(ran.contracts).toEqual([contract]);
  });

  it('answers 1 with each field that came out otherwise', async () => {
    await write('full');
    const { open } = machineOf(passOf(contract, { tree: 'e'.repeat(40) }));
    expect(await replay(open)).toBe(1);
    expect(host.stdout.text()).toContain(
      `different  in 1 field: recorded was PASS, got PASS\n/tree\n  expected "${'d'.repeat(40)}"\n  got "${'e'.repeat(40)}"\n`,
    );
  });

  it('runs what outsiders may see, names the rest, and tells no verdict', async () => {
    await write('public');
    const shown = { ...contract, criteria: contract.criteria.slice(0, 1) };
    const { open, ran } = machineOf(passOf(shown));
    expect(await replay(open, { json: true })).toBe(3);
    expect(JSON.parse(host.stdout.text())).toMatchObject({
      outcome: 'partial',
      verdict: { expected: 'PASS', got: null },
      skipped: ['secret'],
      differences: [],
    });
    expect(ran.contracts[0]?.criteria.map(({ id }) => id)).toEqual(['says-hello']);
    expect(await replay(open)).toBe(3);
    expect(host.stdout.text()).toContain("criteria that this bundle can't run: secret");
  });

  it('runs nothing of a bundle without captures', async () => {
    await write('full', { blobs: [] });
    const { open, ran } = machineOf(null);
    expect(await replay(open)).toBe(3);
    expect(host.stdout.text()).toContain('the bundle has no base.bundle and no source.bundle');
    expect(ran.closed).toBe(1);
  });

  it('tells how to get an image that is not here', async () => {
    await write('full');
    expect(await replay(machineOf(errorOf('IMAGE_UNAVAILABLE')).open)).toBe(3);
    expect(host.stdout.text()).toContain(
      `fix: docker save sha256:${'f'.repeat(64)} | docker load\n`,
    );
  });

  it('blames this machine for its own trouble, and the bundle for nothing', async () => {
    await write('full');
    expect(await replay(machineOf(errorOf('HOST_DISK_FULL')).open)).toBe(4);
    expect(host.stdout.text()).toMatch(/^not replayed, for trouble of this machine/);
    expect(host.stdout.text()).toContain('HOST_DISK_FULL: it is not there');
  });

  it('without a key: says loudly that nobody knows whose bundle it is', async () => {
    await write('full');
    const { open } = machineOf(passOf(contract));
    expect(await runEvidenceReplay(files.bundle, {}, contextOf(), open)).toBe(0);
    expect(host.stdout.text()).toContain('WARNING: without --key the signature was held against');
  });

  it('a bundle was changed: refused before anything is run, and nothing is left', async () => {
    await write('full');
    const changed = readFileSync(files.bundle);
    const at = changed.length - 1_500;
    changed[at] = (changed[at] ?? 0) ^ 1;
    writeFileSync(files.bundle, changed);
    const { open, ran } = machineOf(null);
    await expect(replay(open)).rejects.toMatchObject({ code: 'EVIDENCE_BUNDLE_REFUSED' });
    expect(ran.closed).toBe(1);
  });

  it('wants a bundle, not an attestation alone, with a key or without', async () => {
    await write('full');
    const { open } = machineOf(null);
    const usage = { code: 'CLI_USAGE_INVALID', message: expect.stringContaining('a bundle') };
    await expect(replay(open, {}, files.attestation)).rejects.toMatchObject(usage);
    const keyless = runEvidenceReplay(files.attestation, {}, contextOf(), open);
    await expect(keyless).rejects.toMatchObject(usage);
  });

  it('is stopped while it still reads: ends by that, runs nothing, and nothing is left', async () => {
    await write('full');
    const { open, ran } = machineOf(null);
    const context = contextOf();
    host.raise('SIGINT');
    await expect(runEvidenceReplay(files.bundle, {}, context, open)).rejects.toThrow(
      'stopped by SIGINT',
    );
    expect(ran).toMatchObject({ saved: [], closed: 1 });
  });
});
