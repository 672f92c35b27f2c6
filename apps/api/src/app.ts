import rateLimit from '@fastify/rate-limit';
import { type Clock, escapeJson, type IdSource } from '@kervyxa/core';
import type { Database } from '@kervyxa/db';
import { fastify, LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import helmet from 'helmet';
import { registerAuthentication } from './auth/authenticate.ts';
import { createPrincipals } from './auth/principals.ts';
import { createSights } from './auth/sights.ts';
import type { ApiContext } from './context.ts';
import { registerAccessLog } from './http/access-log.ts';
import { closePromptly } from './http/connections.ts';
import { answerParserError, registerErrorHandling, sendProblem } from './http/error-handling.ts';
import { registerJsonBody } from './http/json-body.ts';
import { refuseOtherMethods } from './http/methods.ts';
import { registerMetrics } from './http/metrics.ts';
import { registerOpenApi } from './http/openapi.ts';
import { createTurns } from './http/turns.ts';
import { registerUpload } from './http/upload.ts';
import { registerChallenges } from './routes/challenges.ts';
import { registerCheckers } from './routes/checkers.ts';
import { registerChecks } from './routes/checks.ts';
import { registerContracts } from './routes/contracts.ts';
import { registerAudit } from './routes/audit.ts';
import { registerEntries } from './routes/entries.ts';
import { registerEvents } from './routes/events.ts';
import { registerEvidence } from './routes/evidence.ts';
import { registerHealth } from './routes/health.ts';
import { registerKeys } from './routes/keys.ts';
import { registerLedger } from './routes/ledger.ts';
import { registerPackages } from './routes/packages.ts';
import { registerPrincipals } from './routes/principals.ts';
import { registerProblems } from './routes/problems.ts';
import { registerReleases } from './routes/releases.ts';
import { registerReports } from './routes/reports.ts';
import { registerReviews } from './routes/reviews.ts';
import { registerRuns } from './routes/runs.ts';
import { registerSubmissions } from './routes/submissions.ts';
import { DEFAULT_API_SETTINGS, type ApiSettings } from './settings.ts';
import { createWatchers } from './stream/watchers.ts';

export interface ApiDependencies {
  /** Stays the caller's: closing the API closes no database. */
  readonly database: Database;
  readonly newId: IdSource;
  /** For intervals alone: what time it is, the database says. */
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Where lines go; nowhere if left out. */
  readonly logger?: FastifyBaseLogger | undefined;
  readonly settings?: Partial<ApiSettings> | undefined;
}

/** The HTTP side, ready for requests (`inject`) and to `listen`; see `startApi`. `close` ends open event streams. */
export async function createApi(dependencies: ApiDependencies): Promise<FastifyInstance> {
  const settings = { ...DEFAULT_API_SETTINGS, ...dependencies.settings };
  const context = contextOf(dependencies, settings);
  const app = createServer(dependencies, settings);
  app.addHook('preClose', async () => context.watchers.close());
  closePromptly(app);

  const routes = refuseOtherMethods(app);
  registerErrorHandling(app);
  registerJsonBody(app);
  registerUpload(app);
  registerAccessLog(app);
  const setSafeHeaders = helmet(HELMET);
  app.addHook('onRequest', (request, reply, next) => {
    // It throws what is wrong, and hands over nothing.
    setSafeHeaders(request.raw, reply.raw, () => next());
  });
  await app.register(rateLimit, { global: false, enableDraftSpec: true });
  registerAuthentication(app, context);
  await registerOpenApi(app);
  registerHealth(app, context);
  registerMetrics(app, context);
  for (const register of ROUTES) register(app, context);
  routes.finish();
  await app.ready();
  return app;
}

const ROUTES = [
  registerContracts,
  registerSubmissions,
  registerRuns,
  registerEvidence,
  registerEvents,
  registerChallenges,
  registerPackages,
  registerCheckers,
  registerProblems,
  registerReleases,
  registerEntries,
  registerChecks,
  registerReviews,
  registerReports,
  registerLedger,
  registerAudit,
  registerKeys,
  registerPrincipals,
] as const;

/** Answers are data: nothing in them is ever to be run, framed or fetched from. */
const HELMET = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
};

const REQUEST_ID_BYTES = 9;
const NO_QUERY = z.strictObject({});
const HEADER_BYTES_MAX = 16_384;
const PARAM_LENGTH_MAX = 128;

function createServer({ randomBytes, logger }: ApiDependencies, settings: ApiSettings) {
  const app = fastify({
    ...(logger === undefined ? { logger: false } : { loggerInstance: logger }),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: settings.bodyBytesMax,
    requestTimeout: settings.requestTimeoutMs,
    connectionTimeout: settings.connectionTimeoutMs,
    http: {
      headersTimeout: settings.headersTimeoutMs,
      connectionsCheckingInterval: settings.timeoutCheckMs,
      maxHeaderSize: HEADER_BYTES_MAX,
    },
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
    // The one hop next to us: what stands before it in the header is the client's own word.
    trustProxy: settings.trustProxy && ((_address: string, hop: number) => hop === 0),
    // A client's own id could be somebody else's, or no id at all (S29).
    requestIdHeader: false,
    genReqId: createRequestIds(randomBytes),
    // While it closes, what still comes on open connections is answered as ever, and closes them.
    return503OnClosing: false,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: (error, socket) => answerParserError(error, socket),
    frameworkErrors: (error, request, reply) => {
      sendProblem(error, request, reply);
    },
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  // Answers are made field by field from typed rows; checking them again would cost more than making them.
  app.setSerializerCompiler(() => JSON.stringify);
  // Names and output of solvers' are in answers, and answers end up on terminals.
  app.addHook('onSend', async (_request, reply, payload) => {
    const isJson = /\bjson\b/.test(String(reply.getHeader('content-type')));
    return isJson && typeof payload === 'string' ? escapeJson(payload) : payload;
  });
  app.addHook('onRoute', (route) => {
    // A misspelt parameter must not be taken for none, also where there is none to misspell.
    if (route.url.startsWith('/v1')) route.schema = { querystring: NO_QUERY, ...route.schema };
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    reply.header('cache-control', 'no-store');
  });
  return app;
}

/** Unlike all others, of this process and of any other; nobody has to be unable to guess them. */
function createRequestIds(randomBytes: ApiDependencies['randomBytes']): () => string {
  const prefix = Buffer.from(randomBytes(REQUEST_ID_BYTES)).toString('base64url');
  let count = 0;
  return () => `req_${prefix}_${(count += 1).toString(36)}`;
}

function contextOf(
  { database, newId, clock, randomBytes }: ApiDependencies,
  settings: ApiSettings,
): ApiContext {
  return {
    database,
    newId,
    randomBytes,
    settings,
    principals: createPrincipals((keyHash) => database.reads.principalByKey(keyHash), {
      clock,
      trustMs: settings.keyTrustMs,
    }),
    sights: createSights(database.reads),
    watchers: createWatchers(settings),
    turns: createTurns(settings.uploadsMax),
  };
}
