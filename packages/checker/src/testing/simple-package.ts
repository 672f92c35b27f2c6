import { sha256Hex } from '@kervyxa/core';
import type { FolderFiles } from '../package/folder-view.ts';

const CHECKER = `import json, os
m = json.load(open('/input/manifest.json'))
text = open(m['artifacts'][0]['path']).read()
os.makedirs('/output/evidence', exist_ok=True)
json.dump({'bytes': len(text)}, open('/output/evidence/summary.json', 'w'))
if '\\0' in text:
    result = {'result': 'inconclusive', 'reason': 'not text'}
else:
    try:
        json.loads(text)
        result = {'result': 'verified'}
    except ValueError:
        result = {'result': 'refuted', 'reason': 'not JSON'}
json.dump(result, open('/output/result.json', 'w'))
`;

const VALID = '{"answer": 42}\n';
const BROKEN = '{"answer": \n';
const BINARY = '\u0000\u0001';

function file(filename: string, text: string) {
  return {
    filename,
    content_hash: `sha256:${sha256Hex(text)}`,
    size_bytes: Buffer.byteLength(text),
  };
}

function fixture(key: string, expected_result: string, filename: string, text: string) {
  return {
    key,
    stage_key: 'structure',
    description: `A document that is ${expected_result}.`,
    inputs: { reference: {}, artifacts: [{ role: 'document', ...file(filename, text) }] },
    expected_result,
  };
}

/** A contract as its author writes it: one script stage, one role, a fixture either way. */
export function simpleContract() {
  return {
    title: 'A JSON document',
    statement_md: 'Verified when the document parses as JSON. Says nothing of what it holds.',
    reference_inputs: [],
    stages: [
      {
        key: 'structure',
        kind: 'sandbox',
        title: 'Structure',
        description_md: 'Parses the document.',
        implementation: './checker.py',
      },
    ],
    submission_requirements: {
      accepts_text_only: false,
      required_artifacts: [
        { role: 'document', description: 'The document.', media_types: [], max_bytes: 65_536 },
      ],
    },
    result_kind: 'pass_fail',
    conformance_fixtures: [
      fixture('valid', 'verified', 'valid.json', VALID),
      fixture('broken', 'refuted', 'broken.json', BROKEN),
      fixture('binary', 'inconclusive', 'binary.bin', BINARY),
    ],
  };
}

/** A folder with `contract`, and the files that `simpleContract` names. */
export function simplePackage(contract: unknown = simpleContract()): FolderFiles {
  const texts: Record<string, string> = {
    'verifier-contract.json': JSON.stringify(contract, null, 2),
    'checker.py': CHECKER,
    'fixtures/valid.json': VALID,
    'fixtures/broken.json': BROKEN,
    'fixtures/binary.bin': BINARY,
  };
  return new Map(Object.entries(texts).map(([path, text]) => [path, Buffer.from(text)]));
}
