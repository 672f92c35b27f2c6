/** A script that its own host would not survive without walls, and what is said of it. */
export interface HostileScript {
  readonly name: string;
  readonly script: string;
  readonly reason: string;
}

const node = (program: string): string => `node -e '${program}'\n`;
const python = (program: string): string => `python3 -c '${program}'\n`;

/** Each runs under the limits of `stage.ts`: 512 MB, 64 processes, 16 MB of workspace, 64 KB of output, 5 seconds. */
export const HOSTILE_SCRIPTS: readonly HostileScript[] = [
  {
    name: 'fork-bomb',
    script: 'bomb() { bomb | bomb & }\nbomb\nsleep 1\nexit 1\n',
    reason: 'PIDS_LIMIT',
  },
  { name: 'memory', script: python('x = bytearray(900_000_000)'), reason: 'MEMORY_LIMIT' },
  { name: 'disk', script: 'cat /dev/zero > a\ncat /dev/zero > b\nexit 1\n', reason: 'DISK_LIMIT' },
  {
    name: 'inodes',
    script: node('for (let i = 0; ; i += 1) fs.closeSync(fs.openSync("f" + i, "w"))'),
    reason: 'DISK_LIMIT',
  },
  { name: 'output', script: 'exec yes >&2\n', reason: 'OUTPUT_LIMIT' },
  { name: 'bare-newlines', script: 'exec yes "" >&2\n', reason: 'OUTPUT_LIMIT' },
  { name: 'cpu', script: 'trap "" TERM\nwhile :; do :; done\n', reason: 'TIME_LIMIT' },
  { name: 'sleep', script: 'exec sleep 9999\n', reason: 'TIME_LIMIT' },
  {
    name: 'zombies',
    script:
      'sh -c "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 0 & done; exec sleep 1"\nexit 1\n',
    reason: 'EXIT_CODE_MISMATCH',
  },
  {
    name: 'orphans',
    script:
      'for i in 1 2 3 4 5; do setsid sh -c "trap \\"\\" TERM HUP; while :; do sleep 1; done" & done\nexit 1\n',
    reason: 'EXIT_CODE_MISMATCH',
  },
  {
    name: 'deep-folders',
    script: python('import os\nfor i in range(3000): os.mkdir("d"); os.chdir("d")\nos._exit(1)'),
    reason: 'EXIT_CODE_MISMATCH',
  },
  { name: 'sparse-file', script: 'truncate -s 1T sparse\nexit $?\n', reason: 'CRASHED' },
  { name: 'kill-everything', script: 'kill -KILL -1\n', reason: 'CRASHED' },
  { name: 'stops-itself', script: 'kill -STOP $$ $PPID\n', reason: 'TIME_LIMIT' },
  {
    name: 'sockets',
    script: python('import socket\nkept = []\nwhile True: kept += socket.socketpair()'),
    reason: 'EXIT_CODE_MISMATCH',
  },
  {
    name: 'locked-memory',
    script: python(
      'import ctypes, mmap, os\nlibc = ctypes.CDLL(None)\nprint(libc.mlockall(3))\nx = mmap.mmap(-1, 100_000_000)\nos._exit(1)',
    ),
    reason: 'EXIT_CODE_MISMATCH',
  },
  {
    name: 'open-files',
    script: node('const { openSync } = require("fs"); for (;;) openSync("/dev/null", "r");'),
    reason: 'EXIT_CODE_MISMATCH',
  },
  { name: 'shared-memory', script: 'cat /dev/zero > /dev/shm/x\n', reason: 'CRASHED' },
  {
    name: 'temporary-files',
    script: 'for i in 1 2 3 4 5 6 7 8 9; do head -c 15000000 /dev/zero > /tmp/$i || exit 1; done\n',
    reason: 'EXIT_CODE_MISMATCH',
  },
  {
    name: 'exit-storm',
    script:
      'i=0\nwhile [ $i -lt 300 ]; do (kill -KILL $(sh -c "echo \\$PPID")); i=$((i+1)); done\nexit 137\n',
    reason: 'CRASHED',
  },
];
