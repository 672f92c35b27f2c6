import type { Screen } from '../host.ts';
import { pad, widthOf } from './text.ts';

/** The operator's key, so that nobody overlooks that it is shown this once. */
export function toKeyBox(
  key: string,
  { colors, columns }: Pick<Screen, 'colors' | 'columns'>,
): string {
  const lines = [
    'The operator’s key, shown once. Only its hash is stored.',
    'Lost? "kervyxa operator-key" makes another one.',
    '',
    key,
  ];
  const width = Math.max(...lines.map(widthOf));
  // On a narrow terminal a broken box would hide the key instead of showing it.
  if (width + 4 > columns) return ['', ...lines, '', ''].join('\n');
  const rows = lines.map((line) => {
    const text = pad(line, width);
    return `│ ${line === key ? colors.bold(text) : text} │`;
  });
  const edge = '─'.repeat(width + 2);
  return [`┌${edge}┐`, ...rows, `└${edge}┘`, ''].join('\n');
}
