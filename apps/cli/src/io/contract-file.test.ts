import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakeHost } from '../testing/fake-host.ts';
import { loadContractFile } from './contract-file.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kervyxa-contract-'));
});
afterEach(() => rmSync(root, { recursive: true }));

describe('a contract file', () => {
  it.each([
    ['contract.json', 'json'],
    ['contract.yaml', 'yaml'],
    ['contract.YML', 'yaml'],
    ['contract', 'json'],
  ])('named %s is read as %s', async (name, format) => {
    const path = join(root, name);
    writeFileSync(path, '{}');
    expect(await loadContractFile(path, fakeHost())).toEqual({
      name: path,
      bytes: Buffer.from('{}'),
      format,
    });
  });

  it('named - is standard input', async () => {
    const file = await loadContractFile('-', fakeHost({ stdin: '{"a":1}' }));
    expect(file).toEqual({
      name: 'standard input',
      bytes: Buffer.from('{"a":1}'),
      format: 'json',
    });
  });

  it('is read no further than one byte beyond the largest contract, even if it never ends', async () => {
    const { bytes } = await loadContractFile('/dev/zero', fakeHost());
    expect(bytes.length).toBe(1024 * 1024 + 1);
  });

  it.each([
    ['that is not there', 'absent.json', 'no such file'],
    ['that is a folder', '.', 'a folder'],
    ['below a file', 'file/contract.json', 'a path that leads through a file'],
  ])('%s is refused', async (_what, name, cause) => {
    writeFileSync(join(root, 'file'), '');
    await expect(loadContractFile(join(root, name), fakeHost())).rejects.toMatchObject({
      code: 'CLI_FILE_UNREADABLE',
      message: expect.stringContaining(cause),
    });
  });
});
