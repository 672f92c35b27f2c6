import { toPrintable } from '@kervyxa/core';

const TEXT_LENGTH_MAX = 2_000;
const INDENT = '  ';

/** What an API answered, for a person: a line a member, a block an item, the parts of a member indented below it. */
export function toAnswerText(answer: Readonly<Record<string, unknown>>): string {
  const { items, next, ...members } = answer;
  if (!Array.isArray(items)) return `${toBlock(answer).join('\n')}\n`;
  const blocks = items.map((item) => `${toLines(item).join('\n')}\n`);
  if (items.length === 0) blocks.push('none\n');
  if (typeof next === 'string') blocks.push(`${toBlock({ ...members, next }).join('\n')}\n`);
  return blocks.join('\n');
}

function toBlock(members: object): string[] {
  const entries = Object.entries(members);
  const width = Math.max(...entries.filter(([, value]) => !hasParts(value)).map(lengthOfName), 0);
  return entries.flatMap(([name, value]) => {
    if (!hasParts(value)) return [`${toPrintable(name).padEnd(width)}  ${toWord(value)}`];
    return [toPrintable(name), ...toLines(value).map((line) => `${INDENT}${line}`)];
  });
}

function toLines(value: unknown): string[] {
  if (!hasParts(value)) return [toWord(value)];
  if (!Array.isArray(value)) return toBlock(value);
  return value.flatMap((item) =>
    toLines(item).map((line, index) => `${index === 0 ? '- ' : INDENT}${line}`),
  );
}

/** Words of a list, and what is empty, stand on the line of their name. */
function hasParts(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((item) => typeof item === 'object' && item !== null);
  return Object.keys(value).length > 0;
}

function toWord(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(toWord).join(', ');
  if (typeof value === 'object') return '-';
  return toPrintable(String(value).trimEnd(), TEXT_LENGTH_MAX);
}

function lengthOfName([name]: readonly [string, unknown]): number {
  return toPrintable(name).length;
}
