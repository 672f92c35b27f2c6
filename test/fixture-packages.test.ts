import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { drawInvoices } from '../fixtures/document-extraction/generator/invoices.ts';
import { makeRecords, toCsv } from '../fixtures/document-extraction/generator/records.ts';

// What lies in a hidden package is real files. These were made by the generators of the public ones, with other seeds.

const FIXTURES = join(import.meta.dirname, '../fixtures');

// Keeps R-FIXTURES.
it.each([
  ['held-out', makeRecords(2, 18)],
  ['plain', makeRecords(3, 6, ['plain'])],
])(
  'the hidden invoices of %s are drawn from the records of their answers',
  async (name, records) => {
    const folder = join(FIXTURES, 'document-extraction/package', name);
    const invoices = await drawInvoices(records);
    expect(await readdir(join(folder, 'invoices'))).toEqual(Object.keys(invoices));
    for (const [file, bytes] of Object.entries(invoices)) {
      expect((await readFile(join(folder, 'invoices', file))).equals(bytes)).toBe(true);
    }
    expect(await readFile(join(folder, 'extracted.csv'), 'utf8')).toBe(toCsv(records));
  },
);
