import { deepEqual, ok } from 'node:assert/strict';
import { canonicalJson } from '@kervyxa/core';
import { ProvingReportSchema, VerificationResultSchema } from '@kervyxa/verifier';
import * as fc from 'fast-check';
import { parseLockfile } from '../../../packages/deps/src/lockfile.ts';
import { parseRequirements } from '../../../packages/deps/src/requirements.ts';
import { parsePathStat } from '../../../packages/sandbox/src/docker/read-file.ts';
import { readCount } from '../../../packages/verifier/src/count.ts';
import { edited, mutated, soup } from '../arbitraries.ts';
import { writeCanonically } from '../naive-json.ts';
import { answerOf, defineTarget } from '../target.ts';
import { LOCKFILE, REPORT, RESULT } from './samples.ts';

export const canonicalTarget = defineTarget('canonical JSON', {
  input: fc.jsonValue(),
  holds(value) {
    // A lone surrogate has no UTF-8 and so no digest; what a document may hold is text.
    const text = canonicalJson(value);
    deepEqual(text, writeCanonically(value));
    deepEqual(canonicalJson(JSON.parse(text)), text);
  },
});

const countLine = fc
  .tuple(
    fc.record({
      count: fc.oneof(fc.nat(), fc.constantFrom(null, -1, 0.5, '1', 2 ** 53)),
      stdoutSha256: fc.constantFrom('ab'.repeat(32), 'AB'.repeat(32), ''),
      exitCode: fc.constantFrom(0, 255, 256, null),
      signal: fc.constantFrom(null, 'SIGKILL', ''),
    }),
    fc.dictionary(fc.constantFrom('count', 'more', '__proto__'), fc.nat(9), { maxKeys: 1 }),
  )
  .map(([report, more]) => `KERVYXA_COUNT=${JSON.stringify({ ...report, ...more })}\n`);
const countOutput = fc
  .tuple(
    fc.constantFrom('', 'noise\n', '\n'),
    countLine,
    fc.constantFrom('', '\n', 'KERVYXA_COUNT=\n'),
  )
  .map((parts) => Buffer.from(parts.join('')));

export const countTarget = defineTarget('report of a count', {
  input: fc.tuple(
    edited(
      fc.oneof(
        {
          weight: 3,
          arbitrary: fc.oneof(
            countOutput,
            countLine.map((line) => Buffer.from(line)),
          ),
        },
        fc.uint8Array(),
      ),
    ),
    fc.nat(1),
  ),
  holds([head, more]) {
    const bytesTotal = head.length + more;
    const reading = readCount({ head, bytesTotal, sha256: 'ab'.repeat(32) });
    if (reading.kind !== 'one') return;
    // One line and nothing else, with these four fields and no other.
    const text = Buffer.from(head).toString('latin1');
    ok(more === 0 && text.startsWith('KERVYXA_COUNT=') && text.indexOf('\n') === text.length - 1);
    const { count, stdoutSha256, exitCode, signal, ...rest } = JSON.parse(text.slice(14));
    deepEqual(rest, {});
    deepEqual(reading.report, { count, stdoutSha256, exitCode, signal });
    ok(count === null || (Number.isSafeInteger(count) && count >= 0));
    ok(
      stdoutSha256.length === 64 &&
        [...stdoutSha256].every((each) => '0123456789abcdef'.includes(each)),
    );
    ok(exitCode === null || (Number.isInteger(exitCode) && exitCode >= 0 && exitCode <= 255));
    ok(signal === null || signal.length > 0);
  },
});

export const reportTarget = defineTarget('result and proving report', {
  input: fc.oneof(
    fc.tuple(fc.constant('result' as const), mutated(RESULT)),
    fc.tuple(fc.constant('report' as const), mutated(REPORT)),
  ),
  holds([kind, document]) {
    const schema = kind === 'result' ? VerificationResultSchema : ProvingReportSchema;
    const parsed = schema.safeParse(document);
    // Taken as it is or not at all: nothing left out, put in or turned into something else.
    if (parsed.success) deepEqual(writeCanonically(parsed.data), writeCanonically(document));
  },
});

export const lockfileTarget = defineTarget('package-lock.json', {
  input: fc.oneof(
    mutated(LOCKFILE).map((each) => JSON.stringify(each) ?? ''),
    fc.json(),
  ),
  async holds(text) {
    const answer = await answerOf(() => parseLockfile({ name: 'package-lock.json', text }));
    if ('refused' in answer) return;
    const { packages } = JSON.parse(text);
    for (const each of answer.value) {
      const integrities = Object.values(packages).map((entry) =>
        Reflect.get(Object(entry), 'integrity'),
      );
      ok(integrities.includes(each.integrity), 'pins other bytes than the file names');
    }
  },
});

export const requirementsTarget = defineTarget('requirements.txt', {
  input: soup([
    'requests',
    '==',
    '1.0',
    ' ',
    ' --hash=sha256:',
    'ab'.repeat(32),
    '\\\n',
    '\n',
    '#',
    ';',
    '[x]',
    '-r other',
    '-e .',
    '@ https://x',
    '\r',
    "python_version<'3'",
  ]),
  async holds(text) {
    const answer = await answerOf(() => parseRequirements({ name: 'requirements.txt', text }));
    if ('refused' in answer) return;
    for (const { name, version, sha256s } of answer.value) {
      ok(sha256s.length > 0 && sha256s.every((each) => text.includes(each)));
      ok(text.includes(version) && name === name.toLowerCase());
    }
  },
});

export const pathStatTarget = defineTarget('what the engine says of a file', {
  input: fc.oneof(
    fc
      .record({ mode: fc.nat(), size: fc.nat() })
      .map((each) => Buffer.from(JSON.stringify(each)).toString('base64')),
    fc.json().map((each) => Buffer.from(each).toString('base64')),
    fc.base64String(),
  ),
  async holds(header) {
    await answerOf(() => parsePathStat(header));
  },
});
