import { deepEqual, ok } from 'node:assert/strict';
import { fixFixtures, readCheckerFolder, readCheckerPackage } from '@kervyxa/checker';
import * as fc from 'fast-check';
import { LINT_TABLE } from '../../../packages/checker/src/contract/lint-table.ts';
import { problemFolder, toFiles } from '../../../packages/checker/src/testing/full-package.ts';
import { edited, mutated } from '../arbitraries.ts';
import { defineTarget } from '../target.ts';

const FILES = toFiles(problemFolder());
const JSON_FILES = [...FILES.keys()].filter((path) => path.endsWith('.json'));

/** One of the documents of a package with some of its values replaced. */
const document = fc.constantFrom(...JSON_FILES).chain((path) => {
  const content: unknown = JSON.parse(Buffer.from(FILES.get(path) ?? '').toString());
  return fc.tuple(
    fc.constant(path),
    fc.oneof(mutated(content), fc.jsonValue()).map((value) => JSON.stringify(value) ?? ''),
  );
});

export const checkerTarget = defineTarget('folder of a checker package', {
  input: document,
  holds([path, text]) {
    const files = new Map(FILES).set(path, Buffer.from(text));
    const { findings, package: found } = readCheckerPackage(files, 'ab');
    for (const { code, message, fix, file } of findings) {
      ok(Object.hasOwn(LINT_TABLE, code) && message !== '' && fix !== '' && file !== '');
    }
    deepEqual(
      found === null,
      findings.some(({ severity }) => severity === 'refuse'),
    );
    assertFixed(files);
  },
});

export const checkerBytesTarget = defineTarget('bytes of a checker package', {
  input: fc
    .constantFrom(...FILES.keys())
    .chain((path) =>
      fc.tuple(fc.constant(path), edited(fc.constant(FILES.get(path) ?? new Uint8Array()))),
    ),
  holds([path, bytes]) {
    const files = new Map(FILES).set(path, bytes);
    readCheckerFolder(files, 'ab');
    assertFixed(files);
  },
});

/** `--fix` mends all that it can at once, and makes nothing worse. */
function assertFixed(files: ReadonlyMap<string, Uint8Array>): void {
  const fixed = new Map([
    ...files,
    ...fixFixtures(files).map(({ path, content }) => [path, content] as const),
  ]);
  deepEqual(fixFixtures(fixed), []);
  deepEqual(otherFindingsOf(fixed), otherFindingsOf(files));
}

/** Whether a fixture could be run is asked once its hashes have a form. */
function otherFindingsOf(files: ReadonlyMap<string, Uint8Array>): string[] {
  return readCheckerFolder(files, 'ab')
    .findings.map(({ code, pointer }) => `${code} ${pointer}`)
    .filter((line) => !/^fixture_unmet|\/(content_hash|size_bytes)(\/|$)/.test(line));
}
