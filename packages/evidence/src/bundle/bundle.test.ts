import { createHash } from 'node:crypto';
import { parseContract } from '@kervyxa/contract';
import { helloContract } from '@kervyxa/contract/testing';
import { canonicalJson, isAppError, sha256Hex, Sha256HexSchema } from '@kervyxa/core';
import { beforeAll, describe, expect, it } from 'vitest';
import { signStatement } from '../attestation/envelope.ts';
import { parsePublicKeys, toPublicPem, type SigningKey } from '../attestation/keys.ts';
import {
  BLOBS,
  COMMIT,
  createKey,
  sampleBundle,
  sampleContract,
  sampleCriterion,
  sampleInput,
  sampleResult,
} from '../testing/sample-run.ts';
import { packBundle } from './pack.ts';
import { readBundle, type ReadOptions } from './read.ts';
import { toRunEvidence } from './run-evidence.ts';

const BLOCK = 512;
let key: SigningKey;
let bundle: Buffer;
beforeAll(async () => {
  key = createKey();
  bundle = await sampleBundle(sampleInput('full'), key);
});

async function* inPieces(bytes: Uint8Array, size = bytes.length): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const keysOf = ({ publicKey }: SigningKey) => parsePublicKeys(toPublicPem({ publicKey }));
const read = (bytes: Uint8Array, options: Partial<ReadOptions> = {}) =>
  readBundle(inPieces(bytes), { keys: keysOf(key), ...options });

/** The code with which bytes are refused; null where they are taken. */
async function refusalOf(bytes: Uint8Array, options: Partial<ReadOptions> = {}) {
  try {
    await read(bytes, options);
    return null;
  } catch (error) {
    if (isAppError(error)) return error.code;
    throw error;
  }
}

interface Member {
  readonly name: string;
  /** Where its header begins, its content, and what comes after its padding. */
  readonly from: number;
  readonly content: number;
  readonly to: number;
}

function membersOf(bytes: Buffer): Member[] {
  const members: Member[] = [];
  for (let from = 0; bytes[from] !== 0;) {
    const name = bytes.toString('latin1', from, from + 100).replace(/\0.*$/s, '');
    const size = parseInt(bytes.toString('latin1', from + 124, from + 135), 8);
    const to = from + BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    members.push({ name, from, content: from + BLOCK, to });
    from = to;
  }
  return members;
}

function memberOf(bytes: Buffer, name: string): Buffer {
  const member = membersOf(bytes).find((each) => each.name === name);
  if (member === undefined) throw new Error(`expected ${name}`);
  return bytes.subarray(member.from, member.to);
}

/** A letter in the other case, which some readers take for the same; of any other byte the next one. */
function tamper(byte: number): number {
  return /[A-Za-z]/.test(String.fromCharCode(byte)) ? byte ^ 0x20 : byte ^ 1;
}

/** The archive with other members in the place of its own, or without them. */
function withMembers(bytes: Buffer, change: (name: string, own: Buffer) => Buffer[]): Buffer {
  const members = membersOf(bytes);
  const end = bytes.subarray(members.at(-1)?.to);
  const kept = members.flatMap(({ name, from, to }) => change(name, bytes.subarray(from, to)));
  return Buffer.concat([...kept, end]);
}

// Keeps R-EVIDENCE-BUNDLE.
describe('a bundle', () => {
  it('is read again as it was packed, in pieces of any size', async () => {
    for (const size of [bundle.length, 1_000, 512, 7]) {
      const saved: Record<string, number> = {};
      const found = await readBundle(inPieces(bundle, size), {
        keys: keysOf(key),
        saveBlob: async ({ path }, content) => {
          for await (const piece of content) saved[path] = (saved[path] ?? 0) + piece.length;
        },
      });
      expect(found).toMatchObject({ view: 'full', absent: [], evaluation: { passed: true } });
      expect(found.result).toMatchObject({ commit: COMMIT, changedFileCount: 1 });
      expect(saved).toEqual(
        Object.fromEntries(BLOBS.map(({ path, size: bytes }) => [path, bytes])),
      );
    }
  });

  it('is passed on as it comes: no more of an archive is held than a piece', async () => {
    const piece = Buffer.alloc(65_536, 'x');
    const count = 64;
    const digest = createHash('sha256');
    for (let index = 0; index < count; index += 1) digest.update(piece);
    const sha256 = Sha256HexSchema.parse(digest.digest('hex'));
    const large = { path: 'source.bundle' as const, sha256, size: count * piece.length };
    const evidence = toRunEvidence(sampleInput('full', { blobs: [large] }));
    let made = 0;
    let ahead = 0;
    let saved = 0;
    const stream = packBundle({
      ...evidence,
      key,
      attestation: signStatement(evidence.statement, key),
      openBlob: async function* () {
        for (; made < large.size; made += piece.length) yield piece;
      },
    });
    await readBundle(stream, {
      keys: keysOf(key),
      saveBlob: async (_blob, content) => {
        for await (const each of content) {
          ahead = Math.max(ahead, made - saved);
          saved += each.length;
        }
      },
    });
    expect(saved).toBe(large.size);
    expect(ahead).toBeLessThanOrEqual(piece.length);
  });

  it('is the same each time that it is packed', async () => {
    expect((await sampleBundle(sampleInput('full'), key)).equals(bundle)).toBe(true);
  });

  it('E08 of outsiders has no byte that depends on what is hidden', async () => {
    const input = sampleInput('public');
    const { contract } = input;
    const [open, secret] = contract.criteria;
    if (open?.type !== 'regression' || secret?.type !== 'regression')
      throw new Error('expected two');
    const other = {
      ...contract,
      verifierPackage: {
        sha256: 'b'.repeat(64) as NonNullable<typeof contract.verifierPackage>['sha256'],
      },
      criteria: [open, { ...secret, title: 'OTHER', command: 'sh other.sh', timeoutSeconds: 7 }],
    };
    const told = { exitCode: 9, message: 'OTHER', durationMs: 999, outputSha256: 'a'.repeat(64) };
    const result = sampleResult(other, {
      criteria: [sampleCriterion('says-hello'), sampleCriterion('secret', told)],
      inputs: { checkout: '1'.repeat(64), package: '9'.repeat(64), dependencies: '3'.repeat(64) },
    });
    const first = await sampleBundle(input, key);
    const second = await sampleBundle({ ...input, contract: other, result }, key);
    expect(first.equals(second)).toBe(true);
    expect(first.toString('latin1')).not.toContain('SECRET');
    const found = await read(first);
    expect(found).toMatchObject({ view: 'public', absent: [], evaluation: { passed: true } });
    expect(found.blobs.map(({ path }) => path)).toEqual([
      'base.bundle',
      'source.bundle',
      'dependencies.tar',
    ]);
  });

  it('says what it has not', async () => {
    const contract = sampleContract();
    const reasons = [{ code: 'COMMIT_NOT_FOUND' as const, message: 'm', subject: null }];
    const result = sampleResult(contract, { verdict: 'INCONCLUSIVE', tree: null, reasons });
    const without = await sampleBundle(sampleInput('full', { contract, result, blobs: [] }), key);
    expect((await read(without)).absent).toEqual([
      'base.bundle',
      'source.bundle',
      'dependencies.tar',
      'package.tar',
    ]);
  });

  it('is signed by nobody that was named: told by whom only where nobody was asked for', async () => {
    const stranger = keysOf(createKey());
    expect(await refusalOf(bundle, { keys: stranger })).toBe('EVIDENCE_KEY_UNKNOWN');
    expect((await read(bundle, { keys: null })).key.keyid).toBe(key.keyid);
  });

  it('a good bundle of another commit, contract or verifier is offered: refused', async () => {
    const expectations = [
      [{ subject: 'e'.repeat(40) }, 'EVIDENCE_SUBJECT_MISMATCH'],
      [{ policyDigest: `sha256:${'e'.repeat(64)}` }, 'EVIDENCE_POLICY_MISMATCH'],
      [{ verifierId: 'urn:kervyxa:verifier:other' }, 'EVIDENCE_VERIFIER_MISMATCH'],
    ] as const;
    for (const [expected, code] of expectations) {
      expect(await refusalOf(bundle, { expected })).toBe(code);
    }
  });

  it('saves no archive before the signature over its digest is verified', async () => {
    const changed = Buffer.from(bundle);
    const at = membersOf(changed).find(({ name }) => name === 'run.json')?.content ?? 0;
    changed[at] = 0x5b;
    const saveBlob = () => Promise.reject(new Error('expected nothing to be saved'));
    expect(await refusalOf(changed, { saveBlob })).toBe('EVIDENCE_BUNDLE_REFUSED');
  });

  it('hands on what saving it came to', async () => {
    const full = new Error('no space');
    await expect(read(bundle, { saveBlob: () => Promise.reject(full) })).rejects.toBe(full);
  });

  it('E07 is not made of a PASS that its checks do not bear out', () => {
    const contract = sampleContract();
    const result = sampleResult(contract, { criteria: [sampleCriterion('says-hello')] });
    expect(() => toRunEvidence(sampleInput('full', { contract, result }))).toThrow('check_missing');
  });

  it('is about the text that was frozen, also of a time before a field of today', async () => {
    const contract = sampleContract();
    const { acknowledgements: _later, ...frozen } = contract;
    const contractText = canonicalJson(frozen);
    const policyDigest = `sha256:${sha256Hex(contractText)}`;
    const result = sampleResult(contract, { contractDigest: policyDigest });
    const input = sampleInput('full', { contract, contractText, result });
    const found = await read(await sampleBundle(input, key), { expected: { policyDigest } });
    expect(found.contract).toEqual(contract);
    expect(found.evaluation['verifier/digest']).toBe(policyDigest);
  });

  it('is not made of an archive with more or fewer bytes than were signed', async () => {
    const evidence = toRunEvidence(sampleInput('full'));
    const attestation = signStatement(evidence.statement, key);
    const stream = packBundle({
      ...evidence,
      key,
      attestation,
      openBlob: () => inPieces(Buffer.alloc(9)),
    });
    await expect(Array.fromAsync(stream)).rejects.toThrow(RangeError);
  });
});

// Keeps R-EVIDENCE-BUNDLE.
describe('a bundle that was tampered with', () => {
  it('E01 one byte is changed, any byte, a letter to the other case: refused', async () => {
    // A small one: each byte is a bundle of its own.
    const contract = parseContract(helloContract('a'.repeat(40)));
    const small = await sampleBundle(sampleInput('full', { contract }), key);
    const archives = membersOf(small).filter(({ name }) => /\.(bundle|tar)$/.test(name));
    const isDense = (at: number) =>
      !archives.some(({ content, to }) => at >= content && at < to) && at < small.length - 1_024;
    const taken: number[] = [];
    const changed = Buffer.from(small);
    for (let at = 0; at < small.length; at += 1) {
      // Of archives and of the end one byte a block: their digest or their zeros are all the same.
      if (!isDense(at) && at % BLOCK !== (at >> 9) % BLOCK) continue;
      changed[at] = tamper(small[at] ?? 0);
      if ((await refusalOf(changed)) === null) taken.push(at);
      changed[at] = small[at] ?? 0;
    }
    expect(taken).toEqual([]);
    expect(await refusalOf(changed)).toBeNull();
  });

  it('E02 ends early, after any block or in it: refused', async () => {
    for (let at = 0; at < bundle.length; at += BLOCK) {
      expect(await refusalOf(bundle.subarray(0, at))).toBe('EVIDENCE_BUNDLE_REFUSED');
      expect(await refusalOf(bundle.subarray(0, at + 100))).toBe('EVIDENCE_BUNDLE_REFUSED');
    }
  });

  it('E02 something is added at its end, be it zeros or another file: refused', async () => {
    for (const more of [
      Buffer.alloc(1),
      Buffer.alloc(BLOCK),
      memberOf(bundle, 'key.pem'),
      bundle,
    ]) {
      expect(await refusalOf(Buffer.concat([bundle, more]))).toBe('EVIDENCE_BUNDLE_REFUSED');
    }
  });

  it('E02 any two files change places, one goes, or one comes twice: refused', async () => {
    const names = membersOf(bundle).map(({ name }) => name);
    for (const one of names) {
      for (const two of names.filter((name) => name > one)) {
        const swapped = withMembers(bundle, (name, own) => {
          if (name === one) return [memberOf(bundle, two)];
          return [name === two ? memberOf(bundle, one) : own];
        });
        expect(await refusalOf(swapped)).toBe('EVIDENCE_BUNDLE_REFUSED');
      }
      const gone = withMembers(bundle, (name, own) => (name === one ? [] : [own]));
      expect(await refusalOf(gone)).toBe('EVIDENCE_BUNDLE_REFUSED');
      const twice = withMembers(bundle, (name, own) => (name === one ? [own, own] : [own]));
      expect(await refusalOf(twice)).toBe('EVIDENCE_BUNDLE_REFUSED');
    }
  });

  it('E03 a file comes from another run of the same signer, any file, the attestation included: refused', async () => {
    const run = { ...sampleInput('full').run, runRef: 'urn:kervyxa:run:run_2' };
    const contract = { ...sampleContract(), title: 'Say hello again' };
    const failed = sampleCriterion('secret', { status: 'fail', reason: 'CRASHED' });
    const result = sampleResult(contract, {
      verdict: 'FAIL',
      criteria: [sampleCriterion('says-hello'), failed],
      reasons: [{ code: 'CRASHED', message: 'm', subject: 'secret' }],
    });
    const other = await sampleBundle(sampleInput('full', { contract, result, run }), key);
    expect(await refusalOf(other)).toBeNull();
    const texts = membersOf(bundle).filter(({ name }) => name.endsWith('.json'));
    expect(texts).toHaveLength(6);
    for (const { name: from } of texts) {
      const mixed = withMembers(bundle, (name, own) =>
        name === from ? [memberOf(other, name)] : [own],
      );
      expect(await refusalOf(mixed)).toBe('EVIDENCE_BUNDLE_REFUSED');
    }
  });

  it('E03 the signature of the outsiders’ view is put over the whole: refused', async () => {
    const open = await sampleBundle(sampleInput('public'), key);
    const mixed = withMembers(bundle, (name, own) =>
      name === 'attestation.json' ? [memberOf(open, name)] : [own],
    );
    expect(await refusalOf(mixed)).toBe('EVIDENCE_BUNDLE_REFUSED');
  });

  it('E03 the signer puts another package than the contract names into it: refused', async () => {
    const other = { sha256: Sha256HexSchema.parse('9'.repeat(64)) };
    const contract = { ...sampleContract(), verifierPackage: other };
    const mixed = await sampleBundle(sampleInput('full', { contract }), key);
    expect(await refusalOf(mixed)).toBe('EVIDENCE_BUNDLE_REFUSED');
  });

  it('E04 all of it is signed anew with a key of one’s own: refused, for its key', async () => {
    const forged = await sampleBundle(sampleInput('full'), createKey());
    expect(await refusalOf(forged)).toBe('EVIDENCE_KEY_UNKNOWN');
  });
});
