import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { endNotedGroup, noteGroup } from './process-group.mjs';
import { processStamp, sendSignal } from './processes.mjs';

/** @type {string} */
let folder;
/** @type {string} */
let file;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kervyxa-group-'));
  file = join(folder, 'process-group');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A group whose leader has started a second process and, on request, has gone itself. */
async function startGroup({ leaderStays = true } = {}) {
  const script = `sleep 1000 & echo $!; ${leaderStays ? 'wait' : 'read line'}`;
  const leader = spawn('sh', ['-c', script], { detached: true, stdio: ['pipe', 'pipe', 'ignore'] });
  const [text] = await once(leader.stdout, 'data');
  const pid = Number(leader.pid);
  noteGroup(file, pid);
  if (!leaderStays) {
    leader.stdin.end('\n');
    await once(leader, 'exit');
  }
  return { leader: pid, second: Number(text) };
}

describe('the processes of a killed set-up', () => {
  it.each([true, false])(
    'are ended together, whether their leader lives (%s) or not',
    async (leaderStays) => {
      const { leader, second } = await startGroup({ leaderStays });
      expect(processStamp(second)).not.toBeNull();
      await endNotedGroup(file);
      expect([processStamp(leader), processStamp(second)]).toEqual([null, null]);
      expect(existsSync(file)).toBe(false);
    },
  );

  it('are not looked for under a number that is from before a reboot', async () => {
    const { leader } = await startGroup();
    writeFileSync(file, `${leader} another-boot:1`);
    await endNotedGroup(file);
    expect(processStamp(leader)).not.toBeNull();
    sendSignal(-leader, 'SIGKILL');
  });

  it('may be none', async () => {
    await expect(endNotedGroup(file)).resolves.toBeUndefined();
  });
});
