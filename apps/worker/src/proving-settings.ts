import { REPLAYS_DEFAULT } from '@kervyxa/verifier';

/** What the operator gives the proving of a contract. */
export interface ProvingSettings {
  /** How often each criterion runs on the first known-good commit; at least 2. */
  readonly replays: number;
  /** How long one approval may run containers. */
  readonly durationMsMax: number;
}

export const DEFAULT_PROVING: ProvingSettings = {
  replays: REPLAYS_DEFAULT,
  durationMsMax: 7_200_000,
};
