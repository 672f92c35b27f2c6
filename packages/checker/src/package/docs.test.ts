import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AuthoredContractSchema, STAGE_LIMIT_RANGES } from '../contract/authored.ts';
import { LINT_TABLE } from '../contract/lint-table.ts';
import { isJsonObject } from '../contract/schema-parts.ts';
import { fixFixtures } from './fix-fixtures.ts';
import { BUILTINS } from './implementation.ts';
import { readCheckerFolder } from './read-folder.ts';
import { starterFiles } from './starter.ts';

const TEXT = readFileSync(join(import.meta.dirname, '../../../../docs/checkers.md'), 'utf8');

/** The rows of the table with this first heading, each as its cells without back quotes. */
function tableOf(heading: string): string[][] {
  const lines = TEXT.split('\n');
  const first = lines.findIndex((line) => new RegExp(`^\\| ${heading} +\\|`).test(line)) + 2;
  const after = lines.findIndex((line, at) => at > first && !line.startsWith('|'));
  return lines.slice(first, after).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

/** Every field of a JSON Schema, as the table writes it: `stages[].key`. */
function fieldsOf(schema: unknown, at = ''): string[] {
  if (!isJsonObject(schema)) return [];
  const { properties, items, additionalProperties, ...rest } = schema;
  const isOwn = at !== '' && !at.endsWith('{}') && !isJsonObject(additionalProperties);
  const own = isOwn ? [at] : [];
  const forms = [rest['anyOf'], rest['oneOf']].flatMap((each) => (Array.isArray(each) ? each : []));
  return [
    ...(isJsonObject(items) ? fieldsOf(items, `${at}[]`) : own),
    ...(isJsonObject(additionalProperties)
      ? [`${at}{}`, ...fieldsOf(additionalProperties, `${at}{}`)]
      : []),
    ...forms.flatMap((form) => fieldsOf(form, at)),
    ...(isJsonObject(properties)
      ? Object.entries(properties).flatMap(([key, each]) =>
          fieldsOf(each, at === '' ? key : `${at}.${key}`),
        )
      : []),
  ];
}

describe('docs/checkers.md', () => {
  it('has every field of a contract, and no other', () => {
    const schema = z.toJSONSchema(AuthoredContractSchema, { io: 'input', unrepresentable: 'any' });
    // One value or a list of them: a row tells both.
    const fields = new Set(fieldsOf(schema).filter((field) => !field.endsWith('.value[]')));
    const told = tableOf('field').map(([field = '']) => field);
    expect(told.toSorted()).toEqual([...fields].toSorted());
  });

  it('has every code of lint with its severity and meaning, and no other', () => {
    const codes = Object.entries(LINT_TABLE).map(([code, { severity, meaning }]) => [
      code,
      severity,
      meaning.replaceAll('`', ''),
    ]);
    expect(tableOf('code')).toEqual(codes);
  });

  it('has the limits as they are', () => {
    const limits = Object.entries(STAGE_LIMIT_RANGES).map(([name, range]) =>
      [name, range.default, range.min, range.max].map(String),
    );
    expect(tableOf('limit')).toEqual(limits);
  });

  it('names every builtin with what it reads', () => {
    const words = TEXT.replaceAll(/\s+/g, ' ');
    for (const [name, { role, slot }] of Object.entries(BUILTINS)) {
      expect(words).toContain(`\`kervyxa-builtin/${name}\` (the role \`${role}\``);
      expect(words).toContain(`the slot \`${slot}\`)`);
    }
  });

  it('has an example that lint has nothing against, once its hashes are written', () => {
    const [, example = ''] = /```json checker-contract\n([^]*?)```/.exec(TEXT) ?? [];
    const files = new Map(starterFiles('checker')).set(
      'verifier-contract.json',
      Buffer.from(example),
    );
    const codes = readCheckerFolder(files, '0').findings.map(({ code }) => code);
    expect(new Set(codes)).toEqual(new Set(['fixture_hash_wrong']));
    const [fixed] = fixFixtures(files);
    files.set('verifier-contract.json', fixed?.content ?? Buffer.from(''));
    expect(readCheckerFolder(files, '0').findings).toEqual([]);
  });
});
