import { sha256Hex } from '@kervyxa/core';
import type { FolderFiles } from './folder-view.ts';

/**
 * The files of a new package: small, complete, and let through by lint as it stands. A campaign has the same contract,
 * which its first problem shares.
 */
export function starterFiles(form: 'checker' | 'campaign'): FolderFiles {
  const files = new Map<string, Uint8Array>([
    ['verifier-contract.json', toJson(CONTRACT)],
    ['checker.py', Buffer.from(CHECKER)],
    ...Object.entries(FIXTURES).map(([name, content]) => [`fixtures/${name}`, content] as const),
  ]);
  if (form === 'campaign') {
    files.set('campaign.json', toJson(CAMPAIGN));
    files.set('problems/first/problem.json', toJson(PROBLEM));
    files.set('problems/first/statement.md', Buffer.from(STATEMENT));
  }
  return files;
}

function toJson(value: unknown): Uint8Array {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
}

const CHECKER = `# Decides about a report. Python 3.11, the standard library only; no network.
# Read /input/manifest.json, write /output/result.json, end with status 0.
import json
import os


def decide(path):
    with open(path, "rb") as file:
        content = file.read()
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return {"result": "inconclusive", "reason": "the report is not text"}, 0
    try:
        report = json.loads(text)
    except (ValueError, RecursionError):
        return {"result": "refuted", "reason": "the report is not JSON"}, 0
    if not isinstance(report, dict) or not is_list_of_integers(report.get("items")):
        return {"result": "refuted", "reason": "items must be a list of integers"}, 0
    items = report["items"]
    if not is_integer(report.get("total")) or report["total"] != sum(items):
        return {"result": "refuted", "reason": "total is not the sum of items"}, len(items)
    return {"result": "verified"}, len(items)


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_list_of_integers(value):
    return isinstance(value, list) and all(is_integer(each) for each in value)


with open("/input/manifest.json") as file:
    manifest = json.load(file)
report = next(each for each in manifest["artifacts"] if each["role"] == "report")
result, items = decide(report["path"])

os.makedirs("/output/evidence", exist_ok=True)
with open("/output/evidence/summary.json", "w") as file:
    json.dump({"items": items}, file)
with open("/output/result.json", "w") as file:
    json.dump(result, file)
`;

/** Made up for the purpose: whoever reads the contract sees them, so no real answer belongs here. */
const FIXTURES = {
  'adds-up.json': Buffer.from('{"items": [1, 2, 3], "total": 6}\n'),
  'one-off.json': Buffer.from('{"items": [1, 2, 3], "total": 7}\n'),
  'not-json.json': Buffer.from('{"items": [1, 2, 3], "total": \n'),
  'not-text.json': Buffer.from([0xff, 0xfe, 0x00]),
};

function fixture(
  key: string,
  filename: keyof typeof FIXTURES,
  expectedResult: string,
  description: string,
) {
  const content = FIXTURES[filename];
  const file = {
    role: 'report',
    filename,
    content_hash: `sha256:${sha256Hex(content)}`,
    size_bytes: content.length,
  };
  return {
    key,
    stage_key: 'sum_check',
    description,
    inputs: { reference: {}, artifacts: [file] },
    expected_result: expectedResult,
  };
}

const CONTRACT = {
  title: 'A report whose total is right',
  statement_md:
    'A report is verified when it is a JSON object whose items is a list of integers and whose total is their sum. ' +
    'Nothing is said about where the items come from, or about other members.',
  reference_inputs: [],
  stages: [
    {
      key: 'sum_check',
      kind: 'sandbox',
      title: 'Sum',
      description_md:
        'Reads the report and adds up its items. Establishes that total is their sum.',
      implementation: './checker.py',
    },
  ],
  submission_requirements: {
    accepts_text_only: false,
    required_artifacts: [
      {
        role: 'report',
        description: 'The report, as JSON.',
        media_types: ['application/json'],
        max_bytes: 1_048_576,
      },
    ],
  },
  result_kind: 'pass_fail',
  conformance_fixtures: [
    fixture('adds_up', 'adds-up.json', 'verified', 'A report as it should be.'),
    fixture('one_off', 'one-off.json', 'refuted', 'A total that is one too many.'),
    fixture('not_json', 'not-json.json', 'refuted', 'Text that breaks off before its end.'),
    fixture('not_text', 'not-text.json', 'inconclusive', 'Bytes that are no UTF-8 at all.'),
  ],
};

const CAMPAIGN = {
  slug: 'reports',
  title: 'Reports',
  summary: 'Reports whose totals are right, one problem for each.',
};

const PROBLEM = {
  slug: 'first-report',
  title: 'The first report',
  summary: 'Write a report whose total is right.',
};

const STATEMENT = `# The first report

Write a report: a JSON object with \`items\`, a list of integers, and \`total\`, their sum.

Submit it in the role \`report\`. A program adds up the items; nothing else is looked at.
`;
