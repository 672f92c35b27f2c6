import { randomBytes } from 'node:crypto';
import type { Database, Role } from '@kervyxa/db';
import { createApiKey, hashOfKey } from '../auth/api-key.ts';

export interface Person {
  readonly id: string;
  readonly key: string;
}

export type Cast = Readonly<Record<(typeof CAST)[number][0], Person>>;

/** Who plays in the tests, and as what. */
const CAST = [
  ['operator', ['operator']],
  ['requester', ['requester']],
  ['otherRequester', ['requester']],
  ['solver', ['solver']],
  ['otherSolver', ['solver']],
  ['challenger', ['challenger']],
  ['arbiter', ['arbiter']],
  ['twoHats', ['arbiter', 'solver', 'challenger']],
] as const satisfies readonly (readonly [string, readonly Role[]])[];

/** For tests: everybody of the cast, with keys. */
export async function createPeople(database: Database): Promise<Cast> {
  const operatorKey = createApiKey(randomBytes);
  await database.upkeep.addOperatorKey(hashOfKey(operatorKey), { onlyFirst: true });
  const operator = await database.reads.principalByKey(hashOfKey(operatorKey));
  if (operator === null) throw new Error('expected an operator');
  const cast = new Map<string, Person>([['operator', { id: operator.id, key: operatorKey }]]);
  for (const [name, roles] of CAST.slice(1)) {
    const key = createApiKey(randomBytes);
    const { body } = await database.commands.createPrincipal(
      { actorId: operator.id, idempotency: null },
      { name, roles, keyHash: hashOfKey(key) },
      ({ id }) => ({ status: 201, body: id }),
    );
    cast.set(name, { id: body, key });
  }
  return Object.fromEntries(cast) as Cast;
}
