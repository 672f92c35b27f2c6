import { z } from 'zod';
import type { JsonObject } from './schema-parts.ts';
import { VerifierContractShapeSchema } from './schema.ts';

type Rule = JsonObject;

const NULL: Rule = { type: 'null' };

/**
 * VerifierContract 0.5.0, the published form, as JSON Schema 2020-12: docs/schemas/verifier-contract.schema.json. What
 * that language can't say (names that are unique or must be declared elsewhere, text that can be stored) is left out, so
 * it lets through a little more than `VerifierContractSchema`.
 */
export const VERIFIER_CONTRACT_JSON_SCHEMA: Rule = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:kervyxa:schema:verifier-contract:0.5.0',
  title: 'VerifierContract 0.5.0',
  description:
    'What an answer must be to be accepted, and the stages by which that is checked: immutable once it is published.',
  // Authors' own JSON Schemas are any object.
  ...withoutDialect(
    z.toJSONSchema(VerifierContractShapeSchema, { io: 'input', unrepresentable: 'any' }),
  ),
  allOf: conditionals(),
};

function withoutDialect({ $schema: _dialect, ...schema }: z.core.JSONSchema.JSONSchema) {
  return schema;
}

function conditionals(): Rule[] {
  return [
    when(
      { result_kind: { const: 'pass_fail' } },
      {
        score: NULL,
        stages: { items: { properties: { result_kind: { const: 'pass_fail' } } } },
        conformance_fixtures: { items: { properties: { expected_score: NULL } } },
      },
    ),
    when(
      { result_kind: { const: 'score' } },
      {
        score: { type: 'object' },
        stages: {
          contains: {
            properties: { kind: { const: 'sandbox' }, result_kind: { const: 'score' } },
            required: ['kind'],
          },
        },
      },
    ),
    when(
      {
        reference_inputs: {
          contains: { properties: { sealed: { const: true } }, required: ['sealed'] },
        },
      },
      {
        stages: {
          items: {
            if: { properties: { kind: { const: 'sandbox' } }, required: ['kind'] },
            // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
            then: { required: ['reference_input_slots'] },
          },
        },
      },
    ),
    when(
      {
        submission_requirements: {
          properties: { accepts_text_only: { const: false } },
          required: ['accepts_text_only'],
        },
      },
      {
        submission_requirements: { properties: { answer_format_md: NULL } },
        conformance_fixtures: {
          items: { properties: { inputs: { properties: { summary_text: NULL } } } },
        },
      },
    ),
    {
      properties: {
        conformance_fixtures: {
          items: when(
            { expected_result: { enum: ['refuted', 'inconclusive'] } },
            { expected_score: NULL },
          ),
        },
      },
    },
  ];
}

/** Where these properties are there and so, those are so. */
function when(found: Rule, wanted: Rule): Rule {
  return {
    if: { properties: found, required: Object.keys(found) },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { properties: wanted },
  };
}
