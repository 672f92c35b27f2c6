import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { BaseFacts, OperatorSettings } from './facts.ts';
import { FINDING_CODES, FINDING_TABLE, PROVING_RULES, TREE_RULES } from './finding-table.ts';
import { approveContract, interestingBaseFiles, lintContract } from './lint.ts';
import { acknowledged, extra, FINDING_ROWS, regression } from './testing/finding-rows.ts';
import {
  benchmark,
  editedContract,
  goodContract,
  goodFacts,
  REMOVE,
  type Edit,
  GOOD_SETTINGS,
} from './testing/good-contract.ts';

const NUMBERED = FINDING_ROWS.map((row, index) => ({ ...row, row: index }));

const codesAt = (pointer: string, edits: readonly Edit[], facts: BaseFacts | null) =>
  lintContract(editedContract(edits), facts, GOOD_SETTINGS)
    .filter((finding) => finding.pointer === pointer)
    .map(({ code }) => code);
const codesOf = (
  edits: readonly Edit[],
  facts: BaseFacts | null,
  settings: OperatorSettings = GOOD_SETTINGS,
) => lintContract(editedContract(edits), facts, settings).map(({ code }) => code);

// Keeps R-APPROVAL-ALL.
describe('lintContract', () => {
  it('has nothing against the good contract, with and without facts', () => {
    expect(lintContract(goodContract(), goodFacts())).toEqual([]);
    expect(lintContract(goodContract(), null)).toEqual([]);
  });

  it.each(NUMBERED)(
    'finds $code at $pointer (row $row)',
    ({ code, pointer, edits, facts = goodFacts() }) => {
      expect(codesAt(pointer, edits, facts)).toContain(code);
    },
  );

  it.each(NUMBERED)(
    'does not find $code in the twin (row $row)',
    ({ code, twin, twinFacts = goodFacts(), twinSettings }) => {
      expect(codesOf(twin, twinFacts, twinSettings)).not.toContain(code);
    },
  );

  it('has a row for every code of the table that does not take execution', () => {
    const codes = new Set<string>(FINDING_ROWS.map(({ code }) => code));
    expect(FINDING_CODES.filter((code) => !codes.has(code))).toEqual(PROVING_RULES);
  });

  it('gives every finding the severity of the table, a message and a fix', () => {
    for (const { edits, facts = goodFacts() } of FINDING_ROWS) {
      for (const finding of lintContract(editedContract(edits), facts, GOOD_SETTINGS)) {
        expect(finding.severity).toBe(FINDING_TABLE[finding.code].severity);
        expect(finding.message).toMatch(/^expected|^unknown|^invalid|^too/);
        expect(finding.fix).not.toBe('');
      }
    }
  });

  it('reports every fault at once, sorted by place', () => {
    const findings = lintContract(
      editedContract([
        ['/colour', 1],
        ['/title', REMOVE],
        ['/criteria/1/command', 'true'],
        ['/criteria/10', benchmark({ unit: 'ms' })],
        ['/repository/baseCommit', 'main'],
      ]),
      null,
    ).filter(({ pointer }) => !/^\/criteria\/[3-9]/.test(pointer));
    expect(findings.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
      'SCHEMA_INVALID /colour',
      'VACUOUS_COMMAND /criteria/1/command',
      'COMPLETION_UNPROVED /criteria/10',
      'TIME_UNIT_BENCHMARK /criteria/10/metric/unit',
      'BASE_COMMIT_NOT_PINNED /repository/baseCommit',
      'SCHEMA_INVALID /title',
    ]);
  });

  it('refuses a __proto__ key and reads nothing through it', () => {
    const text = JSON.stringify(goodContract()).replace('{', '{"__proto__": {"colour": 1},');
    expect(lintContract(JSON.parse(text), null)).toMatchObject([
      { code: 'SCHEMA_INVALID', pointer: '/__proto__' },
    ]);
  });

  it('shows no control character of the document', () => {
    const [finding] = lintContract(editedContract([['/\u001b[2J\u202e', 1]]), null);
    expect(finding?.message).toMatch(/^[\x20-\x7e]*$/);
  });

  it('checks the codes of TREE_RULES only as far as it can without facts', () => {
    const treeOnly = FINDING_ROWS.filter(({ code, edits, pointer, facts = goodFacts() }) => {
      return facts !== null && !codesAt(pointer, edits, null).includes(code);
    }).map(({ code }) => code);
    // An answer may be to a tree rule.
    expect([...TREE_RULES, 'ACKNOWLEDGEMENT_UNUSED']).toEqual(expect.arrayContaining(treeOnly));
  });

  it('never throws, whatever the document', () => {
    fc.assert(
      fc.property(fc.anything({ maxDepth: 4 }), (document) => {
        expect(lintContract(document, goodFacts()).length).toBeGreaterThan(0);
      }),
    );
  });

  it('never throws, whatever stands in one place of a good contract', () => {
    const pointers = pointersOf(goodContract());
    fc.assert(
      fc.property(
        fc.constantFrom(...pointers),
        fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.string({ unit: 'binary' })),
        (pointer, value) => {
          expect(lintContract(editedContract([[pointer, value]]), goodFacts())).toBeInstanceOf(
            Array,
          );
        },
      ),
      { numRuns: 500 },
    );
  });
});

function pointersOf(value: unknown, above = ''): string[] {
  if (typeof value !== 'object' || value === null) return [above];
  return Object.entries(value).flatMap(([key, inner]) => {
    const own = `${above}/${key}`;
    return typeof inner === 'object' ? [own, ...pointersOf(inner, own)] : [own];
  });
}

describe('approveContract', () => {
  const clocked: Edit = extra(benchmark({}, 'date +%s; node check.js'));

  it('approves the good contract and names it', () => {
    const {
      approved,
      contract,
      digest: name,
      findings,
    } = approveContract(goodContract(), goodFacts());
    expect({ approved, findings }).toEqual({ approved: true, findings: [] });
    expect(contract?.constraints.notes).toBe('');
    expect(name).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it('refuses while a finding that wants an answer has none', () => {
    expect(approveContract(editedContract([clocked]), goodFacts()).approved).toBe(false);
  });

  it('approves once it is answered with a reason, and keeps the reason beside it', () => {
    const document = editedContract([clocked, acknowledged('CLOCK_IN_HARNESS', 'only a log line')]);
    expect(approveContract(document, goodFacts())).toMatchObject({
      approved: true,
      findings: [
        { code: 'COMPLETION_UNPROVED', severity: 'advise' },
        { code: 'CLOCK_IN_HARNESS', acknowledgement: 'only a log line' },
      ],
    });
  });

  it('takes no blank for a reason', () => {
    for (const blank of [' ', '\u200b', '...', '\u3164']) {
      const document = editedContract([clocked, acknowledged('CLOCK_IN_HARNESS', blank)]);
      expect(approveContract(document, goodFacts()).approved).toBe(false);
    }
  });

  it('can not be talked out of a finding that refuses', () => {
    const document = editedContract([
      extra(benchmark({ unit: 'ms' })),
      acknowledged('TIME_UNIT_BENCHMARK'),
    ]);
    expect(approveContract(document, goodFacts()).approved).toBe(false);
  });

  it('approves with advice open', () => {
    const document = editedContract([extra(regression('sh "$KERVYXA_VERIFIER_PACKAGE/r.sh"'))]);
    expect(approveContract(document, goodFacts())).toMatchObject({
      approved: true,
      findings: [{ code: 'SAME_CONTAINER_SECRET' }],
    });
  });

  it('has no contract and no digest for what the schema refuses', () => {
    expect(approveContract({}, null)).toMatchObject({
      approved: false,
      contract: null,
      digest: null,
    });
  });
});

describe('the fix of SAME_CONTAINER_SECRET', () => {
  it.each([
    [
      'sh "$KERVYXA_VERIFIER_PACKAGE/run-regression.sh"',
      'run-regression.sh',
      'kervyxa-runtime/node:22',
    ],
    ['python3 -m pytest "$KERVYXA_VERIFIER_PACKAGE"', 'judge.py', 'kervyxa-runtime/python:1'],
    [
      'cd x && node ${KERVYXA_VERIFIER_PACKAGE}/deep/c.mjs',
      'deep/c.mjs',
      'kervyxa-runtime/node:22',
    ],
  ])('shows a judge_probe to be pasted over %s', (text, script, image) => {
    const secret = { ...regression(text), title: 'Still “right”\u202e' };
    const found = lintContract(
      editedContract([extra(secret), ['/environment/image', image]]),
      null,
      GOOD_SETTINGS,
    ).find(({ code }) => code === 'SAME_CONTAINER_SECRET');
    expect(found?.fix).toMatch(/^[\x20-\x7e]*$/);
    const form: unknown = JSON.parse(found?.fix.slice(found.fix.indexOf('{')) ?? '');
    expect(form).toMatchObject({ id: secret.id, title: secret.title, timeoutSeconds: 60 });
    expect(JSON.stringify(form)).toContain(`/${script}\\"`);
    const { contract, findings } = approveContract(editedContract([extra(form)]), null);
    expect(contract?.criteria[3]?.type).toBe('judge_probe');
    expect(findings).toEqual([]);
  });
});

describe('interestingBaseFiles', () => {
  it('wants package.json and the scripts that judge, as far as they are there', () => {
    const paths = ['a.js', 'bench/run.js', 'check.js', 'package.json', 'sub/package.json'];
    expect(interestingBaseFiles(paths, goodContract())).toEqual([
      'package.json',
      'check.js',
      'bench/run.js',
    ]);
  });

  it('answers for a document that is none', () => {
    expect(interestingBaseFiles(['a.js'], 'x')).toEqual([]);
  });
});
