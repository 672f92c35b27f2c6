import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import { z } from 'zod';

/** For tests: an answer of the API that is as the OpenAPI document says. */
export interface Answered {
  readonly status: number;
  readonly headers: LightMyRequestResponse['headers'];
  readonly text: string;
  /** `code` of a problem; null where it is none. */
  readonly code: string | null;
  /** Of a JSON answer: its members, its `id` and its `items`; empty where there are none. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly id: string;
  readonly items: readonly Readonly<Record<string, unknown>>[];
}

const FieldsSchema = z.looseObject({
  id: z.string().default(''),
  items: z.array(z.record(z.string(), z.unknown())).default([]),
});

const OperationSchema = z.looseObject({
  responses: z.record(
    z.string(),
    z.looseObject({ content: z.record(z.string(), z.looseObject({ schema: z.unknown() })) }),
  ),
});
const DocumentSchema = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), OperationSchema)),
});

/** For tests: holds an answer against the document that the API gives of itself. */
export function checkAnswer(
  app: FastifyInstance,
  response: LightMyRequestResponse,
  { method, url }: { readonly method: string; readonly url: string },
): Answered {
  const { statusCode: status, headers, body: text } = response;
  const type = String(headers['content-type'] ?? '').split(';')[0] ?? '';
  expect(headers['x-request-id']).toMatch(/^req_[\w-]{12}_\w+$/);
  const operation = operationOf(app, method, url);
  const isProblem = type === 'application/problem+json';
  if (operation !== null) {
    const said = operation.responses[String(status)] ?? operation.responses.default;
    const schema = said?.content[type]?.schema;
    expect(
      schema,
      `${method} ${url} answers ${status} ${type}, which is not documented`,
    ).toBeDefined();
    if (type.endsWith('json')) validatorOf(schema).parse(JSON.parse(text));
  }
  if (isProblem)
    expect(JSON.parse(text)).toMatchObject({ status, instance: headers['x-request-id'] });
  else if (operation === null) expect(status).toBeLessThan(400);
  // Nothing in any answer that a terminal obeys, or that hides or turns what is beside it.
  if (type.endsWith('json')) {
    expect(text).not.toMatch(
      /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/,
    );
  }
  const fields = type.endsWith('json') ? JSON.parse(text) : {};
  const { id, items } = FieldsSchema.parse(fields);
  return { status, headers, text, code: isProblem ? fields.code : null, fields, id, items };
}

/** Null for a path or method that there is not. */
function operationOf(app: FastifyInstance, method: string, url: string) {
  const { paths } = DocumentSchema.parse(app.swagger());
  const [path = ''] = url.split('?');
  const template = Object.keys(paths).find((each) =>
    new RegExp(`^${each.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  return template === undefined ? null : (paths[template]?.[method.toLowerCase()] ?? null);
}

const validators = new WeakMap<object, z.ZodType>();

function validatorOf(schema: unknown): z.ZodType {
  const key = z.record(z.string(), z.unknown()).parse(schema);
  const known = validators.get(schema as object);
  if (known !== undefined) return known;
  const validator = z.fromJSONSchema(key);
  validators.set(schema as object, validator);
  return validator;
}
