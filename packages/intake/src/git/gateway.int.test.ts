import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildRepository } from '@kervyxa/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { IntakeOutcome } from '../port.ts';
import { createWorld, sha, type World } from './testing/harness.ts';

const { signal } = new AbortController();
let world: World;
let ids: { readonly base: string; readonly fix: string };

beforeAll(async () => {
  world = await createWorld();
  ids = await buildRepository(join(world.repositories, 'main.git'), {
    commits: [
      { name: 'base', files: { 'a.txt': '1\n' } },
      { name: 'fix', parents: ['base'], files: { 'a.txt': '2\n' } },
    ],
  });
});
afterAll(() => world.close());

const SMART = 'content-type: application/x-git-upload-pack-advertisement';
const packet = (text: string): string =>
  `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;
const ADVERTISEMENT = [
  packet('# service=git-upload-pack\n'),
  '0000',
  packet('version 2\n'),
  packet('ls-refs\n'),
  packet('fetch=shallow\n'),
  packet('object-format=sha1\n'),
  '0000',
].join('');
const smart = (body: string, more = ''): string =>
  `HTTP/1.1 200 OK\r\n${SMART}\r\n${more}content-length: ${body.length}\r\n\r\n${body}`;

/** Submits the commit at a server that answers each request, by its number, with bytes of its own. */
async function submitTo(
  answer: (socket: Socket, number: number, request: string) => void,
  limits = {},
): Promise<{ outcome: IntakeOutcome; requests: string[] }> {
  const requests: string[] = [];
  const server = createServer((socket) => {
    // A client that goes away is normal here.
    socket.on('error', () => socket.destroy());
    socket.once('data', (piece: Buffer) => {
      requests.push(piece.toString('latin1'));
      answer(socket, requests.length, piece.toString('latin1'));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const origin = `http://127.0.0.1:${port}`;
  const intake = world.newIntake({
    allowedOrigins: [origin, world.server.origin],
    limits: { stallSecondsMax: 2, ...limits },
  });
  try {
    const outcome = await intake.fetchCommit(
      {
        baseRepositoryUrl: world.server.url('main.git'),
        repositoryUrl: `${origin}/main.git`,
        baseCommit: sha(ids.base),
        commit: sha(ids.fix),
      },
      signal,
    );
    return { outcome, requests };
  } finally {
    server.close();
  }
}

const end =
  (text: string | Uint8Array) =>
  (socket: Socket): void =>
    void socket.end(text);

/** Repeats a piece until the client goes away. */
const flood =
  (head: string, piece: string) =>
  (socket: Socket): void => {
    socket.write(head);
    const block = piece.repeat(Math.ceil(65_536 / piece.length));
    const more = (): void => {
      while (!socket.destroyed && socket.write(block));
    };
    socket.on('drain', more);
    more();
  };

it.each([
  ['G03 redirects without a Location', end('HTTP/1.1 302 Found\r\n\r\n'), 'the final URL'],
  [
    'G03 redirects by a page, a refresh and a Location under status 200',
    end(
      'HTTP/1.1 200 OK\r\nlocation: http://127.0.0.1/\r\nrefresh: 0;url=http://127.0.0.1/\r\ncontent-type: text/html\r\n\r\n<meta http-equiv=refresh>',
    ),
    'smart HTTP',
  ],
  [
    'G03 answers 304 with a Location of control characters',
    end('HTTP/1.1 304 \r\nlocation: a\u001b[2Jb\r\n\r\n'),
    '',
  ],
  [
    'switches to another protocol',
    end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    'another protocol',
  ],
  ['says nothing and closes', end(''), 'failed'],
  ['speaks no HTTP', end('SSH-2.0-OpenSSH_9.2\r\n'), 'failed'],
  [
    'has a header of a megabyte',
    end(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(1_000_000)}\r\n\r\n`),
    'failed',
  ],
  [
    'has a hundred thousand cookies',
    end(`HTTP/1.1 200 OK\r\n${'set-cookie: a=b\r\n'.repeat(100_000)}\r\n`),
    'failed',
  ],
  [
    'gives two lengths at once, as smugglers do',
    end(
      `HTTP/1.1 200 OK\r\n${SMART}\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    ),
    'failed',
  ],
  [
    'gives a length twice',
    end(`HTTP/1.1 200 OK\r\n${SMART}\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\n0000`),
    'failed',
  ],
  [
    'unfolds, though nobody asked it to',
    end(
      Buffer.concat([
        Buffer.from(`HTTP/1.1 200 OK\r\n${SMART}\r\ncontent-encoding: gzip\r\n\r\n`),
        gzipSync(Buffer.alloc(10_000_000)),
      ]),
    ),
    'encoding',
  ],
  [
    'cuts its answer off',
    end(`HTTP/1.1 200 OK\r\n${SMART}\r\ncontent-length: 400\r\n\r\n001e`),
    'failed',
  ],
  [
    'has a chunk without an end',
    end(`HTTP/1.1 200 OK\r\n${SMART}\r\ntransfer-encoding: chunked\r\n\r\nff\r\n001e`),
    'failed',
  ],
  [
    'has a chunk that is none',
    end(`HTTP/1.1 200 OK\r\n${SMART}\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`),
    'failed',
  ],
  ['advertises nothing', end(smart('')), ''],
  ['advertises zeros', end(smart('0'.repeat(10_000))), ''],
  ['advertises packets without a service', end(smart(packet('\u001b[2J\0\r\u202e\n'))), ''],
  ['advertises a packet longer than itself', end(smart('fff0abc')), ''],
  ['speaks version 7', end(smart(ADVERTISEMENT.replace('version 2', 'version 7'))), ''],
  ['names objects by SHA-256', end(smart(ADVERTISEMENT.replace('sha1', 'sha9'))), ''],
  [
    'complains in control characters',
    end(
      smart(
        `${packet('# service=git-upload-pack\n')}0000${packet('ERR \u001b[2J\u001b]0;x\u0007\0 pay')}`,
      ),
    ),
    '',
  ],
] as const)('%s: REPOSITORY_UNREACHABLE', async (_attack, answer, says) => {
  const { outcome } = await submitTo(answer);
  expect(outcome).toEqual({
    kind: 'unavailable',
    reason: 'REPOSITORY_UNREACHABLE',
    message: expect.stringContaining(says),
  });
  expect(JSON.stringify(outcome)).not.toMatch(/\\u001b|pay|\\u202e/);
});

it.each([
  ['plain files', 'content-type: text/plain\r\n', '200 OK'],
  ['a redirect', 'location: http://127.0.0.1/\r\n', '302 Found'],
  ['a question for a password', 'www-authenticate: Basic realm="x"\r\n', '401 No'],
])(
  'G03 G06 G09 is smart first and has %s for the fetch: REPOSITORY_UNREACHABLE',
  async (_turn, header, status) => {
    const { outcome, requests } = await submitTo((socket, number) => {
      const dumb = `HTTP/1.1 ${status}\r\n${header}content-length: 0\r\n\r\n`;
      socket.end(number === 1 ? smart(ADVERTISEMENT) : dumb);
    });
    expect(outcome).toMatchObject({ reason: 'REPOSITORY_UNREACHABLE' });
    // Nothing but the two requests of the protocol is ever sent, with nobody's credentials in it.
    for (const request of requests) {
      expect(request).toMatch(
        /^(GET|POST) \/main\.git\/(info\/refs\?service=git-upload-pack|git-upload-pack) /,
      );
      expect(request).not.toMatch(/authorization|cookie|gzip/i);
    }
  },
);

const HINT = 'HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n';
const CHUNKED = `HTTP/1.1 200 OK\r\n${SMART}\r\ntransfer-encoding: chunked\r\n\r\n`;

it.each([
  ['informational answers', 'REPOSITORY_UNREACHABLE', flood('', HINT)],
  ['header lines', 'REPOSITORY_UNREACHABLE', flood('HTTP/1.1 200 OK\r\n', 'a: b\r\n')],
  ['extensions of a chunk', 'REPOSITORY_UNREACHABLE', flood(`${CHUNKED}1`, ';a=b')],
  ['empty packets', 'SOURCE_TOO_LARGE', flood(`HTTP/1.1 200 OK\r\n${SMART}\r\n\r\n`, '0004')],
] as const)('G23 G24 sends %s without end: %s', async (_flood, reason, answer) => {
  const { outcome } = await submitTo(answer);
  expect(outcome).toMatchObject({ reason });
});

it('G24 takes its time with each of many answers: ended by the time for all of them together', async () => {
  const { outcome, requests } = await submitTo(
    (socket, _number, request) => {
      if (request.startsWith('GET')) return void socket.end(smart(ADVERTISEMENT));
      setTimeout(() => {
        const body = request.includes('ls-refs')
          ? `${packet(`${ids.base} refs/heads/main\n`)}0000`
          : packet('ERR upload-pack: not our ref');
        socket.end(
          `HTTP/1.1 200 OK\r\ncontent-type: application/x-git-upload-pack-result\r\n\r\n${body}`,
        );
      }, 1_500);
    },
    { gitWallSecondsMax: 2, stallSecondsMax: 20 },
  );
  expect(outcome).toMatchObject({ reason: 'REPOSITORY_UNREACHABLE' });
  // There is no time left to ask for what the list of refs names.
  expect(requests.length).toBeLessThanOrEqual(4);
});

it('has no room for the largest answer: INTAKE_DISK_FULL before anybody is asked', async () => {
  const unasked = submitTo(() => undefined, { packBytesMax: 2 ** 50 });
  await expect(unasked).rejects.toMatchObject({ code: 'INTAKE_DISK_FULL' });
});

const RESULT = 'HTTP/1.1 200 OK\r\ncontent-type: application/x-git-upload-pack-result\r\n\r\n';
const NOT_OURS = `${RESULT}${packet('ERR upload-pack: not our ref')}`;

it.each([
  ['its head', 'GET', 'HTTP/1.1 200 OK\r\ncontent-'],
  ['its introduction', 'GET', `HTTP/1.1 200 OK\r\n${SMART}\r\n\r\n${ADVERTISEMENT.slice(0, 60)}`],
  ['the head before its pack', 'POST', 'HTTP/1.1 200'],
  ['its pack', 'POST', `${RESULT}${packet('packfile\n')}${packet('\u0001PACK\0\0\0\u0002')}`],
  ['its list of refs', 'ls-refs', `${RESULT}${packet(`${'1'.repeat(40)} refs/heads/a\n`)}`],
])('G24 falls silent in the middle of %s: REPOSITORY_UNREACHABLE', async (_phase, when, text) => {
  const { outcome } = await submitTo(
    (socket, _number, request) => {
      const isList = request.includes('ls-refs');
      const isNow = when === 'ls-refs' ? isList : request.startsWith(when);
      if (isNow) socket.write(text);
      else socket.end(request.startsWith('GET') ? smart(ADVERTISEMENT) : NOT_OURS);
    },
    { stallSecondsMax: 1 },
  );
  expect(outcome).toMatchObject({ reason: 'REPOSITORY_UNREACHABLE' });
});

it('G12 lists refs of names that are none: REPOSITORY_UNREACHABLE, and no file has such a name', async () => {
  const id = '1'.repeat(40);
  const names = [
    'refs/heads/../../../../x',
    'refs/heads/a\0b',
    'refs/heads/\u001b[2J',
    `refs/heads/a\n${id}\trefs/heads/b`,
    `refs/heads/${'a'.repeat(60_000)}`,
    'refs/heads/a',
    'refs/heads/a/b',
    'refs/heads/a.lock',
    'HEAD',
    '',
  ];
  const { outcome, requests } = await submitTo((socket, _number, request) => {
    const list = names.map((name) => packet(`${id} ${name}\n`)).join('');
    if (request.startsWith('GET')) socket.end(smart(ADVERTISEMENT));
    else socket.end(request.includes('ls-refs') ? `${RESULT}${list}0000` : NOT_OURS);
  });
  expect(outcome).toMatchObject({ kind: 'unavailable', reason: 'REPOSITORY_UNREACHABLE' });
  expect(requests.length).toBeGreaterThan(2);
});
