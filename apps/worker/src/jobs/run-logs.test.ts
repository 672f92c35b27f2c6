import { parseContract } from '@kervyxa/contract';
import { describe, expect, it } from 'vitest';
import { helloContract } from '../testing/hello.ts';
import { createRunLogs, LOG_BYTES_MAX } from './run-logs.ts';

function said(text: string | Uint8Array, attempt = 1, stream: 'stdout' | 'stderr' = 'stdout') {
  const chunk = typeof text === 'string' ? Buffer.from(text) : text;
  return { kind: 'output', stepId: 'criterion:says-hello', attempt, stream, chunk } as const;
}

describe('the log of a criterion', () => {
  const contract = parseContract(helloContract());

  it('has both streams as they came, and of its last try only', () => {
    const logs = createRunLogs(contract);
    expect(logs.logs()).toEqual([]);
    for (const event of [said('late\n'), said('out\n', 2), said('err\n', 2, 'stderr')])
      logs.onEvent(event);
    expect(logs.logs()).toEqual([
      {
        criterionId: 'says-hello',
        visibility: 'public',
        bytes: Buffer.from('out\nerr\n'),
        truncated: false,
      },
    ]);
  });

  it('floods its log: the first bytes are kept, and that there were more', () => {
    const logs = createRunLogs(contract);
    const chunk = Buffer.alloc(LOG_BYTES_MAX - 1, 'a');
    logs.onEvent(said(chunk));
    // The chunk is the sandbox's again.
    chunk.fill('x');
    logs.onEvent(said('b'));
    expect(logs.logs()).toMatchObject([{ truncated: false }]);
    logs.onEvent(said('c'));
    const [log] = logs.logs();
    expect(log?.truncated).toBe(true);
    expect(Buffer.from(log?.bytes ?? []).toString()).toBe(`${'a'.repeat(LOG_BYTES_MAX - 1)}b`);
  });

  it('says it byte by byte: takes no more memory than the bytes', () => {
    const logs = createRunLogs(contract);
    const event = said('a');
    const before = process.memoryUsage();
    for (let count = 0; count < LOG_BYTES_MAX; count += 1) logs.onEvent(event);
    const after = process.memoryUsage();
    const grown = after.heapUsed + after.external - before.heapUsed - before.external;
    expect(grown).toBeLessThan(32 * LOG_BYTES_MAX);
    expect(logs.logs()[0]?.bytes).toHaveLength(LOG_BYTES_MAX);
  });
});
