// Boils the Linguist table down to what language rules need: the whole of it takes 0.3 s to load, on every start of
// the command line. Run after an update of linguist-languages:
//   node packages/contract/scripts/linguist-table.ts && npx prettier --write packages/contract/src/linguist-table.json
import { writeFileSync } from 'node:fs';

import * as linguist from 'linguist-languages';

import type { LinguistTable } from '../src/languages.ts';

interface SourceLanguage {
  readonly name: string;
  readonly type: string;
  readonly group?: string;
  readonly aliases?: readonly string[];
  readonly extensions?: readonly string[];
  readonly filenames?: readonly string[];
}

/** The table of the installed linguist-languages. */
export function buildLinguistTable(): LinguistTable {
  const languages: SourceLanguage[] = Object.values(linguist);
  return Object.fromEntries(
    languages.map(({ name, type, group, aliases = [], extensions = [], filenames = [] }) => [
      name,
      {
        type,
        ...(group !== undefined && { group }),
        aliases,
        extensions: extensions.map((extension) => extension.toLowerCase()),
        filenames,
      },
    ]),
  );
}

if (import.meta.main) {
  const target = new URL('../src/linguist-table.json', import.meta.url);
  writeFileSync(target, JSON.stringify(buildLinguistTable()));
}
