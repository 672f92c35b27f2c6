import { AUDIT_KINDS, type AuditEntry } from '@kervyxa/db';
import { z } from 'zod';
import type { Api, ApiContext } from '../context.ts';
import { PROBLEM_ANSWER } from '../http/openapi.ts';
import { PageQuery, pageOf, pageViewOf } from '../http/pages.ts';
import { CountField, TimeField, toTime } from '../views/fields.ts';

const TAGS = ['evidence'];
const HeadView = z.strictObject({ seq: CountField, hash: z.string() });
const EntryView = z.strictObject({
  seq: CountField,
  at: TimeField,
  kind: z.enum(AUDIT_KINDS),
  subject: z.string().describe('The id of what it is about.'),
  digest: z.string().nullable(),
  facts: z.record(z.string(), z.string().nullable()),
  salt: z.string(),
  prevHash: z.string(),
  hash: z
    .string()
    .describe('SHA-256 of the RFC 8785 text of all the others and schema: kervyxa.audit.v1.'),
});
const AuditCheckView = z.strictObject({
  entryCount: CountField,
  problem: z.string().nullable().describe('Where the log breaks first; null where it holds.'),
});

export function registerAudit(app: Api, { database }: ApiContext): void {
  const { reads } = database;

  app.get(
    '/v1/audit',
    {
      config: { access: ['operator'] },
      schema: {
        tags: TAGS,
        summary: 'The audit log, oldest first, and its head: keep that elsewhere',
        querystring: PageQuery,
        response: {
          200: pageViewOf(EntryView).extend({
            head: HeadView.describe('The last entry there is, on whatever page.'),
          }),
          default: PROBLEM_ANSWER,
        },
      },
    },
    async (request, reply) => {
      const [page, { seq, hash }] = await Promise.all([
        reads.listAudit(pageOf(request.query)),
        reads.auditHead(),
      ]);
      return reply.send({
        items: page.items.map(toEntryView),
        next: page.next,
        head: { seq: seq.toString(), hash },
      });
    },
  );

  app.get(
    '/v1/audit/check',
    {
      config: { access: ['operator'] },
      schema: {
        tags: TAGS,
        summary: 'Walks the audit log from its first entry, and holds what is kept against it',
        response: { 200: AuditCheckView, default: PROBLEM_ANSWER },
      },
    },
    async (_request, reply) => {
      const { entryCount, problem } = await reads.checkAudit();
      return reply.send({ entryCount: entryCount.toString(), problem });
    },
  );
}

function toEntryView({ seq, at, ...entry }: AuditEntry): z.infer<typeof EntryView> {
  const { kind, subject, digest, facts, salt, prevHash, hash } = entry;
  return {
    seq: seq.toString(),
    at: toTime(at),
    kind,
    subject,
    digest,
    facts: { ...facts },
    salt,
    prevHash,
    hash,
  };
}
