import { parseContract } from '@kervyxa/contract';
import type { Database } from '@kervyxa/db';
import type { Step, VerificationEvent } from '@kervyxa/verifier';
import { describe, expect, it } from 'vitest';
import { helloContract } from '../testing/hello.ts';
import { createRunEvents, LIVE_BYTES_MAX } from './run-events.ts';

type Batch = Parameters<Database['work']['addRunEvents']>[1];

const contract = parseContract({
  ...helloContract(),
  criteria: [
    ...helloContract().criteria,
    { ...helloContract().criteria[0], id: 'secret', title: 'SECRET', visibility: 'hidden' },
  ],
});

function step(id: string): Step {
  return { id: `criterion:${id}`, kind: 'criterion', title: `Criterion ${id}` };
}

function said(id: string, text: string | Uint8Array): VerificationEvent {
  const chunk = typeof text === 'string' ? Buffer.from(text) : text;
  return { kind: 'output', stepId: step(id).id, attempt: 1, stream: 'stdout', chunk };
}

async function tell(
  events: readonly VerificationEvent[],
  write: (batch: Batch) => Promise<void> = async () => undefined,
): Promise<{ written: Batch[number][]; lines: string[] }> {
  const written: Batch[number][] = [];
  const lines: string[] = [];
  const note = (_facts: object, message: string) => void lines.push(message);
  const work = {
    addRunEvents: async (_runId: string, batch: Batch) => {
      await write(batch);
      written.push(...batch);
    },
  } as unknown as Database['work']; // All that is used of it.
  const told = createRunEvents(
    { work },
    { runId: 'run_1', attempt: 3, contract, beats: { waitMs: () => 200 } },
    { info: note, warn: note, error: note },
  );
  events.forEach((event) => told.onEvent(event));
  await told.close();
  return { written, lines };
}

describe('the events of a run', () => {
  it('tell each step to the parties, and what it printed in one piece', async () => {
    const { written } = await tell([
      { kind: 'step_started', step: step('says-hello') },
      said('says-hello', 'he'),
      said('says-hello', 'llo\0\n'),
      {
        kind: 'step_finished',
        step: step('says-hello'),
        status: 'fail',
        reason: 'EXIT_CODE_MISMATCH',
        message: 'expected 0',
        durationMs: 12.4,
      },
    ]);
    const about = { attempt: 3, stepId: 'criterion:says-hello' };
    expect(written).toEqual([
      {
        name: 'run_step_started',
        audience: 'PARTIES',
        data: { ...about, kind: 'criterion', title: 'Criterion says-hello' },
      },
      {
        name: 'run_output',
        audience: 'PARTIES',
        data: { ...about, try: 1, stream: 'stdout', text: 'hello\ufffd\n' },
      },
      {
        name: 'run_step_finished',
        audience: 'PARTIES',
        data: {
          ...about,
          kind: 'criterion',
          status: 'fail',
          reason: 'EXIT_CODE_MISMATCH',
          message: 'expected 0',
          durationMs: 12,
        },
      },
    ]);
  });

  // Keeps R-HIDDEN-UNTOLD.
  it('watches for the answers of a hidden criterion: its steps are the owner’s, its output nobody’s', async () => {
    const { written } = await tell([
      { kind: 'step_started', step: step('secret') },
      said('secret', 'the answer is 42\n'),
    ]);
    expect(written.map(({ name, audience }) => [name, audience])).toEqual([
      ['run_step_started', 'OWNER'],
    ]);
    const { written: ofUnknown } = await tell([
      { kind: 'step_started', step: { ...step('secret'), id: 'criterion:secret:judge' } },
      { ...said('secret', '42\n'), stepId: 'criterion:secret:judge' } as VerificationEvent,
    ]);
    expect(ofUnknown.map(({ audience }) => audience)).toEqual(['OWNER']);
    expect(JSON.stringify(written)).not.toContain('42');
  });

  it('sees set-up begin again, as a hidden criterion was late: what it prints then is nobody’s', async () => {
    const chunk = Buffer.from('installed\n');
    const setup = { kind: 'output', stepId: 'setup:0', stream: 'stdout', chunk } as const;
    const { written } = await tell([1, 2].map((attempt) => ({ ...setup, attempt })));
    expect(written.map(({ data }) => [data['try'], data['text']])).toEqual([[1, 'installed\n']]);
  });

  it('splits a character between two chunks: it arrives whole', async () => {
    const bytes = Buffer.from('€');
    const { written } = await tell([
      said('says-hello', bytes.subarray(0, 1)),
      said('says-hello', bytes.subarray(1)),
    ]);
    expect(written.map(({ data }) => data['text'])).toEqual(['€']);
  });

  it('floods the watchers: only so much of a stream is told live', async () => {
    const chunk = 'x'.repeat(LIVE_BYTES_MAX);
    const { written } = await tell([said('says-hello', chunk), said('says-hello', chunk)]);
    expect(String(written[0]?.data['text']).length).toBe(LIVE_BYTES_MAX);
    expect(written).toHaveLength(1);
  });

  it('hold up no verdict when they can’t be written', async () => {
    const broken = () => Promise.reject(new Error('no database'));
    const { written, lines } = await tell([said('says-hello', 'hello\n')], broken);
    expect(written).toEqual([]);
    expect(lines).toEqual(['events of a run were lost']);
  });
});
