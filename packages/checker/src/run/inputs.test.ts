import { sha256Hex, readTar } from '@kervyxa/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inputFile } from '../testing/script-package.ts';
import { toInputTree, toManifest, type StageInputs } from './inputs.ts';

const never = new AbortController().signal;
const INPUTS: StageInputs = {
  contractId: 'vct_0123456789',
  stageKey: 'clauses',
  resultKind: 'score',
  artifacts: [
    {
      role: 'assignment',
      filename: 'v.txt',
      mediaType: 'text/plain',
      content: Buffer.from('v 1 0'),
    },
  ],
  reference: new Map([['instance', inputFile('p cnf 1 0', 'ä b.cnf')]]),
  summaryText: 'It holds.',
};

async function unpack(inputs: StageInputs, program = new Map<string, Uint8Array>()) {
  const files = new Map<string, string>();
  const tree = await toInputTree(inputs, program);
  await readTar(tree.open(never), ({ path, type }) => {
    if (type !== 'file') return undefined;
    files.set(path, '');
    return (piece) => files.set(path, files.get(path) + Buffer.from(piece).toString());
  });
  return files;
}

// Keeps R-CHECKER-PROTOCOL.
describe('what a program is shown', () => {
  it('is a manifest, itself, and each input under its role or key', async () => {
    const program = new Map([['checker/checker.py', Buffer.from('pass')]]);
    const files = await unpack(INPUTS, program);
    expect([...files.keys()]).toEqual([
      'manifest.json',
      'checker/checker.py',
      'artifacts/assignment/v.txt',
      'reference/instance/ä b.cnf',
      'summary.md',
    ]);
    expect(files.get('reference/instance/ä b.cnf')).toBe('p cnf 1 0');
    expect(files.get('summary.md')).toBe('It holds.');
  });

  it('is written down in the manifest to the byte', async () => {
    const files = await unpack(INPUTS);
    expect(files.get('manifest.json')).toBe(
      `{"artifacts":[{"content_hash":"sha256:${sha256Hex('v 1 0')}","filename":"v.txt",` +
        '"media_type":"text/plain","path":"/input/artifacts/assignment/v.txt","role":"assignment","size_bytes":5}],' +
        '"contract_id":"vct_0123456789","protocol":1,' +
        `"reference":[{"content_hash":"sha256:${sha256Hex('p cnf 1 0')}","filename":"ä b.cnf","key":"instance",` +
        '"media_type":null,"path":"/input/reference/instance/ä b.cnf","size_bytes":9}],' +
        '"result_kind":"score","stage_key":"clauses","summary_path":"/input/summary.md","summary_text":"It holds."}',
    );
  });

  it('has no text where there is none', async () => {
    const inputs = { ...INPUTS, summaryText: null };
    expect([...(await unpack(inputs)).keys()]).not.toContain('summary.md');
    expect(toManifest(inputs)).toMatchObject({ summary_text: null, summary_path: null });
  });

  it('is the same archive each time', async () => {
    const [one, other] = [
      await toInputTree(INPUTS, new Map()),
      await toInputTree(INPUTS, new Map()),
    ];
    expect(one.digest).toBe(other.digest);
  });

  it.each([
    ['leads upwards', '../../checker/checker.py'],
    ['is the folder above', '..'],
    ['is its own folder', '.'],
    ['is absolute', '/input/checker/checker.py'],
    ['is nothing', ''],
    ['has a line feed', 'a\nb.txt'],
    ['has NUL', 'a\0.txt'],
    ['moves the cursor', '\u001b[2J'],
    ['turns the order of letters', 'a\u202etxt.exe'],
    ['is half a character', '\ud800'],
    ['has 256 bytes', 'ä'.repeat(128)],
  ])('is laid out under a plain name where its own %s', async (_, filename) => {
    const artifacts = [{ role: 'assignment', ...inputFile('x', filename) }];
    const files = await unpack({ ...INPUTS, artifacts });
    expect(files.get('artifacts/assignment/file')).toBe('x');
    expect(toManifest({ ...INPUTS, artifacts }).artifacts[0]).toMatchObject({
      path: '/input/artifacts/assignment/file',
      filename: filename.toWellFormed(),
    });
  });

  it.each(['ä'.repeat(127), 'résumé.pdf', '.hidden', 'a b', '-rf', 'C:\\x', '..txt'])(
    'keeps the name %j',
    async (filename) => {
      const artifacts = [{ role: 'assignment', ...inputFile('x', filename) }];
      expect((await unpack({ ...INPUTS, artifacts })).get(`artifacts/assignment/${filename}`)).toBe(
        'x',
      );
    },
  );

  it('stays below its role whatever it is called, and is found by the manifest', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 300 }), async (filename) => {
        const artifacts = [{ role: 'assignment', ...inputFile('x', filename) }];
        const files = await unpack({ ...INPUTS, artifacts });
        const { path } = JSON.parse(files.get('manifest.json') ?? '').artifacts[0];
        expect(path).toMatch(/^\/input\/artifacts\/assignment\/[^/]+$/u);
        expect(files.get(path.slice('/input/'.length))).toBe('x');
      }),
    );
  });
});
