import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type AuditEntry, type AuditFact, AUDIT_START, checkEntries, linkEntry } from './chain.ts';

const FACTS: readonly AuditFact[] = [
  { kind: 'contract_proved', subject: 'con_1', digest: `sha256:${'a'.repeat(64)}`, facts: {} },
  {
    kind: 'verdict_sealed',
    subject: 'run_1',
    digest: `sha256:${'b'.repeat(64)}`,
    facts: { verdict: 'PASS', reason: null },
  },
  { kind: 'escrow_resolved', subject: 'con_1', digest: null, facts: { resolution: 'PAYOUT' } },
];

const LOG = FACTS.reduce<readonly AuditEntry[]>((entries, fact, index) => {
  const at = new Date(Date.UTC(2026, 0, 1 + index));
  const salt = String(index).repeat(32);
  return [...entries, linkEntry(entries.at(-1) ?? AUDIT_START, fact, { at, salt })];
}, []);

/** The log with one entry changed. */
const tamper = (index: number, change: Partial<AuditEntry>): AuditEntry[] =>
  LOG.map((entry, at) => (at === index ? { ...entry, ...change } : entry));

// Keeps R-AUDIT-CHAIN.
describe('a chain of audit entries', () => {
  it('holds, counts without a gap, and can be walked page by page', () => {
    expect(LOG.map(({ seq }) => seq)).toEqual([1n, 2n, 3n]);
    const whole = checkEntries(LOG);
    expect(whole).toEqual({ problem: null, head: { seq: 3n, hash: LOG[2]?.hash } });
    const first = checkEntries(LOG.slice(0, 2));
    expect(checkEntries(LOG.slice(2), first.head)).toEqual(whole);
  });

  it('hashes bytes that anybody can write down: keys in order, no space, times in UTC', () => {
    const bytes =
      '{"at":"2026-01-02T00:00:00.000Z","digest":"sha256:' +
      'b'.repeat(64) +
      '","facts":{"reason":null,"verdict":"PASS"},"kind":"verdict_sealed","prevHash":"' +
      LOG[0]?.hash +
      '","salt":"11111111111111111111111111111111","schema":"kervyxa.audit.v1","seq":"2","subject":"run_1"}';
    expect(LOG[1]?.hash).toBe(createHash('sha256').update(bytes).digest('hex'));
  });

  it.each<[string, readonly AuditEntry[], string]>([
    ['a fact was changed', tamper(1, { facts: { verdict: 'FAIL' } }), 'entry 2: was changed'],
    ['a digest was changed', tamper(0, { digest: null }), 'entry 1: was changed'],
    ['a kind was changed', tamper(2, { kind: 'key_added' }), 'entry 3: was changed'],
    ['a subject was changed', tamper(1, { subject: 'run_2' }), 'entry 2: was changed'],
    ['a time was changed', tamper(1, { at: new Date(0) }), 'entry 2: was changed'],
    ['a salt was changed', tamper(1, { salt: 'f'.repeat(32) }), 'entry 2: was changed'],
    ['an entry is missing', LOG.filter((_, at) => at !== 1), 'entry 3: expected number 2'],
    ['the first is missing', LOG.slice(1), 'entry 2: expected number 1'],
    ['an entry was put twice', [...LOG, ...LOG.slice(2)], 'entry 3: expected number 4'],
    [
      'an entry was replaced and its hash made new',
      [
        linkEntry(AUDIT_START, FACTS[2] as AuditFact, { at: new Date(0), salt: '0'.repeat(32) }),
        ...LOG.slice(1),
      ],
      'entry 2: does not follow',
    ],
  ])('tells that %s', (_, entries, problem) => {
    expect(checkEntries(entries).problem).toContain(problem);
  });
});
