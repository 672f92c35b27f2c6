import type { ContractInput } from '@kervyxa/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AttackBench, openAttackBench } from './attack-bench.ts';

const python = (program: string): string => `python3 -c '\n${program}\n'\n`;
const node = (program: string): string => `node -e '\n${program}\n'\n`;

/** What a solver commits as hello.sh, and what it comes to. */
const ENDS: readonly (readonly [title: string, script: string, said: string])[] = [
  ['C01 runs what it has built', `printf '#!/bin/sh\\nexit 0' >x; chmod +x x; ./x`, 'PASS'],
  [
    'C02 C04 fills the workspace, which is memory too',
    'for i in 1 2 3; do head -c 8000000 /dev/zero >$i || exit 3; done',
    'FAIL DISK_LIMIT',
  ],
  [
    'C03 makes names without end',
    python('import os\nopen("a", "w")\nfor i in range(100000): os.link("a", str(i))'),
    'FAIL DISK_LIMIT',
  ],
  [
    'C05 C24 writes beside its workspace',
    // A message queue is no file; what it holds is counted as memory, and as its user's.
    `for at in $(cut -d ' ' -f 5 /proc/self/mountinfo) /usr /root /kervyxa; do
       case $at in /workspace | /tmp | /dev/shm | /dev/mqueue) continue ;; esac
       touch $at/x 2>/dev/null && exit 0
       case $at in /proc/*) continue ;; esac
       [ -f $at ] && { echo x >>$at; } 2>/dev/null && exit 0
     done; exit 4`,
    'FAIL EXIT_CODE_MISMATCH',
  ],
  [
    'C35 looks for the socket of the engine, or any other',
    `find / -type s 2>/dev/null | grep . && exit 0; grep -E 'docker.sock|containerd' /proc/self/mountinfo && exit 0
     node -e 'require("net").connect("/var/run/docker.sock").on("connect", () => process.exit(0)).on("error", () => process.exit(4))'`,
    'FAIL EXIT_CODE_MISMATCH',
  ],
  ['C08 terminates itself', 'kill -TERM $$', 'FAIL CRASHED'],
  ['C08 aborts', 'kill -ABRT $$', 'FAIL CRASHED'],
  ['C08 kills all that it may', 'kill -9 -1; exit 0', 'FAIL CRASHED'],
  ['C11 ends with 125, as a broken engine would', 'exit 125', 'FAIL EXIT_CODE_MISMATCH'],
  ['C11 ends with 126, as an engine would', 'exit 126', 'FAIL EXIT_CODE_MISMATCH'],
  ['C11 ends with 127, as a shell would', 'exit 127', 'FAIL EXIT_CODE_MISMATCH'],
  ['C14 ends with 137, as if killed for memory', 'exit 137', 'FAIL CRASHED'],
  ['C14 kills itself', 'kill -9 $$', 'FAIL CRASHED'],
  [
    'BUG-19 takes more memory than there is',
    'exec ' + python('bytearray(400000000)'),
    'FAIL MEMORY_LIMIT',
  ],
  [
    'C15 BUG-20 loses a child for memory and copes',
    `${python('bytearray(400000000)')}exit 0`,
    'PASS',
  ],
  [
    'BUG-20 loses a child for memory and does not cope',
    `${python('bytearray(400000000)')}exit 1`,
    'FAIL MEMORY_LIMIT',
  ],
  [
    'C18 BUG-40 is a fork bomb',
    'bomb() { bomb | bomb & }; bomb; sleep 1; exit 1',
    'FAIL PIDS_LIMIT',
  ],
  ['C20 floods its output with bare newlines', `yes ''`, 'FAIL OUTPUT_LIMIT'],
  ['C20 floods its output with NUL', 'cat /dev/zero >&2', 'FAIL OUTPUT_LIMIT'],
  [
    'C38 asks for more CPUs than it was given',
    `[ "$(nproc)" = 1 ] && ${node('process.exit(os.availableParallelism() - 1)')}`,
    'PASS',
  ],
  [
    'C40 dumps its memory when it crashes',
    `ulimit -c unlimited 2>/dev/null; touch /tmp/before; sh -c 'kill -SEGV $$'
     find / -xdev -newer /tmp/before -name 'core*' 2>/dev/null | grep . && exit 0; exit 4`,
    'FAIL EXIT_CODE_MISMATCH',
  ],
  [
    'BUG-40 leaves the dead behind',
    python(
      'import os, time\nfor i in range(40):\n  if os.fork() == 0: os._exit(0)\ntime.sleep(0.2)',
    ),
    'PASS',
  ],
];

/** The same, for code that only a time-out ends; both its runs take a second. */
const HANGS: readonly (readonly [title: string, script: string])[] = [
  ['C09 BUG-24 ends with 0 when told to stop', 'trap "exit 0" TERM INT HUP; while :; do :; done'],
  ['BUG-21 sleeps', 'sleep 9999'],
  ['stops itself', 'kill -STOP $$'],
  ['stops whom it was started by, and ends', 'kill -STOP $PPID; exit 0'],
  ['closes its output and stays', 'exec >&- 2>&- </dev/null; sleep 9999'],
  [
    'closes everything that it was given and stays',
    python('import os, time\nos.closerange(0, 1024)\ntime.sleep(9999)'),
  ],
];

/** Processes that the command leaves, stops or cuts off; what they print later is no metric. */
const METRICS: readonly (readonly [title: string, script: string, said: string])[] = [
  ['C22 prints before anything else', 'echo KERVYXA_METRIC=1', 'PASS'],
  [
    'C41 leaves a child that prints',
    '(sleep 0.5; echo KERVYXA_METRIC=1) & exit 0',
    'FAIL METRIC_MISSING',
  ],
  [
    'C41 leaves a grandchild with a session of its own that prints',
    python(
      'import os, time\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n    time.sleep(0.5)\n    os.write(1, b"KERVYXA_METRIC=1\\n")\n  os._exit(0)',
    ),
    'FAIL METRIC_MISSING',
  ],
  [
    'prints into the output of process 1',
    'echo KERVYXA_METRIC=1 >/proc/1/fd/1; echo KERVYXA_METRIC=1',
    'FAIL METRIC_DUPLICATED',
  ],
  ['closes its output before the end', 'echo KERVYXA_METRIC=1; exec >&- 2>&-; sleep 0.3', 'PASS'],
  [
    'C21 floods between two metrics',
    `echo KERVYXA_METRIC=1; head -c 900000 /dev/zero; printf '\\nKERVYXA_METRIC=1\\n'`,
    'FAIL METRIC_DUPLICATED',
  ],
  [
    'prints NUL, broken UTF-8, escapes and bidi marks around it',
    `printf '\\0\\377\\376\\033[2J\\033]0;x\\007\\342\\200\\256\\nKERVYXA_METRIC=1\\n\\303'`,
    'PASS',
  ],
  [
    'prints NUL and an escape within it',
    `printf 'KERVYXA_METRIC=1\\0\\033[2J\\n'`,
    'FAIL METRIC_MALFORMED',
  ],
];

const asMetric = (contract: ContractInput): void => {
  contract.environment.outputKB = 1_024;
  contract.criteria = [
    {
      id: 'counts',
      title: 'It is one',
      type: 'benchmark',
      visibility: 'public',
      command: 'sh hello.sh',
      timeoutSeconds: 20,
      metric: {
        name: 'count',
        unit: 'items',
        op: 'lte',
        threshold: 1,
      },
      source: 'marker',
    },
  ];
};

let bench: AttackBench;
let commits: Record<string, string>;
beforeAll(async () => {
  bench = await openAttackBench();
  const scripts = [...ENDS, ...HANGS, ...METRICS];
  commits = await bench.build('ends', [
    { name: 'base', files: { 'check.sh': 'sh hello.sh\n', 'hello.sh': 'exit 1\n' } },
    ...scripts.map(([title, script]) => ({
      name: toName(title),
      parents: ['base'],
      files: { 'hello.sh': script },
    })),
  ]);
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

/** Of a title, what can be a branch too. */
function toName(title: string): string {
  return title.replaceAll(/[^A-Za-z0-9]+/g, '-');
}

function attack(title: string, contract?: (contract: ContractInput) => void) {
  const { base = '', [toName(title)]: commit = '' } = commits;
  return bench.attack('ends', base, { commit, ...(contract !== undefined && { contract }) });
}

describe('a command', () => {
  it.each(ENDS)('%s: $2', async (title, _, said) => {
    expect((await attack(title)).said).toBe(said);
  });

  it.each(HANGS)('%s: FAIL TIME_LIMIT, and nothing is left', async (title) => {
    const { said, criteria } = await attack(title, (contract) => {
      for (const criterion of contract.criteria) {
        if ('timeoutSeconds' in criterion) criterion.timeoutSeconds = 1;
      }
    });
    expect(said).toBe('FAIL TIME_LIMIT');
    expect(criteria[0]?.exitCode).toBe(137);
  });
});

describe('a metric', () => {
  it.each(METRICS)('%s: $2', async (title, _, said) => {
    const ended = await attack(title, asMetric);
    expect(ended.said).toBe(said);
    expect(ended.reasons.map(({ message }) => message).join()).toMatch(/^[ -~]*$/);
  });
});
