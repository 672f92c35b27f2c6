import { Gauge, Histogram, Registry } from 'prom-client';
import type { Api, ApiContext } from '../context.ts';

/** What Prometheus reads at /metrics. No label tells of a contract, a person or anything a client can choose. */
export function registerMetrics(app: Api, { database }: Pick<ApiContext, 'database'>): void {
  const registry = new Registry();
  const durations = new Histogram({
    name: 'kervyxa_http_request_duration_seconds',
    help: 'Time from the request to its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const gauge = (name: string, help: string, labelNames: string[]) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const jobs = gauge('kervyxa_queue_jobs', 'Jobs by queue and state.', ['queue', 'state']);
  const submissions = gauge('kervyxa_submissions', 'Submissions by state.', ['state']);
  const workers = gauge('kervyxa_workers', 'Workers by state.', ['state']);

  app.addHook('onResponse', async (request, reply) => {
    const { url: route = 'unknown', config } = request.routeOptions;
    if (config.isStream === true) return;
    const status = `${Math.floor(reply.statusCode / 100)}xx`;
    durations.observe({ method: request.method, route, status }, reply.elapsedTime / 1_000);
  });

  app.get(
    '/metrics',
    { config: { access: 'local_or_operator' }, schema: { hide: true } },
    async (_request, reply) => {
      const status = await database.reads.status();
      for (const each of [jobs, submissions, workers]) each.reset();
      for (const { name, ready, active } of status.queues) {
        jobs.set({ queue: name, state: 'ready' }, ready);
        jobs.set({ queue: name, state: 'active' }, active);
      }
      for (const [state, count] of Object.entries(status.submissionsByState)) {
        submissions.set({ state }, count);
      }
      for (const { state } of status.workers) workers.inc({ state });
      return reply.type(registry.contentType).send(await registry.metrics());
    },
  );
}
