import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { EvaluationRecordSchema } from '../evaluation/record.ts';

const FILE = 'docs/schemas/operator-task-verifier-evaluation.v1.schema.json';
const SCHEMA = JSON.parse(readFileSync(join(import.meta.dirname, '../../../..', FILE), 'utf8'));
const validate = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false }).compile(
  SCHEMA,
);

/** Whether the schema that others get takes the record; our own must be of the same mind. */
export function isValidRecord(record: unknown): boolean {
  const isValid = validate(record);
  expect(EvaluationRecordSchema.safeParse(record).success).toBe(isValid);
  return isValid;
}
