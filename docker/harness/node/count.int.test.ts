import { sha256Hex } from '@kervyxa/core';
import type { SandboxSession } from '@kervyxa/sandbox';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type EngineBench, openEngineBench } from '../../../packages/sandbox/src/testing/engine.ts';
import { LIMITS, run, withSession } from '../../../packages/sandbox/src/testing/harness.ts';
import { type TestFile, testTree } from '../../../packages/sandbox/src/testing/trees.ts';

const MIB = 1_024 * 1_024;
/** Takes 100,000 turns; its answer stands in `sum`. */
const WORK = 'let sum = 0; for (let i = 0; i < 100000; i += 1) sum += i % 7;';
/** What is more than the work takes is only what stands around it. */
const WORK_COUNT = 100_000;
const ANSWER = '299995\n';
const HONEST = `${WORK} console.log(sum);`;
/** The work as text, for those that would have it run unseen. */
const AS_TEXT = JSON.stringify(`${WORK} return sum;`);

let bench: EngineBench;
beforeAll(async () => {
  bench = await openEngineBench();
});
afterEach(() => bench.assertNothingLeft());

interface Reading {
  readonly count: number | null;
  readonly stdoutSha256: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
}
type Files = Readonly<Record<string, TestFile>>;

interface CountOptions {
  readonly source?: string;
  readonly command?: string;
  readonly memoryMiB?: number;
  readonly verifierPackage?: Files;
}

/** Counts in the runtime image, as a criterion does. */
async function count(
  files: Files | string,
  {
    source = 'node_block_count',
    command = 'node a.js',
    memoryMiB = 512,
    verifierPackage,
  }: CountOptions = {},
): Promise<Reading & { log: string }> {
  const tree = testTree(typeof files === 'string' ? { 'a.js': files } : files);
  const request = {
    tree,
    limits: { ...LIMITS, memoryBytes: memoryMiB * MIB },
    verifierPackage: verifierPackage === undefined ? null : testTree(verifierPackage),
  };
  const outcome = await withSession(bench, request, (session: SandboxSession) =>
    run(session, `exec kervyxa-count ${source} ${command}`, {
      timeoutMs: 60_000,
      package: verifierPackage === undefined ? 'none' : 'shared',
    }),
  );
  const log = Buffer.from(outcome.stderr.head).toString();
  const line = /^KERVYXA_COUNT=(\{.*\})\n$/.exec(Buffer.from(outcome.stdout.head).toString())?.[1];
  if (outcome.exitCode !== 0 || line === undefined) {
    throw new Error(`expected one reading, got exit status ${outcome.exitCode}: ${log}`);
  }
  return { ...JSON.parse(line), log };
}

/** Looks at promises of Node's own for what compiles modules, and has it compile the work. */
const COMPILE_IN_NODE = `const { then } = Promise.prototype;
  const use = (found) => {
    const Wrap = found && Object.getPrototypeOf(found)?.constructor;
    if (Wrap?.name !== 'ModuleWrap') return;
    const wrap = new Wrap('file:///workspace/b.mjs', undefined, ${JSON.stringify(HONEST)}, 0, 0);
    wrap.link([]);
    wrap.instantiate();
    wrap.evaluate(-1, false);
    process.exit();
  };
  import('./b.mjs').then(() => {
    for (const one of kept.filter((each) => each instanceof Promise).slice(0, 99)) {
      then.call(one, (value) => { use(value); use(value?.module); });
    }
    setImmediate(() => { throw new Error('nothing that compiles'); });
  });`;

const GOOD_END = { exitCode: 0, signal: null };

// Keeps R-COUNT-NO-LESS.
describe('code that counts less than it does', () => {
  it.each([
    ['hands its work to new Function', `console.log(new Function(${AS_TEXT})());`],
    ['hands its work to eval', `console.log((0, eval)('(() => {' + ${AS_TEXT} + '})()'));`],
    [
      'hands its work to the constructor of generators',
      `console.log(new (Object.getPrototypeOf(function* () {}).constructor)(${AS_TEXT})().next().value);`,
    ],
    [
      'hands its work to the constructor of the require it was given',
      `console.log(require.constructor(${AS_TEXT})());`,
    ],
    ['hands its work to vm', `require('node:vm').runInThisContext('1');`],
    [
      'hands its work to vm, from an import',
      `import('vm').then((vm) => vm.runInThisContext('1'));`,
    ],
    ['hands its work to a worker', `new (require('worker_threads').Worker)('1', { eval: true });`],
    [
      'hands its work to another process',
      `require('child_process').execFileSync('node', ['-e', '1']);`,
    ],
    ['hands its work to WebAssembly', `new WebAssembly.Module(new Uint8Array(8));`],
    [
      'hands its work to a text that it imports',
      `import('data:text/javascript,1').then(() => console.log(1));`,
    ],
    ['hands its work to the compiler of its module', `module._compile('1', '/workspace/b.js');`],
    ['hands its work to the loader of its module', `module.constructor._load('vm');`],
    ['hands its work to the loader of its process', `process.mainModule.constructor._load('vm');`],
    ['asks Node for its inner parts', `process.binding('contextify');`],
    ['asks for vm at another door', `process.getBuiltinModule('vm').runInThisContext('1');`],
    ['asks for vm by a require of its own', `require('module').createRequire(__filename)('vm');`],
    ['loads native code', `process.dlopen({ exports: {} }, '/workspace/a.js');`],
    ['becomes another program', `process.execve('/bin/sh', ['sh', '-c', 'echo 1']);`],
    [
      'switches the walls off by flags',
      `require('v8').setFlagsFromString('--no-disallow-code-generation-from-strings');`,
    ],
    ['opens a debugger to stop the counting', `require('inspector').open();`],
    ['sets the counter back', `${WORK} $kervyxa[0] = 0; console.log(sum);`],
    [
      'puts a counter of its own in between',
      `with (new Proxy({}, { has: () => true, get: () => [0] })) { for (;;); }`,
    ],
    [
      'writes to the harness through /proc',
      `require('fs').writeFileSync('/proc/' + process.ppid + '/mem', '1');`,
    ],
    [
      'reads its own memory for what the report is known by',
      `require('fs').openSync('/proc/self/mem', 'r');`,
    ],
    ['stops the harness', `process.kill(process.ppid, 'SIGSTOP');`],
    [
      'watches the promises of Node for what compiles',
      `const kept = [];
       require('async_hooks').createHook({ init: (id, type, by, promise) => kept.push(promise) }).enable();
       ${COMPILE_IN_NODE}`,
    ],
    [
      'stands in as the constructor of the promises of Node for what compiles',
      `'use strict';
       const kept = [];
       Object.defineProperty(Promise.prototype, 'constructor', { get() { kept.push(this); return Promise; } });
       ${COMPILE_IN_NODE}`,
    ],
    [
      'stands in as the species of the promises of Node for what compiles',
      `const kept = [];
       Object.defineProperty(Promise, Symbol.species, { get() { return function (executor) { return kept[kept.push(new Promise(executor)) - 1]; }; } });
       ${COMPILE_IN_NODE}`,
    ],
    [
      'marks what happens in Node for what compiles',
      `'use strict';
       const kept = [];
       const storage = new (require('async_hooks').AsyncLocalStorage)();
       Object.defineProperty(Object.prototype, storage.kResourceStore, { get: () => 1, set() { kept.push(this); } });
       storage.run(1, () => { ${COMPILE_IN_NODE} });`,
    ],
    [
      'ends in an error that nobody hears of, to leave without a report',
      `${HONEST}
       process.on('uncaughtException', () => {});
       process.on('exit', () => { throw new Error('left'); });`,
    ],
    [
      'puts another file in place of the channel, and lies about which it is',
      `const fs = require('fs');
       const { ino } = fs.fstatSync(3);
       Object.defineProperty(fs.fstatSync(3).constructor.prototype, 'ino', { get: () => ino, set() {} });
       ${HONEST}`,
    ],
    ['opens a socket to leave data with the kernel', `new (require('tty').ReadStream)(0);`],
    ['marks the harness for its next run', `require('os').setPriority(process.ppid, 7);`],
    [
      'marks the harness for its next run, from an import',
      `import('node:os').then(({ setPriority }) => setPriority(process.ppid, 7));`,
    ],
    ['closes the channel of the report', `require('fs').closeSync(3); ${HONEST}`],
    [
      'puts another file in place of the channel',
      `require('fs').closeSync(3); require('fs').openSync(__filename); ${HONEST}`,
    ],
  ])('%s, and fails', async (_, program) => {
    const files = { 'a.js': program, 'b.mjs': 'await 1;' };
    const { exitCode, signal, count: counted } = await count(files);
    expect({ exitCode, signal, counted }).toEqual({ exitCode: 1, signal: null, counted: null });
  });

  it.each([
    ['forges the report', `require('fs').writeSync(3, '0'.repeat(32) + ' 1\\n'); ${HONEST}`],
    ['spoils the report', `require('fs').writeSync(3, '\\n'); ${HONEST}`],
  ])('%s, and has no count', async (_, program) => {
    expect(await count(program)).toMatchObject({
      ...GOOD_END,
      count: null,
      stdoutSha256: sha256Hex(ANSWER),
    });
  });

  it.each([
    [
      'forges the report and ends before the true one',
      'SIGABRT',
      `require('fs').writeSync(3, '0'.repeat(32) + ' 1\\n'); ${HONEST} process.abort();`,
    ],
  ])('%s, and has crashed', async (_, signal, program) => {
    expect(await count(program)).toMatchObject({ count: null, exitCode: null, signal });
  });

  it.each([
    ['leaves before the work', `console.log(0); process.exit(0);`],
    [
      'leaves by the inner door before the work',
      `console.log(0); process.reallyExit(0); ${HONEST}`,
    ],
    ['says that it ends, and goes on', `console.log(0); process.emit('exit', 0); ${HONEST}`],
    ['prints a reading of its own', `console.log('KERVYXA_COUNT={"count":1}');`],
  ])('%s, and has the wrong answer', async (_, program) => {
    const { stdoutSha256, ...reading } = await count(program);
    expect(reading).toMatchObject(GOOD_END);
    expect(stdoutSha256).not.toBe(sha256Hex(ANSWER));
  });

  it.each([
    ['works when all seems over', `process.on('exit', () => { ${HONEST} });`],
    [
      'works after what would have been the report was taken away',
      `process.removeAllListeners(); process.emit = () => {}; process.reallyExit = () => {}; ${HONEST}`,
    ],
    ['ends with a status that only looks like 0', `${HONEST} process.reallyExit({});`],
    ['ends with a status that the system cuts down to 0', `${HONEST} process.exit(256);`],
    [
      'works in the parameters of generators that never begin',
      `let sum = 0;
       Array.from({ length: 100000 }, function* (_, i, ...{ [(sum += i % 7)]: x }) {});
       console.log(sum);`,
    ],
    [
      'works in the parameters of calls that fail unheard',
      `let sum = 0;
       process.on('unhandledRejection', Boolean);
       Array.from({ length: 100000 }, async (_, i, ...{ [(sum += i % 7, 'length')]: [x] }) => {});
       console.log(sum);`,
    ],
    [
      'ends where the stack is full, to be cut off in the middle of the report',
      `const dig = () => { try { dig(); } catch { process.emit('exit', 1); } }; dig(); ${HONEST}`,
    ],
    [
      'turns typed arrays into liars',
      `Object.defineProperty(Float64Array.prototype, '0', { get: () => 0, set() {} }); ${HONEST}`,
    ],
    ['works later', `setTimeout(() => { ${HONEST} }, 5);`],
    ['works in a module of the other kind', `import('./work.mjs');`],
    [
      'patches all that the harness could be made of, and then loads its work',
      `const { writeSync } = require('fs');
       globalThis.print = (text) => writeSync(1, text);
       const none = () => {};
       for (const type of [Array, String, RegExp, Function, Map, Promise, Uint8Array]) {
         for (const name of ['push', 'slice', 'exec', 'call', 'apply', 'sort', 'join', 'replace', 'startsWith', 'get', 'test', 'then']) {
           if (name in type.prototype) type.prototype[name] = none;
         }
       }
       Reflect.apply = JSON.parse = JSON.stringify = Object.defineProperty = none;
       Object.assign = none;
       require('fs').writeSync = require('fs').readFileSync = none;
       Object.prototype.contextExtensions = [{ ['$ker' + 'vyxa']: [0] }];
       Object.prototype.cachedData = new Uint8Array(0);
       require('./work.cjs');`,
    ],
  ])('%s, and all of it counts', async (_, program) => {
    const { count: counted, ...reading } = await count({
      'a.js': program,
      'work.mjs': HONEST,
      'work.cjs': `${WORK} print(sum + '\\n');`,
    });
    expect(reading).toMatchObject({ ...GOOD_END, stdoutSha256: sha256Hex(ANSWER) });
    expect(counted).toBeGreaterThanOrEqual(WORK_COUNT);
  });

  it('catches errors of the harness to get at its inner parts, and gets errors of its own', async () => {
    const { log } = await count(
      `let foreign = 0;
       const look = (error) => { if (!(error instanceof Error)) foreign += 1; };
       const dig = (depth) => {
         try { require('./b' + depth + '.js'); } catch (error) { look(error); }
         try { dig(depth + 1); } catch (error) { look(error); }
       };
       dig(0);
       console.log('foreign: ' + foreign);`,
    );
    expect(log).toContain('foreign: 0\n');
  });

  it('looks for the harness on the stack and among the globals, and finds functions of its own', async () => {
    const { log } = await count(
      `Error.prepareStackTrace = (_, sites) => sites.map((site) => site.getFunction()).filter((f) => f !== undefined);
       const own = function () { return new Error().stack; };
       console.log(own().length, Object.getOwnPropertyNames(globalThis).filter((name) => name.includes('kervyxa')).length);`,
    );
    expect(log).toBe('2 0\n');
  });
});

// Keeps R-COUNT-EXACT.
describe('a program', () => {
  it('is counted to the last unit, and prints on the log', async () => {
    expect(await count(HONEST)).toEqual({
      // One for the file, one for each turn.
      count: 1 + WORK_COUNT,
      stdoutSha256: sha256Hex(ANSWER),
      ...GOOD_END,
      log: ANSWER,
    });
  });

  it('loads modules of both kinds, packages, JSON, the hidden package and its input, as under Node', async () => {
    const { count: counted, log } = await count(
      {
        'package.json': '{ "type": "module" }',
        'a.js': `import { readFileSync } from 'node:fs';
          import data from './data.json' with { type: 'json' };
          import { twice } from './lib/twice.cjs';
          import whole, { named } from 'pkg';
          const hidden = readFileSync(process.argv[2], 'utf8');
          const input = readFileSync(0, 'utf8');
          const late = await import('./lib/late.mjs');
          console.log(data.n, twice(3), whole, named, hidden, input, late.url.endsWith('/lib/late.mjs'));`,
        'data.json': '{ "n": 1 }',
        'lib/twice.cjs': `exports.twice = (n) => require('./factor').factor * n + require('../data.json').n;`,
        'lib/factor/index.cjs': '',
        'lib/factor/package.json': '{ "main": "./factor.cjs" }',
        'lib/factor/factor.cjs': 'exports.factor = 2;',
        'lib/late.mjs': 'export const { url } = import.meta;',
        'node_modules/pkg/package.json':
          '{ "exports": { "import": "./i.mjs", "default": "./r.cjs" } }',
        'node_modules/pkg/i.mjs': `import { createRequire } from 'node:module';
          export default createRequire(import.meta.url)('pkg');
          export const named = 'import';`,
        'node_modules/pkg/r.cjs': `module.exports = 'require';`,
        'in.txt': 'input',
      },
      {
        command: 'node a.js "$KERVYXA_VERIFIER_PACKAGE/h.txt" <in.txt',
        verifierPackage: { 'h.txt': 'hidden' },
      },
    );
    expect(log).toBe('1 7 require import hidden input true\n');
    // Six modules that are programs, and one function.
    expect(counted).toBe(7);
  });

  it('may be a module without saying so, and be required by the other kind', async () => {
    const { log, count: counted } = await count({
      'a.js': `const { b } = require('./b.js'); console.log(b, require.main === module, module.parent, require('./c.js'));`,
      'b.js': 'export const b = 2;',
      'c.js': 'module.exports = module.parent === require.main;',
    });
    expect(log).toBe('2 true null true\n');
    expect(counted).toBe(3);
  });

  it.each([
    ['throws', `console.log(1); throw new Error('boom');`, 1, 'Error: boom'],
    ['rejects', `Promise.reject(new Error('boom'));`, 1, 'Error: boom'],
    ['ends with a status', `process.exit(3);`, 3, ''],
    [
      'has syntax that can not be read',
      'let a;\nlet x: number;',
      1,
      'a.js: Unexpected token (2:5)',
    ],
    ['loads what is not there', `require('./none.js');`, 1, `Cannot find module './none.js'`],
    ['loads what is not for it', `require('http');`, 1, `the module http can't be used`],
  ])('that %s says so, and has no count', async (_, program, exitCode, said) => {
    const { log, ...reading } = await count(program);
    expect(reading).toMatchObject({ count: null, exitCode, signal: null });
    expect(log).toContain(said);
  });

  it('keeps a store over what happens later, and has promises of its own kind', async () => {
    const { log } = await count(
      `const storage = new (require('async_hooks').AsyncLocalStorage)();
       class Own extends Promise {}
       storage.run('stored', () => setTimeout(() => {
         Own.resolve(1).then(() => console.log(storage.getStore()));
         console.log(Own.resolve(1).then(() => {}) instanceof Own, require('tty').isatty(1));
       }, 1));`,
    );
    expect(log).toBe('true false\nstored\n');
  });

  it('that waits for ever in its module ends as under Node', async () => {
    const { exitCode } = await count(
      { 'a.mjs': 'await new Promise(() => {});' },
      { command: 'node a.mjs' },
    );
    expect(exitCode).toBe(13);
  });

  it('that prints more than a pipe holds and leaves at once has printed all of it', async () => {
    const text = 'x'.repeat(200_000);
    const { stdoutSha256 } = await count(
      `process.stdout.write('${'x'.repeat(10)}'.repeat(20000)); process.exit(0);`,
    );
    expect(stdoutSha256).toBe(sha256Hex(text));
  });
});

// Keeps R-COUNT-EXACT, R-COUNT-NO-LESS.
describe('peak heap', () => {
  const heap = { source: 'node_peak_heap_bytes', memoryMiB: 768 };
  const keep = (items: number) =>
    `const all = []; for (let i = 0; i < ${items}; i += 1) all.push({ i }); console.log(all.length);`;

  it('is the smallest limit that does, again and again', async () => {
    const [first, again, less] = [
      await count(keep(600_000), heap),
      await count(keep(600_000), heap),
      await count(keep(60_000), heap),
    ];
    expect(again).toEqual(first);
    // 600,000 objects of 32 bytes and their list are at least that much.
    expect(first.count).toBeGreaterThan(600_000 * 32);
    expect(first.count).toBeLessThan(4 * 600_000 * 32);
    expect(less.count).toBeLessThan(first.count ?? 0);
  });

  it('has the whole input for each run', async () => {
    const program = `console.log(require('fs').readFileSync(0, 'utf8').length);`;
    const options = { ...heap, command: 'node a.js <a.js' };
    const { count: counted, log } = await count(program, options);
    expect(log).toBe(`${program.length}\n`);
    expect(counted).toBeGreaterThan(0);
  });

  it.each([
    [
      'puts its data into Buffers, outside of the heap',
      `console.log(Buffer.alloc(150e6, 1).length);`,
      60 * MIB,
    ],
  ])('of code that %s is no smaller', async (_, program, least) => {
    expect((await count(program, heap)).count).toBeGreaterThan(least);
  });

  it.each([
    [
      'raises the limit by a flag',
      `require('v8').setFlagsFromString('--max-old-space-size=4000');`,
    ],
    [
      'works in a process of its own',
      `require('child_process').execFileSync('node', ['-e', '1']);`,
    ],
    [
      'works in a thread of its own',
      `new (require('worker_threads').Worker)('1', { eval: true });`,
    ],
  ])('of code that %s is none', async (_, program) => {
    expect(await count(program, heap)).toMatchObject({ count: null, exitCode: 1 });
  });
});

describe('what can not be counted', () => {
  it.each([
    ['a program of another kind', 'node_block_count python3 a.py', 126],
    ['an option of node', 'node_block_count node --expose-gc a.js', 126],
    ['a source that this image does not know', 'node_heartbeats node a.js', 127],
  ])('is %s: no reading', async (_, command, exitCode) => {
    const outcome = await withSession(bench, { tree: testTree({ 'a.js': '' }) }, (session) =>
      run(session, `exec kervyxa-count ${command}`),
    );
    expect({ exitCode: outcome.exitCode, bytes: outcome.stdout.bytesTotal }).toEqual({
      exitCode,
      bytes: 0,
    });
  });
});
