import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ContractKindSchema,
  ContractSchema,
  CriterionSchema,
  LIMIT_RANGES,
  lintContract,
  METRIC_OPS,
  METRIC_SOURCES,
  parseContract,
  type ContractInput,
} from '@kervyxa/contract';
import { CriterionResultSchema, VerificationResultSchema } from '@kervyxa/verifier';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const GUIDE = readFileSync(join(ROOT, 'docs/contracts.md'), 'utf8');
const SETTINGS = { allowedOrigins: [], catalogue: ['kervyxa-runtime/node:22'] };

function blocks(info: string): string[] {
  return GUIDE.split(`\n\`\`\`${info}\n`)
    .slice(1)
    .map((text) => text.split('\n```\n')[0] ?? '');
}

const [exampleText = ''] = blocks('json contract');
const EXAMPLE: ContractInput = JSON.parse(exampleText);
const CRITERIA: ContractInput['criteria'] = blocks('json criterion').map((text) =>
  JSON.parse(text),
);

/** What approval refuses, or wants an answer to. */
function objections(document: unknown): string[] {
  return lintContract(document, null, SETTINGS)
    .filter(({ severity }) => severity !== 'advise')
    .map(({ code, pointer, message }) => `${code} at ${pointer}: ${message}`);
}

/** Every name of a field in the shape of a schema, however deep. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...namesIn(inner)]);
}

function missing(names: readonly string[]): string[] {
  return [...new Set(names)].filter((name) => !GUIDE.includes(`\`${name}\``));
}

describe('the guide to contracts', () => {
  it('shows a contract that approval has nothing against', () => {
    expect(objections(EXAMPLE)).toEqual([]);
  });

  it('shows no JSON that is not tested here', () => {
    const all = GUIDE.match(/^```json.*$/gm) ?? [];
    expect(all).toHaveLength(1 + CRITERIA.length);
  });

  it.each(CRITERIA.map((criterion) => [`${criterion.type} ${criterion.id}`, criterion] as const))(
    'shows a criterion of type %s that approval has nothing against',
    (_name, criterion) => {
      const others = EXAMPLE.criteria.filter(({ id }) => id !== criterion.id);
      // A checker looks at what solvers change, every other one at what they must not.
      const { protectedPaths } = EXAMPLE.constraints;
      const constraints = {
        ...EXAMPLE.constraints,
        protectedPaths: criterion.type === 'checker' ? protectedPaths : ['**'],
      };
      const criteria = [...others, criterion];
      expect(objections({ ...EXAMPLE, constraints, criteria })).toEqual([]);
    },
  );

  it('shows a criterion of every type', () => {
    const types = CriterionSchema.options.map(({ shape }) => shape.type.value);
    expect(new Set(CRITERIA.map(({ type }) => type))).toEqual(new Set(types));
  });

  it('explains every field, kind, source and operator', () => {
    const contract = parseContract({ ...EXAMPLE, criteria: [...EXAMPLE.criteria, ...CRITERIA] });
    expect(
      missing([
        ...Object.keys(ContractSchema.shape),
        ...namesIn(contract),
        ...ContractKindSchema.options,
        ...METRIC_SOURCES,
        ...METRIC_OPS,
      ]),
    ).toEqual([]);
  });

  it('explains every field of a result', () => {
    const fields = [VerificationResultSchema, CriterionResultSchema].flatMap(({ shape }) =>
      Object.keys(shape),
    );
    expect(missing(fields)).toEqual([]);
  });

  it('has every limit with its range, and no other', () => {
    const section = GUIDE.split('\n### Limits\n')[1]?.split('\n#')[0] ?? '';
    const rows = section
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => line.replaceAll(/[`\s]/g, '').split('|').slice(1, -1));
    const limits = Object.entries(LIMIT_RANGES);
    expect(rows).toEqual(limits.map(([name, { min, max }]) => [name, String(min), String(max)]));
  });
});

describe("the guide's harness", () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kervyxa-guide-'));
    const harness = blocks('js').find((text) => text.includes('const cases')) ?? '';
    mkdirSync(join(folder, 'check'));
    writeFileSync(join(folder, 'check/judge.js'), harness);
    writeFileSync(join(folder, 'check/cases.json'), '[["A  b!", "a-b"], ["C", "c"]]');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function judge(source: string): number | null {
    writeFileSync(join(folder, 'slug.js'), source);
    const args = ['--disable-sigusr1', 'check/judge.js', 'check/cases.json'];
    return spawnSync(process.execPath, args, { cwd: folder, env: {} }).status;
  }

  it('lets an honest solution pass', () => {
    const body = `text.toLowerCase().match(/[a-z0-9]+/g).join('-')`;
    expect(judge(`exports.slug = (text) => ${body};`)).toBe(0);
  });

  it.each([
    ['gives wrong answers', `exports.slug = (text) => text.toLowerCase();`],
    ['leaves with 0 at import', `console.log('all passed'); process.exit(0);`],
    ['throws', `exports.slug = () => { throw new Error('no'); };`],
    ['answers nothing', `exports.slug = () => '';`],
    ['answers an object that says it is equal', `exports.slug = () => ({ __proto__: null });`],
    [
      'rewrites the cases first',
      `require('node:fs').writeFileSync('check/cases.json', '[]'); exports.slug = () => '';`,
    ],
    ['starts another process', `require('node:child_process').execSync('kill $PPID');`],
  ])('fails code that %s', (_attack, source) => {
    expect(judge(source)).toBe(1);
  });
});

describe("the guide's judge", () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kervyxa-guide-'));
    const judge = blocks('js').find((text) => text.includes('process.argv[2]}/answers.json')) ?? '';
    mkdirSync(join(folder, 'output'));
    writeFileSync(join(folder, 'judge.js'), judge);
    writeFileSync(join(folder, 'answers.json'), '[42]\n');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it.each([
    ['the answer', '[42]\n', 0],
    ['another answer of the same size', '[41]\n', 1],
    ['nothing', '', 1],
    ['an endless nesting', '['.repeat(100_000), 1],
    ['bytes that are no text', Uint8Array.of(0xff, 0, 0xfe, 10, 0x80), 1],
  ])('answers for %s', (_title, content, status) => {
    writeFileSync(join(folder, 'output/answers.json'), content);
    const args = [join(folder, 'judge.js'), join(folder, 'output')];
    expect(spawnSync(process.execPath, args, { env: {} }).status).toBe(status);
  });
});
