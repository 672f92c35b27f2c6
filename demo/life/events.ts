import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { z } from 'zod';

const EventDataSchema = z.looseObject({
  submissionId: z.string().nullish(),
  challengeId: z.string().nullish(),
  data: z.looseObject({
    verdict: z.string().nullish(),
    reason: z.string().nullish(),
    runId: z.string().nullish(),
    purpose: z.string().nullish(),
  }),
});

/** One thing that happened to the contract, such as `submission_passed`. */
export interface LifeEvent extends z.infer<typeof EventDataSchema> {
  readonly name: string;
}

export interface Watch {
  /** The first event of that name about that submission or challenge (null: the contract), seen already or to come. */
  until(name: string, subjectId: string | null): Promise<LifeEvent>;
}

export interface WatchOptions {
  readonly url: string;
  readonly apiKey: string;
  readonly signal: AbortSignal;
  readonly onEvent: (event: LifeEvent) => void;
}

/** Follows the server-sent events of a contract. */
export async function watchContract(options: WatchOptions): Promise<Watch> {
  const { url, apiKey, signal, onEvent } = options;
  const response = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` }, signal });
  if (!response.ok || response.body === null) throw new Error(`${url}: ${response.status}`);
  const seen: LifeEvent[] = [];
  const waiting = new Set<() => void>();
  const failed = follow(response.body, (event) => {
    seen.push(event);
    onEvent(event);
    for (const look of waiting) look();
  });
  failed.catch(() => undefined);
  return {
    until: (name, subjectId) => {
      const found = new Promise<LifeEvent>((resolve) => {
        const look = (): void => {
          const event = seen.find((each) => each.name === name && subjectOf(each) === subjectId);
          if (event === undefined) return;
          waiting.delete(look);
          resolve(event);
        };
        waiting.add(look);
        look();
      });
      return Promise.race([found, failed]);
    },
  };
}

function subjectOf({ submissionId, challengeId }: LifeEvent): string | null {
  return challengeId ?? submissionId ?? null;
}

/** Reads until the stream ends, which is too early for whoever still waits. */
async function follow(
  body: ReadableStream<Uint8Array>,
  onEvent: (event: LifeEvent) => void,
): Promise<never> {
  let name = '';
  for await (const line of createInterface({ input: Readable.fromWeb(body) })) {
    const [, field, value = ''] = /^(event|data): (.*)$/.exec(line) ?? [];
    if (field === 'event') name = value;
    if (field === 'data' && name !== 'end') {
      onEvent({ name, ...EventDataSchema.parse(JSON.parse(value)) });
    }
  }
  throw new Error('the event stream ended before what was waited for');
}
