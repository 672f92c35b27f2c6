import { ROLES, type PrincipalRow } from '@kervyxa/db';
import { z } from 'zod';
import { PrincipalIdField, TimeField, toTime } from './fields.ts';

export const PrincipalView = z.strictObject({
  id: PrincipalIdField,
  name: z.string(),
  roles: z.array(z.enum(ROLES)),
  invitedBy: PrincipalIdField.nullable().describe('Who brought them in, where somebody did.'),
  createdAt: TimeField,
});

export const NewPrincipalView = PrincipalView.extend({
  apiKey: z
    .string()
    .nullable()
    .describe('Shown once; null in a repeated answer, since only its hash is kept.'),
});

export function toPrincipalView(row: PrincipalRow): z.infer<typeof PrincipalView> {
  const { id, name, roles, invitedById: invitedBy, createdAt } = row;
  return { id, name, roles: [...roles], invitedBy, createdAt: toTime(createdAt) };
}
