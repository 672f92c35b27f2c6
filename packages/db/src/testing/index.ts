// The public surface: adding a line here makes a name public.
export { openStores } from './open-stores.ts';
export type { Stores } from './open-stores.ts';
export { openTestDatabase } from './open-test-database.ts';
export type { TestDatabase } from './open-test-database.ts';
