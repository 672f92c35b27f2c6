/** The published form of VerifierContract 0.5.0. */
export interface VerifierContract {
  readonly id: string;
}
