import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCliProcess } from './testing/cli-process.ts';
import { contractInput } from './testing/sample-contract.ts';

let root = '';
let contract = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kervyxa-main-'));
  contract = join(root, 'contract.json');
  writeFileSync(contract, JSON.stringify(contractInput()));
});
afterEach(() => rmSync(root, { recursive: true }));

describe('the process', () => {
  it('hands over all of a long answer before it exits', async () => {
    const document = { ...contractInput() };
    for (let i = 0; i < 2_000; i += 1) Object.assign(document, { [`unknown${i}`]: i });
    writeFileSync(contract, JSON.stringify(document));
    const end = await runCliProcess(['lint', '--json', contract]);
    expect(end.exitCode).toBe(1);
    expect(JSON.parse(end.stdout).findings).toHaveLength(2_000);
  });

  it('says nothing when the reader of its output has gone, and keeps its exit code', async () => {
    const end = await runCliProcess(['lint', contract], { closeStdout: true });
    expect(end).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('writes no escape sequence into a pipe', async () => {
    const end = await runCliProcess(['lint', contract, '--help']);
    expect(end.stdout).not.toContain('\u001b');
  });

  it('reads a contract from standard input', async () => {
    const end = await runCliProcess(['lint', '-'], { stdin: JSON.stringify(contractInput()) });
    expect(end).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('standard input') });
  });
});
