import { ROLES, type PrincipalRow } from '@kervyxa/db';
import { z } from 'zod';
import { PrincipalIdField, TimeField, toTime } from './fields.ts';

export const PrincipalView = z.strictObject({
  id: PrincipalIdField,
  name: z.string(),
  roles: z.array(z.enum(ROLES)),
  createdAt: TimeField,
});

export const NewPrincipalView = PrincipalView.extend({
  apiKey: z
    .string()
    .nullable()
    .describe('Shown once; null in a repeated answer, since only its hash is kept.'),
});

export function toPrincipalView(row: PrincipalRow): z.infer<typeof PrincipalView> {
  return { id: row.id, name: row.name, roles: [...row.roles], createdAt: toTime(row.createdAt) };
}
