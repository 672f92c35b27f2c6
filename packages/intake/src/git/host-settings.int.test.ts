import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { buildRepository, gitProcessesOf } from '@kervyxa/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createWorld, runPlainGit, type World } from './testing/harness.ts';

const FETCH_ONCE = join(import.meta.dirname, 'testing/fetch-once.ts');
const SECRET = 's3cret-of-the-host';
let world: World;
let ids: Awaited<ReturnType<typeof build>>;
let home: string;
let canaries: string;

function build() {
  const parents = ['base'] as const;
  return buildRepository(join(world.repositories, 'main.git'), {
    commits: [
      { name: 'base', files: { 'a.txt': '1\n' } },
      {
        name: 'fix',
        parents,
        files: {
          'a.txt': '2\n',
          '.gitattributes': '* filter=evil diff=evil merge=evil working-tree-encoding=UTF-16\n',
          'b/HEAD': 'ref: refs/heads/main\n',
          'b/config': '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch canary\n',
          'b/objects/x': '',
          'b/refs/x': '',
        },
      },
    ],
  });
}

beforeAll(async () => {
  world = await createWorld();
  ids = await build();
  home = join(world.root, 'host-home');
  canaries = join(world.root, 'canaries');
  await mkdir(canaries);
  await plantHostileHome();
});
afterAll(() => world.close());

/** Settings of a host that run a command, or give a secret away, wherever git comes past them. */
async function plantHostileHome(): Promise<void> {
  const touch = (name: string): string => `touch ${join(canaries, name)}`;
  const hooks = join(home, 'templates/hooks');
  await mkdir(hooks, { recursive: true });
  for (const hook of [
    'post-checkout',
    'reference-transaction',
    'post-index-change',
    'pre-auto-gc',
  ]) {
    await writeFile(join(hooks, hook), `#!/bin/sh\n${touch(`hook-${hook}`)}\n`);
    await chmod(join(hooks, hook), 0o755);
  }
  const evil = touch('filter');
  const settings = [
    `[credential]\n\thelper = "!${touch('helper')}; echo username=u; echo password=${SECRET}; :"`,
    `[core]\n\thooksPath = ${hooks}\n\tfsmonitor = "${touch('fsmonitor')}"\n\tpager = "${touch('pager')}"\n\taskPass = "${touch('askpass')}"\n\tautocrlf = true\n\tsshCommand = "${touch('ssh')}"`,
    `[init]\n\ttemplateDir = ${join(home, 'templates')}`,
    `[filter "evil"]\n\tsmudge = "${evil}"\n\tclean = "${evil}"\n\tprocess = "${evil}"\n\trequired = true`,
    `[diff "evil"]\n\tcommand = "${touch('diff')}"\n\ttextconv = "${touch('textconv')}"`,
    `[diff]\n\texternal = "${touch('external')}"`,
    `[http]\n\tproxy = http://127.0.0.1:1/\n\textraHeader = "x-secret: ${SECRET}"\n\tcookieFile = ${join(home, 'cookies')}\n\tfollowRedirects = true`,
    `[url "http://127.0.0.1:1/"]\n\tinsteadOf = http://127.0.0.1\n\tinsteadOf = ${world.server.origin}`,
    '[gc]\n\tauto = 1\n\tautoDetach = true\n[maintenance]\n\tauto = true\n[fetch]\n\twriteCommitGraph = true\n\tparallel = 9\n[uploadpack]\n\tpackObjectsHook = "false"\n[safe]\n\tbareRepository = all\n[protocol]\n\tallow = always\n[transfer]\n\tfsckObjects = false\n[remote "origin"]\n\turl = http://127.0.0.1:1/\n[submodule]\n\trecurse = true',
  ].join('\n');
  const host = new URL(world.server.origin).hostname;
  await mkdir(join(home, '.config/git'), { recursive: true });
  await writeFile(join(home, '.gitconfig'), settings);
  await writeFile(join(home, '.config/git/config'), settings);
  await writeFile(join(home, '.config/git/attributes'), '* filter=evil diff=evil\n');
  await writeFile(
    join(home, '.netrc'),
    `machine ${host} login u password ${SECRET}\ndefault login u password ${SECRET}\n`,
  );
  await chmod(join(home, '.netrc'), 0o600);
  await writeFile(
    join(home, '.curlrc'),
    `header = "x-secret: ${SECRET}"\nproxy = http://127.0.0.1:1/\n`,
  );
  await writeFile(join(home, 'cookies'), `${host}\tFALSE\t/\tFALSE\t0\tsession\t${SECRET}\n`);
}

/** Variables of a host that mean the same. */
function hostileVariables(): Record<string, string> {
  const settings = join(home, '.gitconfig');
  const touch = `touch ${join(canaries, 'variable')}`;
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    GIT_CONFIG_GLOBAL: settings,
    GIT_CONFIG_SYSTEM: settings,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.hooksPath',
    GIT_CONFIG_VALUE_0: join(home, 'templates/hooks'),
    GIT_CONFIG_PARAMETERS: `'http.extraheader=x-secret: ${SECRET}'`,
    GIT_TEMPLATE_DIR: join(home, 'templates'),
    GIT_ASKPASS: touch,
    SSH_ASKPASS: touch,
    GIT_SSH_COMMAND: touch,
    GIT_PROXY_COMMAND: touch,
    GIT_EXTERNAL_DIFF: touch,
    GIT_PAGER: touch,
    GIT_EDITOR: touch,
    GIT_DIR: join(home, 'nowhere'),
    GIT_WORK_TREE: home,
    GIT_OBJECT_DIRECTORY: join(home, 'objects'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(world.repositories, 'main.git/objects'),
    GIT_TRACE: join(canaries, 'trace'),
    GIT_TRACE2_EVENT: join(canaries, 'trace2'),
    GIT_TRACE_CURL: join(canaries, 'trace-curl'),
    GIT_ALLOW_PROTOCOL: 'ext:file:ssh:http',
    GIT_EXEC_PATH: join(home, 'templates/hooks'),
    GIT_SSL_NO_VERIFY: '1',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    NODE_USE_ENV_PROXY: '1',
    http_proxy: 'http://127.0.0.1:1',
    HTTP_PROXY: 'http://127.0.0.1:1',
    HTTPS_PROXY: 'http://127.0.0.1:1',
    ALL_PROXY: 'socks5://127.0.0.1:1',
    NO_PROXY: '',
    LD_LIBRARY_PATH: home,
    SSL_CERT_FILE: join(home, 'cookies'),
  };
}

/** Fetches in a process that has it all, with its working directory where a repository lies in wait. */
async function fetchOnHost(origin: string, cache: string): Promise<string> {
  const argv = [
    FETCH_ONCE,
    join(world.root, cache),
    origin,
    `${origin}/main.git`,
    ids.base,
    ids.fix,
  ];
  const child = spawn(process.execPath, argv, {
    cwd: join(world.root, 'trap'),
    env: hostileVariables(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  const printed = await text(child.stdout);
  await closed;
  return printed;
}

it('G09 G29 G31 G32 runs on a host of hooks, helpers, filters, proxies and traces: it fetches, and none of them is met', async () => {
  const trap = join(world.root, 'trap');
  await runPlainGit('clone', '-q', world.server.url('main.git'), trap);
  await writeFile(
    join(trap, '.git/config'),
    `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch ${join(canaries, 'trap')}"\n[include]\n\tpath = ${join(home, '.gitconfig')}\n`,
  );
  expect(await fetchOnHost(world.server.origin, 'cache-hostile')).toBe('fetched 6\n');
  expect(await readdir(canaries)).toEqual([]);
  const left = await readdir(join(world.root, 'cache-hostile/v1'), { recursive: true });
  expect(left.filter((name) => name.includes('hooks'))).toEqual([]);
  expect(await readdir(join(world.root, 'cache-hostile/v1/tmp'))).toEqual([]);
  expect(await gitProcessesOf(world.root)).toEqual([]);
});

it('G09 asks a host that has a password for everybody: REPOSITORY_UNREACHABLE, and nothing is given away', async () => {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.url ?? ''} ${JSON.stringify(request.headers)}`);
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x", Negotiate, NTLM' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const printed = await fetchOnHost(`http://127.0.0.1:${port}`, 'cache-401');
  const met = [await readdir(canaries), seen.join('\n')];
  // The same host gives all of it away to whoever lets git read its settings.
  const argv = ['-c', 'http.proxy=', 'ls-remote', `http://localhost:${port}/main.git`];
  const careless = spawn('git', argv, { env: { PATH: process.env['PATH'], HOME: home } });
  await once(careless, 'close');
  server.close();
  expect(await readdir(canaries)).toContain('helper');
  expect(seen.join('\n')).toMatch(/authorization.*x-secret|x-secret.*authorization/s);
  expect(printed).toMatch(/^unavailable .*must be public/);
  expect(met).toEqual([[], expect.stringMatching(/^\/main.git\/info/)]);
  expect(met[1]).not.toMatch(/s3cret|authorization|x-secret|cookie/i);
});
