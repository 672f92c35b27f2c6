import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../cli.ts';
import { fakeHost } from '../../testing/fake-host.ts';

async function run(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const host = fakeHost({ env });
  const exitCode = await runCli(argv, host);
  return { exitCode, stdout: host.stdout.text(), stderr: host.stderr.text() };
}

// Keeps R-CLI-CODES.
describe('a command that asks an API', () => {
  const KEY = { KERVYXA_KEY: 'kvx_key' };

  it('takes its key from the environment alone, where no other user reads it', async () => {
    const { exitCode, stderr } = await run(['review', 'list']);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('KERVYXA_KEY')]);
    expect((await run(['review', 'list', '--key', 'kvx_key'], KEY)).exitCode).toBe(2);
  });

  it.each(['ftp://example.com', 'nowhere', 'file:///etc/passwd'])(
    'asks no address of another kind: %s',
    async (url) => {
      const { exitCode, stderr } = await run(['review', 'list', '--url', url], KEY);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('CLI_SETTING_INVALID')]);
    },
  );

  it('says that nobody answers', async () => {
    // Port 9 is the discard service, which nothing here offers.
    const url = 'http://127.0.0.1:9';
    const { exitCode, stderr } = await run(['check', 'show', 'chk_1', '--url', url], KEY);
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining('CLI_API_UNREACHABLE')]);
  });

  it('sets no problem of a campaign’s folder: its paths are others', async () => {
    const root = mkdtempSync(join(tmpdir(), 'kervyxa-campaign-'));
    try {
      const folder = join(root, 'campaign');
      await run(['checker', 'init', '--campaign', folder]);
      const { exitCode, stderr } = await run(['problem', 'create', folder], KEY);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('got none, or a campaign')]);
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  it.each([
    [['review', 'judge', 'chk_1', 'sea_1', '--judgment', 'maybe', '--statement', 'x']],
    [['review', 'claim', 'chk_1']],
    [['check', 'report', 'chk_1']],
    [['entry', 'submit', 'prb_1']],
    [['entry', 'submit', 'prb_1', '--file', 'answer.json']],
    [['entry', 'submit', 'prb_1', '--file', 'answer=/no/such/file']],
  ])('is refused before anybody is asked: %j', async (argv) => {
    expect((await run(argv, KEY)).exitCode).toBe(2);
  });
});
