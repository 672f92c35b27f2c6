/** What the operator decides, the same for every problem. Milliseconds. */
export interface StagePolicy {
  /** Attempts at one sandbox stage that may end in trouble of ours before the check is HELD. */
  readonly triesMax: number;
  /** How long a HELD check waits for the operator. */
  readonly heldGraceMs: number;
  /** How long an external stage is waited for. */
  readonly reportGraceMs: number;
  /** How often one person may claim a seat of one node. */
  readonly claimsMax: number;
  /** Entries of one participant to a problem without a limit of its own. */
  readonly entriesMax: number;
  /** Participants of one problem. */
  readonly entrantsMax: number;
}

export const DEFAULT_STAGE_POLICY: StagePolicy = {
  triesMax: 3,
  heldGraceMs: 259_200_000,
  reportGraceMs: 2_592_000_000,
  claimsMax: 3,
  entriesMax: 100,
  entrantsMax: 2_000,
};
