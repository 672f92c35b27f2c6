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
