import type { QueueName } from '@kervyxa/db';

/** Cores that one verification is given where there are enough: two of its criteria run side by side. */
const CORES_OF_SLOT = 2;
/** They mostly wait for servers. */
const FETCHES_MAX = 6;

export interface Slots {
  /** Verifications side by side. */
  readonly verify: number;
  /** Jobs side by side; queues of one loop share its slots. */
  readonly loops: readonly { readonly names: readonly QueueName[]; readonly slots: number }[];
  /** Captures and approvals that fetch at the same time. */
  readonly fetches: number;
  /** Cores of each verification. */
  readonly coreCount: number;
}

/** How the cores of a machine are shared out; `wanted` verifications side by side where the operator says so. */
export function planSlots(coreCount: number, wanted: number | null): Slots {
  const verify = wanted ?? Math.max(1, Math.floor(coreCount / CORES_OF_SLOT));
  return {
    verify,
    loops: [
      // What runs programs of strangers, whoever they are for, shares the machine turn by turn.
      { names: ['verify', 'check', 'conformance'], slots: verify },
      // One more than there is room for, so that it is seen that somebody waits.
      { names: ['capture'], slots: FETCHES_MAX + 1 },
      { names: ['approve'], slots: 2 },
    ],
    fetches: FETCHES_MAX,
    coreCount: Math.max(1, Math.floor(coreCount / verify)),
  };
}
