import {
  boundTo,
  entriesEndAt,
  isReleased,
  mayRead,
  type ProblemCase,
  SealingSchema,
} from '@kervyxa/checker';
import type { ProblemItem, ProblemRow } from '@kervyxa/db';
import { z } from 'zod';
import type { ProblemSight } from '../auth/problem-access.ts';
import {
  CountField,
  EntryIdField,
  KeyField,
  PrincipalIdField,
  ProblemIdField,
  PublishedContractIdField,
  TimeField,
  toTime,
  toTimeOrNull,
} from './fields.ts';

const BindingView = z.strictObject({
  filename: z.string(),
  mediaType: z.string().nullable(),
  sizeBytes: CountField,
  contentHash: z.string(),
  url: z.string().nullable().describe('Of what is elsewhere; hash and size are only stated.'),
});

export const ProblemView = z.strictObject({
  id: ProblemIdField,
  ownerId: PrincipalIdField,
  contractId: PublishedContractIdField,
  title: z.string(),
  state: z.enum(['DRAFT', 'OPEN', 'CLOSED']),
  sealing: SealingSchema.nullable(),
  releasedAt: TimeField.nullable().describe('When the sealed bytes were released early.'),
  isReleased: z
    .boolean()
    .describe('Whether everybody reads what was sealed; true where nothing is.'),
  entriesEndAt: TimeField.nullable().describe('From then on nothing is submitted or nominated.'),
  createdAt: TimeField,
});

export const ProblemDetail = ProblemView.extend({
  statement: z.string(),
  invited: z.array(PrincipalIdField).nullable().describe('To owner and operator; null: everybody.'),
  inputs: z.array(
    z.strictObject({
      slot: KeyField,
      isRequired: z.boolean(),
      isSealed: z.boolean(),
      isBound: z.boolean(),
      binding: BindingView.nullable().describe('Null too where the caller may not read it yet.'),
    }),
  ),
  own: z
    .strictObject({ entries: z.int(), nominated: EntryIdField.nullable() })
    .nullable()
    .describe("The caller's own part in it."),
});

export function toProblemView(row: ProblemItem, now: Date): z.infer<typeof ProblemView> {
  const { facts } = row;
  return {
    id: row.id,
    ownerId: facts.ownerId,
    contractId: facts.contractId,
    title: row.title,
    state: facts.state,
    sealing: facts.sealing,
    releasedAt: facts.releasedAt,
    isReleased: isReleased(facts, now),
    entriesEndAt: toTimeOrNull(entriesEndAt(facts)),
    createdAt: toTime(row.createdAt),
  };
}

export function toProblemDetail(
  row: ProblemRow,
  sight: ProblemSight,
  now: Date,
): z.infer<typeof ProblemDetail> {
  const { facts } = row;
  return {
    ...toProblemView(row, now),
    statement: row.statement,
    invited: sight.seesAll ? facts.invited : null,
    inputs: facts.slots.map(({ key, required, sealed }) => ({
      slot: key,
      isRequired: required,
      isSealed: sealed,
      isBound: boundTo(facts, key) !== undefined,
      binding: readsSlot(facts, sight, key, now) ? toBindingView(facts, key) : null,
    })),
    own: facts.entrants[sight.viewerId] ?? null,
  };
}

/** Whether the bytes of a slot, and so their size and digest, are the viewer's to know. */
export function readsSlot(
  facts: ProblemCase,
  { viewerId, seesAll }: ProblemSight,
  slot: string,
  now: Date,
): boolean {
  const id = seesAll ? facts.ownerId : viewerId;
  return mayRead(facts, { kind: 'person', id }, slot, now);
}

function toBindingView(facts: ProblemCase, slot: string): z.infer<typeof BindingView> | null {
  const binding = boundTo(facts, slot);
  return binding === undefined ? null : { ...binding, sizeBytes: String(binding.sizeBytes) };
}
