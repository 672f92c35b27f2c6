// The public surface: adding a line here makes a name public.
export { startEmbedded } from './start-embedded.ts';
export type { EmbeddedDatabase, EmbeddedOptions } from './start-embedded.ts';
