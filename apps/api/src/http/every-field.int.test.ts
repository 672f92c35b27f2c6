import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  describedRoutes,
  OPEN_FIELDS,
  sampleOf,
  type DescribedRoute,
  type JsonSchema,
} from '../testing/described-routes.ts';
import { sampleContract } from '../testing/sample-contract.ts';
import { createWorld, type Person, type World } from '../testing/world.ts';

let world: World;
/** By the word of the path before the parameter. The form is looked at before anything is looked up. */
const ids: Record<string, string> = {
  checkers: `vct_${'0'.repeat(26)}`,
  implementations: `vim_${'0'.repeat(26)}`,
  problems: `prb_${'0'.repeat(26)}`,
  inputs: 'labels',
  entries: `ent_${'0'.repeat(26)}`,
  checks: `chk_${'0'.repeat(26)}`,
  seats: `sea_${'0'.repeat(26)}`,
  keys: 'a'.repeat(64),
};

beforeAll(async () => {
  world = await createWorld();
  ids['contracts'] = await world.openContract();
  ids['submissions'] = (await world.decide(ids['contracts'], 'PASS')).submissionId;
  await world.pay(world.people.challenger, 5_000n);
  const { id } = await world.ask(
    world.people.challenger,
    'POST',
    `/v1/submissions/${ids['submissions']}/challenges`,
    { kind: 'OVERTURN_PASS', evidence: 'Look.' },
  );
  ids['challenges'] = id;
  ids['payouts'] = `pay_${'0'.repeat(26)}`;
});

afterAll(async () => world.close());

/** One of those who may call it, so that its body is what is looked at. */
function callerOf({ path }: DescribedRoute): Person {
  const { operator, requester, solver, challenger, arbiter } = world.people;
  if (/deposits|principals|retry|partner-keys/.test(path)) return operator;
  if (path.endsWith('/submissions')) return solver;
  if (path.endsWith('/challenges')) return challenger;
  return path.endsWith('/resolve') ? arbiter : requester;
}

function urlOf({ path }: DescribedRoute): string {
  return path.replaceAll(/(\w+)\/\{\w+\}/g, (_, word: string) => `${word}/${ids[word] ?? ''}`);
}

/** The text is sent as it is written. */
async function send(route: DescribedRoute, text: string) {
  const type = { 'content-type': 'application/json' };
  if (route.method === 'GET') throw new Error('expected a call with a body');
  return world.ask(callerOf(route), route.method, urlOf(route), text, type);
}

/** Where a value of the body stands, its own included. */
type Place = readonly string[];

function placesIn(value: unknown, place: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [place];
  return [
    place,
    ...Object.entries(value).flatMap(([key, inner]) =>
      OPEN_FIELDS.has(key) ? [] : placesIn(inner, [...place, key]),
    ),
  ];
}

/** JSON text with another text in that place. */
function withText(value: unknown, place: Place, text: string): string {
  const [key, ...rest] = place;
  if (key === undefined) return text;
  if (Array.isArray(value)) {
    return `[${value.map((each, index) => (String(index) === key ? withText(each, rest, text) : JSON.stringify(each))).join()}]`;
  }
  const members = Object.entries(value as object).map(
    ([name, each]) =>
      `${JSON.stringify(name)}:${name === key ? withText(each, rest, text) : JSON.stringify(each)}`,
  );
  return `{${members.join()}}`;
}

const valueAt = (value: unknown, place: Place): unknown =>
  place.reduce((inner: unknown, key) => (inner as Record<string, unknown>)[key], value);

/** Whether a document says of a place that null is as good there. */
function takesNull(body: JsonSchema, place: Place): boolean {
  const found = place.reduce<JsonSchema>((schema, key) => {
    const [first = schema] = AlternativesSchema.parse(schema)['anyOf'] ?? [];
    const { properties, items } = AlternativesSchema.parse(first);
    return properties?.[key] ?? items ?? {};
  }, body);
  const alternatives = AlternativesSchema.parse(found)['anyOf'] ?? [];
  return alternatives.some(({ type }) => type === 'null');
}
const SchemaSchema = z.record(z.string(), z.unknown());
const AlternativesSchema = z.looseObject({
  anyOf: z.array(SchemaSchema).optional(),
  properties: z.record(z.string(), SchemaSchema).optional(),
  items: SchemaSchema.optional(),
});

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

/** Of each kind of JSON what lenient readers take for another kind. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  null: ['null'],
  boolean: ['true'],
  number: ['0', '5', '9007199254740993', '1e400'],
  string: ['""', '"5"', '"true"'],
  array: ['[]', '[7]', '["5"]'],
  object: ['{}', '{"toString":"5"}'],
};
/** A document names numbers as numbers, and what they may be. */
const NOT_A_LIMIT = ['"5"', 'null', 'true', '[5]', '{}', '1e400', '9007199254740993', '-1', '""'];
const OPEN_KEYS = [
  '"role":"admin"',
  '"id":"x"',
  '"__proto__":{"isAdmin":true}',
  '"constructor":{"prototype":{"isAdmin":true}}',
  '"prototype":{}',
  '"toString":"x"',
  '"hasOwnProperty":true',
  '"":""',
];

// Keeps R-API-STRICT.
describe('every body that the API describes', () => {
  const bodies = () =>
    describedRoutes(world.app).flatMap((route) =>
      route.body === null || route.body['type'] !== 'object' ? [] : [{ route, body: route.body }],
    );

  it('S07 S08 has a value of any other kind in any place: refused, nothing is made of it', async () => {
    expect(bodies().length).toBeGreaterThan(4);
    for (const { route, body } of bodies()) {
      const sample = sampleOf(body);
      // As it is it gets past the form: to who or what is not there, mostly.
      const plain = await send(route, JSON.stringify(sample));
      expect([route.path, plain.code]).not.toEqual([route.path, 'API_REQUEST_INVALID']);
      for (const place of placesIn(sample)) {
        const kind = kindOf(valueAt(sample, place));
        for (const text of Object.entries(OTHERS).flatMap(([other, texts]) =>
          other === kind ? [] : texts,
        )) {
          if (text === 'null' && takesNull(body, place)) continue;
          const sent = withText(sample, place, text);
          const { status } = await send(route, sent);
          expect([route.path, sent, status]).toEqual([route.path, sent, 422]);
        }
      }
    }
    const balances = await world.database.reads.checkLedger();
    expect(balances.problem).toBeNull();
  });

  it('S12 S16 has a key more in any object: refused, be it the key of a prototype', async () => {
    for (const { route, body } of bodies()) {
      const sample = sampleOf(body);
      for (const place of placesIn(sample)) {
        const object = valueAt(sample, place);
        if (kindOf(object) !== 'object') continue;
        for (const member of OPEN_KEYS) {
          const name = member.slice(1, member.indexOf('"', 1));
          // A key that it has already makes it no JSON of ours.
          if (Object.hasOwn(object as object, name)) continue;
          const inner = JSON.stringify(object);
          const separator = inner === '{}' ? '' : ',';
          const sent = withText(sample, place, `${inner.slice(0, -1)}${separator}${member}}`);
          const { status } = await send(route, sent);
          expect([route.path, sent, status]).toEqual([route.path, sent, 422]);
        }
      }
    }
    expect(Object.prototype).not.toHaveProperty('isAdmin');
  });

  it('S07 S16 is sent to a call that takes none, or an empty object: refused', async () => {
    const empty = describedRoutes(world.app).filter(
      ({ method, path, body }) =>
        method === 'POST' &&
        path !== '/v1/contracts' &&
        path !== '/v1/packages' &&
        body?.['type'] !== 'object',
    );
    expect(empty.length).toBeGreaterThan(3);
    for (const route of empty) {
      for (const text of [
        'true',
        '0',
        '5',
        '"x"',
        '[]',
        '[null]',
        '{"force":true}',
        '{"__proto__":{}}',
      ]) {
        const { status } = await send(route, text);
        expect([route.path, text, status]).toEqual([route.path, text, 422]);
      }
    }
  });
});

describe('every field of a contract', () => {
  const document = sampleContract({ title: 'Every field' });
  const route = { method: 'POST', path: '/v1/contracts', body: null } as const;

  it('S07 S08 S16 has a value of another kind, a number beyond all, or a key more: refused with its place', async () => {
    expect((await send(route, JSON.stringify(document))).status).toBe(201);
    for (const place of placesIn(document)) {
      const value = valueAt(document, place);
      const kind = kindOf(value);
      const texts =
        kind === 'number'
          ? NOT_A_LIMIT
          : kind === 'string'
            ? ['null', '5', 'true', '[]', '{}']
            : ['"5"', '5', 'true'];
      const more =
        kind === 'object'
          ? [
              `${JSON.stringify(value).slice(0, -1)},"__proto__":{}}`,
              `${JSON.stringify(value).slice(0, -1)},"x":1}`,
            ]
          : [];
      for (const text of [...texts, ...more]) {
        // Null is how a document leaves out what may be left out.
        const sent = withText(document, place, text);
        const { status } = await send(route, sent);
        expect([place.join('/'), text, status]).toEqual([place.join('/'), text, 422]);
      }
    }
  });

  /** What people write, and names of files, in which most characters stand for themselves. */
  const FREE = /\b(title|objective|notes|description|reason|command|(protectedPaths|outputs) \d+)$/;
  /** What lenient patterns let through behind, before or instead of a text of the form. */
  const TWISTS: readonly ((text: string) => string)[] = [
    (text) => `${text}\n`,
    (text) => `${text}\n--upload-pack=x`,
    (text) => `x\n${text}`,
    (text) => ` ${text}`,
    (text) => `${text}\0`,
    (text) => `${text}\u2028`,
    (text) => `\ufeff${text}`,
    () => '',
  ];

  it('S15 S14 has a second line, a blank or nothing where a text has a form: refused', async () => {
    const formed = placesIn(document).filter(
      (place) => typeof valueAt(document, place) === 'string' && !FREE.test(place.join(' ')),
    );
    const accepted = [];
    for (const place of formed) {
      for (const twist of TWISTS) {
        const text = JSON.stringify(twist(String(valueAt(document, place))));
        const { status } = await send(route, withText(document, place, text));
        if (status !== 422) accepted.push([place.join('/'), text, status]);
      }
    }
    expect(accepted).toEqual([]);
    expect(formed.length).toBeGreaterThan(20);
  });

  it('S14 S15 has a URL or SHA that is none in any place that is fetched from: refused', async () => {
    const proof = [
      {
        commit: 'd'.repeat(40),
        repository: 'https://git.example.org/p.git',
        expected: 'PASS',
        failing: null,
      },
    ];
    const whole = { ...document, title: 'Fetched from', proof };
    expect((await send(route, JSON.stringify(whole))).status).toBe(201);
    const urls = [
      'ext::sh -c id',
      'file:///etc/passwd',
      'https://github.com\\@169.254.169.254/r.git',
      'https://me:secret@git.example.org/a.git',
      'https://0x7f.1/a.git',
      'https://[::ffff:127.0.0.1]/a.git',
      '--upload-pack=x',
    ];
    const shas = ['A'.repeat(40), 'HEAD', `${'a'.repeat(40)}\n`, '-'.repeat(40), '1'.repeat(64)];
    for (const [place, texts] of [
      [['repository', 'url'], urls],
      [['proof', '0', 'repository'], urls],
      [['repository', 'baseCommit'], shas],
      [['proof', '0', 'commit'], shas],
    ] as const) {
      for (const text of texts) {
        const { status } = await send(route, withText(whole, place, JSON.stringify(text)));
        expect([place.join('/'), text, status]).toEqual([place.join('/'), text, 422]);
      }
    }
  });
});
