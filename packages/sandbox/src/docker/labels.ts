/** Labels of everything that we make, for cleaning up; no container can see them. */
export const SESSION_LABEL = 'dev.kervyxa.session';
export const ROLE_LABEL = 'dev.kervyxa.role';

/** `keeper` is the session's first; it runs as long as the session's program lives. */
export type Role = 'keeper' | 'filler' | 'run' | 'volume';

/** A session by name, its user, and the labels that its operator wants on everything of it. */
export interface SessionName {
  readonly id: string;
  /** Owner of every file of ours and of every process of the solver's, as its group too. */
  readonly uid: number;
  readonly labels: Readonly<Record<string, string>>;
}

export function toLabels(
  { id, labels }: Pick<SessionName, 'id' | 'labels'>,
  role: Role,
): Record<string, string> {
  return { ...labels, [SESSION_LABEL]: id, [ROLE_LABEL]: role };
}
