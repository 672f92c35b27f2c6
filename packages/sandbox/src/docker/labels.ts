/** Labels of everything that we make, for cleaning up; no container can see them. */
export const SESSION_LABEL = 'dev.kervyxa.session';
export const ROLE_LABEL = 'dev.kervyxa.role';

/** `keeper` is the session's first; it runs as long as the session's program lives. */
export type Role = 'keeper' | 'filler' | 'run' | 'volume';

export function toLabels(session: string, role: Role): Record<string, string> {
  return { [SESSION_LABEL]: session, [ROLE_LABEL]: role };
}
