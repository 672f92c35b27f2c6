import { describe, expect, it } from 'vitest';
import { createLogTails, toEvidence } from './evidence.ts';

const output = (stepId: string, text: string) =>
  ({
    kind: 'output',
    stepId,
    attempt: 1,
    stream: 'stdout',
    chunk: Buffer.from(text),
  }) as const;

describe('the end of a log', () => {
  it('is kept for each step, both streams in the order they came', () => {
    const { onEvent, tailOf } = createLogTails();
    onEvent(output('criterion:a', 'one\n'));
    onEvent({ ...output('criterion:a', 'two\n'), stream: 'stderr' });
    onEvent(output('setup:0', 'other\n'));
    expect([tailOf('criterion:a'), tailOf('setup:0')]).toEqual(['one\ntwo', 'other']);
    expect(tailOf('criterion:b')).toBeNull();
  });

  it('floods it: only the last 2 KiB are kept', () => {
    const { onEvent, tailOf } = createLogTails();
    for (let at = 0; at < 100; at += 1) onEvent(output('a', `${'x'.repeat(10_000)}\n`));
    onEvent(output('a', 'the end\n'));
    expect(tailOf('a')?.length).toBeLessThanOrEqual(2_048);
    expect(tailOf('a')).toMatch(/x\nthe end$/);
  });
});

describe('evidence', () => {
  it('M22 prints sequences that move a cursor: shown, never obeyed', () => {
    expect(toEvidence('a\tb\r\n', null, '\u001b[2Jc\u202e')).toBe('a  b\n\n\\u{1b}[2Jc\\u{202e}');
    expect(toEvidence(null, '', '\n')).toBeUndefined();
  });

  it('is cut at a line within its bound', () => {
    const evidence = toEvidence(`${'x'.repeat(99)}\n`.repeat(1_000)) ?? '';
    expect(evidence.length).toBeLessThan(16_400);
    expect(evidence).toMatch(/\nx{99}\n… \(cut\)$/);
    expect(toEvidence('y'.repeat(10_000))).toBe(`${'y'.repeat(500)}…`);
  });
});
