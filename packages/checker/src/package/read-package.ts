import { sha256Hex } from '@kervyxa/core';
import { AuthoredContractSchema, toTerms, type AuthoredFile } from '../contract/authored.ts';
import type { CheckerPackage, InputFile, StageProgram } from './checker-package.ts';
import { lintFindingOf, type LintFinding } from './finding.ts';
import { readProgram } from './implementation.ts';
import { readJsonFile } from './json-file.ts';
import { toPointer, toShapeFindings } from './shape-findings.ts';

export const CONTRACT_FILE = 'verifier-contract.json';

/** Paths of regular files, with slashes, and their bytes. */
export type FolderFiles = ReadonlyMap<string, Uint8Array>;

export interface PackageReading {
  /** Null where a finding refuses it. */
  readonly package: CheckerPackage | null;
  /** All of them, in the order of the files. */
  readonly findings: readonly LintFinding[];
}

/** Reads the folder of a checker package; `digest` is the SHA-256 of its sealed form, 64 hex digits. */
export function readCheckerPackage(files: FolderFiles, digest: string): PackageReading {
  const bytes = files.get(CONTRACT_FILE);
  const place = { file: CONTRACT_FILE };
  if (bytes === undefined) {
    const words = {
      message: `expected ${CONTRACT_FILE} in the folder, got none`,
      fix: 'Give the folder that holds it; "kervyxa checker init" writes one.',
    };
    return refusedBy([lintFindingOf('contract_missing', place, words)]);
  }
  const json = readJsonFile(CONTRACT_FILE, bytes);
  if ('finding' in json) return refusedBy([json.finding]);
  const parsed = AuthoredContractSchema.safeParse(json.document);
  if (!parsed.success) {
    return refusedBy(toShapeFindings(CONTRACT_FILE, parsed.error, json.document));
  }
  const authored = parsed.data;
  const findings: LintFinding[] = [];
  const programs = new Map<string, StageProgram>();
  authored.stages.forEach((stage, index) => {
    if (stage.kind !== 'sandbox') return;
    const reading = readProgram(stage, (path) => files.get(path) ?? null);
    const pointer = `/stages/${index}/implementation`;
    if ('program' in reading) programs.set(stage.key, reading.program);
    else findings.push(lintFindingOf(reading.code, { file: CONTRACT_FILE, pointer }, reading));
  });
  const fixtureFiles = new Map<string, Uint8Array>();
  authored.conformance_fixtures.forEach((fixture, index) => {
    const at = ['conformance_fixtures', index, 'inputs'];
    const named: [PropertyKey[], AuthoredFile][] = [
      ...Object.entries(fixture.inputs.reference).map(
        ([key, file]): [PropertyKey[], AuthoredFile] => [[...at, 'reference', key], file],
      ),
      ...fixture.inputs.artifacts.map((file, each): [PropertyKey[], AuthoredFile] => [
        [...at, 'artifacts', each],
        file,
      ]),
    ];
    for (const [path, { filename, content_hash, size_bytes }] of named) {
      const content = files.get(`fixtures/${filename}`) ?? files.get(`reference/${filename}`);
      const where = { file: CONTRACT_FILE, pointer: toPointer(path) };
      if (content === undefined) {
        const words = {
          message: `expected ${filename} under fixtures/ or reference/, got no such file`,
          fix: 'Add the file, or name one that is there.',
        };
        findings.push(lintFindingOf('fixture_file_missing', where, words));
        continue;
      }
      const actual = `sha256:${sha256Hex(content)}`;
      fixtureFiles.set(actual, content);
      if (content_hash === actual && size_bytes === content.length) continue;
      const words = {
        message: `expected ${actual} and ${content.length} bytes, got ${content_hash ?? 'none'}`,
        fix: 'Run "kervyxa checker lint --fix", which writes them.',
      };
      findings.push(lintFindingOf('fixture_hash_wrong', where, words));
    }
  });
  const reference = new Map<string, InputFile>();
  for (const [path, content] of files) {
    const filename = /^reference\/([^/]+)$/.exec(path)?.[1];
    if (filename === undefined || filename.endsWith('.link.json')) continue;
    reference.set(filename.split('.')[0] ?? '', { filename, mediaType: null, content });
  }
  if (findings.some(({ severity }) => severity === 'refuse')) return refusedBy(findings);
  const contract = toTerms(authored);
  const contractId = authored.id ?? null;
  return {
    package: { digest, contract, contractId, programs, reference, fixtureFiles },
    findings,
  };
}

function refusedBy(findings: readonly LintFinding[]): PackageReading {
  return { package: null, findings };
}
