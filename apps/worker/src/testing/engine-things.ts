import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { ensureReady } from '@kervyxa/setup';
import { z } from 'zod';

const ListSchema = z.array(z.looseObject({ Id: z.string() }));

/** For tests: the ids of all containers on this machine's engine with that label. */
export async function containersOf(label: string): Promise<string[]> {
  const { dockerHost } = await ensureReady();
  const filters = encodeURIComponent(JSON.stringify({ label: [label] }));
  const answer = await new Promise<unknown>((resolve, reject) => {
    const path = `/containers/json?all=true&filters=${filters}`;
    const asked = request({ socketPath: new URL(dockerHost).pathname, path }, (response) => {
      json(response).then(resolve, reject);
    });
    asked.on('error', reject).end();
  });
  return ListSchema.parse(answer).map(({ Id }) => Id);
}
