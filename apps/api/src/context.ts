import type { IdSource } from '@kervyxa/core';
import type { Database } from '@kervyxa/db';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Principals } from './auth/principals.ts';
import type { Sights } from './auth/sights.ts';
import type { Turns } from './http/turns.ts';
import type { ApiSettings } from './settings.ts';
import type { Watchers } from './stream/watchers.ts';

/** What every route is built on. */
export interface ApiContext {
  readonly database: Database;
  readonly newId: IdSource;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly settings: ApiSettings;
  readonly principals: Principals;
  readonly sights: Sights;
  readonly watchers: Watchers;
  /** For what reads whole packages. */
  readonly turns: Turns;
}

export type Api = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;
