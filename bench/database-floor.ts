import { Client } from 'pg';

/**
 * What the same PostgreSQL can do at the least: one statement of one row, over plain connections, with nothing of ours
 * around it.
 */
export interface DatabaseFloor {
  /** One connection each; a row is one transaction. */
  readonly inserts: readonly ((id: string) => Promise<void>)[];
  readonly selects: readonly ((id: string) => Promise<void>)[];
  /** From the wish to tell of a row to a listener's having read it, in milliseconds. */
  notify(id: string): Promise<number>;
  close(): Promise<void>;
}

const PAYLOAD = 'x'.repeat(200);

export async function openFloor(url: string, connections: number): Promise<DatabaseFloor> {
  const clients = Array.from(
    { length: connections + 2 },
    () => new Client({ connectionString: url, application_name: 'kervyxa-bench' }),
  );
  for (const client of clients) await client.connect();
  const [teller, listener, ...plain] = clients;
  if (teller === undefined || listener === undefined) throw new RangeError('expected connections');
  await teller.query('CREATE TABLE bench_floor (id text PRIMARY KEY, payload text NOT NULL)');
  await listener.query('LISTEN bench_floor');
  return {
    inserts: plain.map((client) => (id: string) => insert(client, id)),
    selects: plain.map((client) => (id: string) => select(client, id)),
    notify: async (id) => {
      await insert(teller, id);
      const read = new Promise<void>((resolve, reject) => {
        listener.once('notification', () => select(listener, id).then(resolve, reject));
      });
      const startMs = performance.now();
      await Promise.all([teller.query(`NOTIFY bench_floor, '${id}'`), read]);
      return performance.now() - startMs;
    },
    close: async () => {
      for (const client of clients) await client.end();
    },
  };
}

async function insert(client: Client, id: string): Promise<void> {
  const text = 'INSERT INTO bench_floor (id, payload) VALUES ($1, $2)';
  await client.query(text, [id, PAYLOAD]);
}

async function select(client: Client, id: string): Promise<void> {
  const text = 'SELECT id, payload FROM bench_floor WHERE id = $1';
  const { rowCount } = await client.query(text, [id]);
  if (rowCount !== 1) throw new Error(`expected the row ${id}, got none`);
}
