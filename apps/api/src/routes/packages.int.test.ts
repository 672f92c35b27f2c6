import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packTree, sealTree, type TreeEntry } from '@kervyxa/core';
import { sampleContract } from '../testing/sample-contract.ts';
import { createWorld, type World } from '../testing/world.ts';

let world: World;

beforeAll(async () => {
  const limits = { entriesMax: 50, bytesMax: 8_000_000, heldBytesMax: 20_000 };
  world = await createWorld({ settings: { uploadsMax: 2, upload: limits } });
});

afterAll(async () => world.close());

const TAR = { 'content-type': 'application/x-tar' };
const file = (path: string, content = 'x'): TreeEntry => ({
  type: 'file',
  path,
  executable: false,
  size: content.length,
  content: Buffer.from(content, 'latin1'),
});

async function tarOf(...entries: readonly TreeEntry[]): Promise<Buffer> {
  const list = async function* (): AsyncGenerator<TreeEntry> {
    yield* entries;
  };
  return Buffer.concat(await Array.fromAsync(packTree(list(), new AbortController().signal)));
}

function upload(body: Buffer, who = world.people.requester, headers: Record<string, string> = TAR) {
  return world.ask(who, 'POST', '/v1/packages', body, headers);
}

// Keeps R-API-SIGHT.
describe('an uploaded package', () => {
  it('has one digest, whatever the order of its tar, and may be named in a contract', async () => {
    const first = await upload(await tarOf(file('a'), file('b/c')));
    const second = await upload(await tarOf(file('b/c'), file('a')));
    expect(second.fields).toEqual(first.fields);
    expect(first).toMatchObject({ status: 201, fields: { entryCount: 3 } });
    const found = await world.ask(
      world.people.requester,
      'GET',
      `/v1/packages/${String(first.fields.sha256)}`,
    );
    expect(found.fields).toMatchObject({ ...first.fields, ownerId: world.people.requester.id });
    expect(first.headers.location).toBe(`/v1/packages/${String(first.fields.sha256)}`);
  });

  // Keeps R-UPLOAD-BOUNDED.
  it('is large: kept under the digest of its content, and may be named as a bundle', async () => {
    const content = randomBytes(3_000_000).toString('latin1');
    const entries = [{ type: 'folder', path: 'npm' } as const, file('npm/a.tgz', content)];
    const answer = await upload(await tarOf(...entries));
    const { digest } = await sealTree(entries);
    expect(answer).toMatchObject({ status: 201, fields: { sha256: digest, entryCount: 2 } });
    const contract = sampleContract({ title: 'With a bundle' });
    const environment = { ...contract.environment, dependencies: { sha256: digest } };
    const posted = await world.ask(world.people.requester, 'POST', '/v1/contracts', {
      ...contract,
      environment,
    });
    expect(posted.status).toBe(201);
    const row = await world.database.reads.contract(posted.id);
    expect(row?.dependenciesSha256).toBe(digest);
    const again = await upload(await tarOf(...entries));
    expect(again.fields).toEqual(answer.fields);
  });

  it('is large and not in order, beyond the limits or broken off: refused, and nothing is kept', async () => {
    const large = file('b', 'x'.repeat(30_000));
    const count = async () => {
      const { items } = await world.ask(world.people.otherRequester, 'GET', '/v1/packages');
      return items.length;
    };
    const before = await count();
    const tooMany = Array.from({ length: 51 }, (_, index) =>
      file(`c${index + 100}`, 'y'.repeat(600)),
    );
    for (const [entries, code] of [
      [[large, file('a')], 'INTAKE_PACKAGE_NOT_CANONICAL'],
      [tooMany, 'INTAKE_PACKAGE_TOO_LARGE'],
      [[file('a', 'x'.repeat(8_100_000))], 'INTAKE_PACKAGE_TOO_LARGE'],
    ] as const) {
      const answer = await upload(await tarOf(...entries), world.people.otherRequester);
      expect(answer).toMatchObject({ status: 422, code });
    }
    const cut = (await tarOf(large)).subarray(0, 25_000);
    expect((await upload(cut, world.people.otherRequester)).code).toBe(
      'INTAKE_PACKAGE_NOT_CANONICAL',
    );
    expect(await count()).toBe(before);
  });

  it('S18 asks for the package of somebody else: there is none', async () => {
    const { fields } = await upload(await tarOf(file('mine', 'secret answers')));
    const url = `/v1/packages/${String(fields.sha256)}`;
    const seen = [];
    for (const name of ['otherRequester', 'operator', 'solver', 'challenger', 'arbiter'] as const) {
      const { code } = await world.ask(world.people[name], 'GET', url);
      seen.push(code);
    }
    expect(seen).toEqual([
      'API_NOT_FOUND',
      'API_NOT_FOUND',
      'API_NOT_FOUND',
      'API_ROLE_MISSING',
      'API_ROLE_MISSING',
    ]);
  });

  it('S18 lists the packages of somebody else: each sees the own ones, the operator all', async () => {
    const shared = await tarOf(file('shared', 'by two'));
    const { sha256 } = (await upload(shared)).fields;
    await upload(shared, world.people.otherRequester);
    const ownersSeenBy = async (
      name: 'operator' | 'requester' | 'otherRequester' | 'solver' | 'arbiter',
    ) => {
      const owners = [];
      let after = '';
      do {
        const url: string = `/v1/packages?limit=1${after === '' ? '' : `&after=${after}`}`;
        const page = await world.ask(world.people[name], 'GET', url);
        if (page.code !== null) return [page.code];
        owners.push(...page.items.filter((each) => each.sha256 === sha256));
        after = String(page.fields.next ?? '');
      } while (after !== '');
      return owners.map(({ ownerId }) => ownerId).toSorted();
    };
    const { requester, otherRequester } = world.people;
    expect(await ownersSeenBy('requester')).toEqual([requester.id]);
    expect(await ownersSeenBy('otherRequester')).toEqual([otherRequester.id]);
    expect(await ownersSeenBy('operator')).toEqual([requester.id, otherRequester.id].toSorted());
    expect(await ownersSeenBy('solver')).toEqual([]);
    expect(await ownersSeenBy('arbiter')).toEqual(['API_ROLE_MISSING']);
    const forged = await world.ask(requester, 'GET', '/v1/packages?after=1');
    expect(forged.code).toBe('DB_CURSOR_INVALID');
  });

  it.each([
    ['H25 leads out of its folder', file('../out')],
    ['H25 is a link', { type: 'symlink', path: 'l', target: '/etc/passwd' } as const],
  ])('%s: refused', async (_what, entry) => {
    expect(await upload(await tarOf(entry))).toMatchObject({
      status: 422,
      code: 'INTAKE_PACKAGE_ENTRY_REFUSED',
    });
  });

  it('is no tar, is JSON, or comes from an arbiter', async () => {
    expect((await upload(Buffer.from('x'.repeat(2_000)))).status).toBe(422);
    const json = await upload(Buffer.from('{}'), world.people.requester, {
      'content-type': 'application/json',
    });
    expect(json.code).toBe('API_MEDIA_TYPE_UNSUPPORTED');
    expect((await upload(await tarOf(file('a')), world.people.arbiter)).status).toBe(403);
  });

  it('says that it is too large: refused before a byte is read', async () => {
    const answer = await upload(await tarOf(file('a')), world.people.requester, {
      ...TAR,
      'content-length': '999999999999',
    });
    expect(answer).toMatchObject({ status: 413, code: 'API_BODY_TOO_LARGE' });
    expect(answer.headers.connection).toBe('close');
  });

  it('is sent slowly to keep others out: it takes one place, which is free again when it is broken off', async () => {
    await world.app.listen({ host: '127.0.0.1', port: 0 });
    const address = world.app.server.address();
    if (address === null || typeof address === 'string') throw new Error('expected a port');
    const arrived = once(world.app.server, 'request');
    const socket = connect(address.port, '127.0.0.1');
    socket.write(
      `POST /v1/packages HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.people.requester.key}\r\n` +
        'content-type: application/x-tar\r\ncontent-length: 4096\r\n\r\nhalf',
    );
    await arrived;
    // As much as is asked before the place is taken: it must not find the place taken by the upload below.
    for (let count = 0; count < 3; count += 1) {
      await world.ask(world.people.requester, 'GET', '/v1/me');
    }
    const tar = await tarOf(file('next'));
    await expect.poll(async () => (await upload(tar)).code).toBe('API_BUSY');
    expect((await upload(tar, world.people.otherRequester)).status).toBe(201);
    socket.destroy();
    await expect.poll(async () => (await upload(tar)).status).toBe(201);
  });
});
