import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

/** For tests: a call that the API describes of itself. */
export interface DescribedRoute {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** `/v1/runs/{id}/logs/{criterionId}`. */
  readonly path: string;
  /** JSON schema of its JSON body; null where it takes none. */
  readonly body: JsonSchema | null;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

const SchemaSchema = z.record(z.string(), z.unknown());
const OperationSchema = z.looseObject({
  requestBody: z
    .looseObject({
      content: z.looseObject({
        'application/json': z.looseObject({ schema: SchemaSchema }).optional(),
      }),
    })
    .optional(),
});
const DocumentSchema = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), OperationSchema)),
});

/** For tests: all calls of the API, from its own table of routes, so that a new one is among them by itself. */
export function describedRoutes(app: FastifyInstance): readonly DescribedRoute[] {
  const { paths } = DocumentSchema.parse(app.swagger());
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { requestBody }]) => ({
      method: z.enum(['GET', 'POST', 'PUT']).parse(method.toUpperCase()),
      path,
      body: requestBody?.content['application/json']?.schema ?? null,
    })),
  );
}

/** What a string field takes where its form is not told by an enum. */
const TEXTS: Readonly<Record<string, string>> = {
  commit: 'c'.repeat(40),
  repositoryUrl: 'https://git.example.org/a/b.git',
  amountMinor: '1',
  currency: 'USD',
  reference: 'payment-1',
  principalId: `prn_${'0'.repeat(26)}`,
  contractId: `vct_${'0'.repeat(26)}`,
  verifierId: `vfr_${'0'.repeat(26)}`,
  invited: `prn_${'0'.repeat(26)}`,
  invitedBy: `prn_${'0'.repeat(26)}`,
  package: 'a'.repeat(64),
  key: 'a'.repeat(64),
  fingerprint: `sha256:${'a'.repeat(64)}`,
  role: 'answer',
  stage: 'form',
  node: 'readers',
  sealed_until: '2100-01-02T00:00:00Z',
  score_release: '2100-01-01T00:00:00Z',
  cutoff: '2100-01-01T00:00:00Z',
};

/** What in bodies is open to any JSON: its form is somebody's document's matter, not ours. */
export const OPEN_FIELDS: ReadonlySet<string> = new Set(['evidence']);

/** For tests: a value that the schema takes; of several kinds the first. */
export function sampleOf(schema: JsonSchema, name = ''): unknown {
  const alternatives = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(alternatives)) return sampleOf(SchemaSchema.parse(alternatives[0]), name);
  if (schema['const'] !== undefined) return schema['const'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  switch (schema['type']) {
    case 'object':
      return Object.fromEntries(
        Object.entries(SchemaSchema.parse(schema['properties'] ?? {})).map(([key, value]) => [
          key,
          sampleOf(SchemaSchema.parse(value), key),
        ]),
      );
    case 'array':
      return [sampleOf(SchemaSchema.parse(schema['items'] ?? {}), name)];
    case 'string':
      return TEXTS[name] ?? `a ${name}`;
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return true;
    default:
      return null;
  }
}
