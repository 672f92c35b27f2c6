// The public surface: adding a line here makes a name public.
export { openTestDatabase } from './open-test-database.ts';
export type { TestDatabase } from './open-test-database.ts';
