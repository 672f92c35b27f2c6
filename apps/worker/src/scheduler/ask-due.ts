const BATCH = 50;
/** More than that are left to the next tick. */
const SUBJECTS_MAX = 1_000;

export interface DueSubjects {
  /** The longest due first. */
  readonly listDue: (limit: number) => Promise<readonly string[]>;
  /** Never rejects. */
  readonly ask: (id: string) => Promise<void>;
}

/** Asks each that is due once, so that one which can't be helped holds up no other. */
export async function askDue({ listDue, ask }: DueSubjects, signal: AbortSignal): Promise<void> {
  const asked = new Set<string>();
  while (asked.size < SUBJECTS_MAX) {
    const due = await listDue(BATCH + asked.size);
    const next = due.filter((id) => !asked.has(id));
    if (next.length === 0) return;
    for (const id of next) {
      if (signal.aborted) return;
      asked.add(id);
      await ask(id);
    }
  }
}
