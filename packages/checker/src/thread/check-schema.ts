/** One thing in a value that its schema refuses. */
export interface SchemaProblem {
  /** JSON Pointer into the value. */
  readonly pointer: string;
  /** Printable. */
  readonly message: string;
}

export type SchemaCheck =
  | { readonly kind: 'valid' }
  /** The first problems, never none. */
  | { readonly kind: 'invalid'; readonly problems: readonly SchemaProblem[] }
  /** It is no JSON Schema 2020-12 that we check, or takes more time or memory than it may. */
  | { readonly kind: 'schema_broken'; readonly message: string };

export interface SchemaCheckLimits {
  readonly timeoutMs: number;
  readonly memoryMb: number;
}

/**
 * Checks a JSON value against a JSON Schema 2020-12 of an author's, in a thread of its own: local references only,
 * formats are annotations, regular expressions as RE2. Without a schema to blame it throws CHECKER_SCHEMA_UNCHECKED.
 */
export async function checkAgainstSchema(
  _schema: unknown,
  _value: unknown,
  _limits?: Partial<SchemaCheckLimits>,
): Promise<SchemaCheck> {
  throw new TypeError('not yet');
}
