/**
 * Hands out CPU numbers of the host, the least used first. Pinned runs see the same number of CPUs on every host
 * (THREATS C38) and disturb each other least.
 */
export class CpuPool {
  readonly #load: number[];
  readonly #first: number;

  /** `first` is where to begin: programs on one host that all began at 0 would share that CPU. */
  constructor(count: number, first: number) {
    this.#load = Array.from({ length: count }, () => 0);
    this.#first = first % count;
  }

  get size(): number {
    return this.#load.length;
  }

  /** `count` is at most `size`. Ascending. */
  take(count: number): number[] {
    const order = this.#load
      .map((load, cpu) => ({ load, cpu, turn: (cpu - this.#first + this.size) % this.size }))
      .toSorted((a, b) => a.load - b.load || a.turn - b.turn);
    const taken = order.slice(0, count).map(({ cpu }) => cpu);
    this.#add(taken, 1);
    return taken.toSorted((a, b) => a - b);
  }

  giveBack(cpus: readonly number[]): void {
    this.#add(cpus, -1);
  }

  #add(cpus: readonly number[], delta: number): void {
    for (const cpu of cpus) this.#load[cpu] = (this.#load[cpu] ?? 0) + delta;
  }
}
