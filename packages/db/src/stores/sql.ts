import { types } from 'pg';
import type pg from 'pg';
import { toDbError } from '../driver-errors.ts';

/** A pool, or one connection on which a transaction may have begun. */
export interface Sql {
  query<Row extends pg.QueryResultRow>(
    config: pg.QueryConfig<unknown[]>,
  ): Promise<pg.QueryResult<Row>>;
}

const INT8 = 20;

// Amounts and places in line are `bigint`, never text: '10' + '5' is '105' (THREATS S09).
const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === INT8 && format !== 'binary' ? BigInt : types.getTypeParser(oid, format),
};

/** `Row` says what the statement selects; the columns' types are those of the schema. Throws DB_UNAVAILABLE. */
export async function queryRows<Row extends object>(
  sql: Sql,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const { rows } = await told(sql.query<Row>({ text, values: [...values], types: TYPES }));
  return rows;
}

/** How many rows were changed. Throws DB_UNAVAILABLE. */
export async function runChange(
  sql: Sql,
  text: string,
  values: readonly unknown[] = [],
): Promise<number> {
  const { rowCount } = await told(sql.query({ text, values: [...values] }));
  return rowCount ?? 0;
}

/**
 * The answers to statements that were sent together. Throws the first trouble, but not before the last of them was
 * answered: whoever has the connection next must find it quiet.
 */
export async function allAnswered<T extends readonly unknown[]>(
  answers: readonly [...{ [Index in keyof T]: Promise<T[Index]> }],
): Promise<T>;
export async function allAnswered(answers: readonly Promise<unknown>[]): Promise<unknown> {
  await Promise.allSettled(answers);
  return Promise.all(answers);
}

/** JSON text for a `jsonb` parameter, which holds no NUL and no half of a character, as programs print them. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => {
    if (typeof each === 'string') return toHeld(each);
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return each;
    return Object.fromEntries(Object.entries(each).map(([key, member]) => [toHeld(key), member]));
  });
}

function toHeld(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** Trouble with the connection by our name, whichever driver says it. */
export async function told<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw toDbError(error);
  }
}

/** Columns of a table but some, by the names that Prisma gives its fields: `requester_id AS "requesterId", …`. */
export function columnsOf<Field extends string>(
  fields: Readonly<Record<Field, string>>,
  alias: string,
  without: readonly NoInfer<Field>[] = [],
): string {
  const omitted = new Set<string>(without);
  return Object.keys(fields)
    .filter((field) => !omitted.has(field))
    .map((field) => `${alias}."${toColumn(field)}" AS "${field}"`)
    .join(', ');
}

function toColumn(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
