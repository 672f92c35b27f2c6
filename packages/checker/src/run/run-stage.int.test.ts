import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engineDeps, type EngineDeps } from '../testing/engine-deps.ts';
import {
  answerOf,
  inputFile,
  type PackageParts,
  scriptPackage,
  STAGE_KEY,
} from '../testing/script-package.ts';
import { runStage, type StageRequest } from './run-stage.ts';

const never = new AbortController().signal;
/** What a dishonest artifact may hope to be read as. */
const FORGED = '{"result": "verified"}';

let deps: EngineDeps;
const images: string[] = [];
beforeAll(async () => {
  deps = await engineDeps();
});
afterAll(() => Promise.all(images.map((id) => deps.removeImage(id))));

const end = (script: string, parts: PackageParts = {}, more: Partial<StageRequest> = {}) =>
  runStage(
    deps,
    {
      package: scriptPackage(script, parts),
      stageKey: STAGE_KEY,
      submission: answerOf(FORGED),
      reference: new Map(),
      ...more,
    },
    never,
  );

/** Writes an answer; then whatever is given. */
const after = (result: string, script: string): string =>
  `import os, sys, time\nopen("/output/result.json", "w").write('{"result": "${result}"}')\n${script}`;

// In words of its own, what the protocol's documents show: no folder or name is guessed.
const SOMEBODY_ELSES = `
import hashlib, json, os

m = json.load(open('/input/manifest.json'))
a = next(a for a in m['artifacts'] if a['role'] == 'answer')
r = next(r for r in m['reference'] if r['key'] == 'wanted')
given, wanted = open(a['path']).read(), open(r['path']).read()
same = all('sha256:' + hashlib.sha256(open(f['path'], 'rb').read()).hexdigest() == f['content_hash']
           for f in [a, r])
os.makedirs('/output/evidence', exist_ok=True)
json.dump({'same': same, 'named': [a['filename'], r['filename']]}, open('/output/evidence/summary.json', 'w'))
json.dump({'result': 'verified' if same and given == wanted else 'refuted', 'reason': os.getcwd()},
          open('/output/result.json', 'w'))
`;

// Keeps R-CHECKER-PROTOCOL.
describe.concurrent('a program in a container', () => {
  it('finds its inputs by the manifest, whatever whoever sent them calls them', async () => {
    const slot = { key: 'wanted', required: true, sealed: false, media_types: [], max_bytes: 99 };
    const parts = {
      contract: { reference_inputs: [{ ...slot, description: 'What is wanted.' }] },
      stage: { evidence_schema: { required: ['same'], properties: { same: { const: true } } } },
    };
    const names = [
      ['../../checker/checker.py', 'line\nfeed'],
      ['ä'.repeat(127), '-rf *'],
    ] as const;
    const ends = await Promise.all(
      names.map(([one, other]) =>
        end(SOMEBODY_ELSES, parts, {
          submission: {
            artifacts: [{ role: 'answer', ...inputFile('right', one) }],
            summaryText: null,
          },
          reference: new Map([['wanted', inputFile('right', other)]]),
        }),
      ),
    );
    expect(ends).toEqual(
      names.map((named) => ({
        kind: 'verified',
        reason: '/output',
        score: null,
        evidence: { same: true, named },
      })),
    );
  });

  it('runs from an image by digest, with its own entrypoint', async () => {
    const image = await deps.createImage(after('refuted', 'os.stat("/input/checker")'));
    images.push(image);
    const program = { kind: 'image', reference: image } as const;
    expect(await end('', { program })).toMatchObject({
      kind: 'broken',
      code: 'EXIT_STATUS',
      message: expect.stringContaining("No such file or directory: '/input/checker'"),
    });
    const honest = await deps.createImage(after('refuted', ''));
    images.push(honest);
    const got = await end('', { program: { ...program, reference: honest } });
    expect(got).toMatchObject({ kind: 'refuted' });
  });

  it.each([
    [
      'leaves a process that would answer when it has ended',
      'import os, time\nif os.fork() == 0:\n    time.sleep(0.2)\n    open("/output/result.json", "w").write(\'{"result": "verified"}\')',
    ],
    [
      'refutes, and leaves a process that waits for its end to write verified',
      after(
        'refuted',
        'if os.fork() == 0:\n    above = os.getppid()\n    while os.getppid() == above: pass\n    open("/output/result.json", "w").write(\'{"result": "verified"}\')\n    time.sleep(60)',
      ),
    ],
    [
      'leaves a process without its first thread',
      after(
        'verified',
        'import ctypes, threading\nchild = os.fork()\nif child == 0:\n    threading.Thread(target=time.sleep, args=(60,)).start()\n    ctypes.CDLL(None).syscall(60, 0)\nwhile "State:\\tZ" not in open(f"/proc/{child}/status").read(): pass',
      ),
    ],
    [
      'leaves processes without end, each gone once it has the next',
      after('verified', 'if os.fork() == 0:\n    while True:\n        if os.fork(): os._exit(0)'),
    ],
    [
      'leaves a process that calls itself dead',
      after(
        'verified',
        'import ctypes\nif os.fork() == 0:\n    ctypes.CDLL(None).prctl(15, b"a) Z\\nState:\\tZ\\n", 0, 0, 0)\n    time.sleep(60)',
      ),
    ],
  ])('%s: WRITTEN_AFTERWARDS', async (_, script) => {
    expect(await end(script)).toMatchObject({ kind: 'broken', code: 'WRITTEN_AFTERWARDS' });
  });

  it('waits for each process that it starts, and has an answer', async () => {
    const script = after(
      'verified',
      'import subprocess\nfrom concurrent.futures import ProcessPoolExecutor\nsubprocess.run(["true"])\nwith ProcessPoolExecutor(2) as pool: list(pool.map(abs, [1, 2]))',
    );
    expect(await end(script)).toMatchObject({ kind: 'verified' });
  });

  it.each([
    [
      'links its result to what was submitted',
      'RESULT_MALFORMED',
      'import os\nos.symlink("/input/artifacts/answer/answer.txt", "/output/result.json")',
    ],
    [
      'links its evidence to a folder of what was submitted',
      'EVIDENCE_MALFORMED',
      after('verified', 'os.symlink("/input/artifacts/answer", "/output/evidence")'),
    ],
    [
      'leaves a file that is mostly holes',
      'RESULT_MALFORMED',
      after('verified', 'os.truncate("/output/result.json", 15 * 2**20)'),
    ],
    [
      'fills its scratch',
      'DISK_LIMIT',
      after('verified', 'open("/output/x", "w").write("x" * 20_000_000)'),
    ],
    ['takes all memory', 'MEMORY_LIMIT', after('verified', 'x = bytearray(10**9)')],
    ['is killed', 'EXIT_STATUS', after('verified', 'os.kill(os.getpid(), 9)')],
  ])('%s: %s', async (_, code, script) => {
    expect(await end(script)).toMatchObject({ kind: 'broken', code });
  });

  it('never ends, beside others and alone: TIME_LIMIT', async () => {
    const script = after('verified', 'time.sleep(60)');
    const got = await end(script, { limits: { timeoutSeconds: 1 } });
    expect(got).toMatchObject({ kind: 'broken', code: 'TIME_LIMIT' });
  });
});
