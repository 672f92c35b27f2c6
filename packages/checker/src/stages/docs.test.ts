import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SealingSchema } from './problem-case.ts';
import { ReviewProtocolTermsSchema } from './review-protocol.ts';

const TEXT = readFileSync(join(import.meta.dirname, '../../../../docs/checkers.md'), 'utf8');

/** The names in the first column of the first table below a heading. */
function fieldsUnder(heading: string): readonly string[] {
  const section = TEXT.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  const [table = ''] = /^\|[^]*?(?=\n\n)/m.exec(section) ?? [];
  const rows = table.split('\n').slice(2);
  return rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  );
}

describe('docs/checkers.md', () => {
  it('shows a review protocol that is one', () => {
    const [, example = ''] = /```json review-protocol\n([^]*?)```/.exec(TEXT) ?? [];
    expect(ReviewProtocolTermsSchema.safeParse(JSON.parse(example)).error).toBeUndefined();
  });

  it('has every field of a review protocol, and no other', () => {
    const { nodes, ...fields } = ReviewProtocolTermsSchema.shape;
    const ofNodes = Object.keys(nodes.element.shape).map((name) => `nodes[].${name}`);
    const told = fieldsUnder('Reviews').map((name) => name.replace(/\[\]$/, ''));
    expect(told.filter((name) => !/^(roles|people)$/.test(name)).toSorted()).toEqual(
      [...Object.keys(fields), 'nodes', ...ofNodes].toSorted(),
    );
  });

  it('has every field of a sealing policy, and no other', () => {
    expect(fieldsUnder('Sealed inputs').filter((name) => name in SealingSchema.shape)).toEqual(
      Object.keys(SealingSchema.shape),
    );
  });
});
