import type { ContractInput } from '@kervyxa/contract';
import type { AttackBench, AttackEnd } from './attack-bench.ts';

export interface MetricEnd extends AttackEnd {
  /** `pass 5`, `fail METRIC_MISSING`, by criterion. */
  readonly ends: Readonly<Record<string, string>>;
}

export interface MetricOptions {
  readonly op?: 'lt' | 'lte' | 'gt' | 'gte' | 'eq';
  readonly timeoutSeconds?: number;
  readonly contract?: (contract: ContractInput) => void;
}

let repositoryCount = 0;

/**
 * Submits one commit in which the solver wrote the program behind each of some benchmarks, which want a metric below
 * 100: criterion id → shell script. At the base every program ends with 1.
 */
export async function submitPrograms(
  bench: AttackBench,
  programs: Readonly<Record<string, string>>,
  { op = 'lt', timeoutSeconds = 20, contract: change }: MetricOptions = {},
): Promise<MetricEnd> {
  repositoryCount += 1;
  const name = `metric-${repositoryCount}`;
  const ids = Object.keys(programs);
  const filesOf = (textOf: (id: string) => string): Record<string, string> =>
    Object.fromEntries(ids.map((id) => [`${id}.sh`, textOf(id)]));
  const { base, cheat } = await bench.build(name, [
    { name: 'base', files: { 'check.sh': '', ...filesOf(() => 'exit 1\n') } },
    { name: 'cheat', parents: ['base'], files: filesOf((id) => `${programs[id] ?? ''}\n`) },
  ]);
  const end = await bench.attack(name, base, {
    commit: cheat,
    contract: (contract) => {
      contract.constraints.maxChangedFiles = ids.length;
      contract.criteria = ids.map((id) => ({
        id,
        title: id,
        type: 'benchmark',
        visibility: 'public',
        command: `sh ${id}.sh`,
        metric: { name: 'm', unit: 'bytes', op, threshold: 100 },
        timeoutSeconds,
      }));
      change?.(contract);
    },
  });
  const ends = end.criteria.map(({ id, status, reason, metric }) => [
    id,
    `${status} ${reason ?? metric ?? ''}`.trim(),
  ]);
  return { ...end, ends: Object.fromEntries(ends) };
}
