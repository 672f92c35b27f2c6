import { toPrintable } from '@kervyxa/core';
import { ROLES } from '@kervyxa/db';
import { z } from 'zod';
import { createApiKey, hashOfKey } from '../auth/api-key.ts';
import { principalOf } from '../auth/authenticate.ts';
import type { Api, ApiContext } from '../context.ts';
import { callOf, runKept, sendJson } from '../http/answers.ts';
import { PROBLEM_ANSWER } from '../http/openapi.ts';
import { PrincipalIdField } from '../views/fields.ts';
import { NewPrincipalView, PrincipalView, toPrincipalView } from '../views/principal-view.ts';

const TAGS = ['principals'];
const PrincipalInput = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(100)
    .refine(
      (name) => toPrintable(name) === name && name.trim() === name,
      'expected printable text',
    ),
  roles: z
    .array(z.enum(ROLES))
    .min(1)
    .refine((roles) => new Set(roles).size === roles.length, 'expected every role once'),
  invitedBy: PrincipalIdField.optional().describe(
    'Who brought them in: of that one’s problems and entries they judge nothing.',
  ),
});

export function registerPrincipals(app: Api, { database, randomBytes }: ApiContext): void {
  app.get(
    '/v1/me',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'Whose key this is',
        response: { 200: PrincipalView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => reply.send(toPrincipalView(principalOf(request))),
  );

  app.post(
    '/v1/principals',
    {
      config: { access: ['operator'] },
      schema: {
        tags: TAGS,
        summary: 'Makes a principal and its API key, which is shown this once',
        body: PrincipalInput,
        response: { 201: NewPrincipalView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const apiKey = createApiKey(randomBytes);
      const { name, roles, invitedBy } = request.body;
      const { answer, isReplay } = await runKept((keep) =>
        database.commands.createPrincipal(
          callOf(request, request.body),
          { name, roles, invitedById: invitedBy ?? null, keyHash: hashOfKey(apiKey) },
          // What is kept under the Idempotency-Key is kept without the key.
          (row) => keep(201, { ...toPrincipalView(row), apiKey: null }),
        ),
      );
      if (isReplay) {
        reply.header('idempotency-replayed', 'true');
        return sendJson(reply, answer.status, answer.body);
      }
      const view = { ...JSON.parse(answer.body), apiKey };
      return sendJson(reply, answer.status, JSON.stringify(view));
    },
  );
}
