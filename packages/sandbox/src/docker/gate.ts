import { sandboxError } from '../errors.ts';
import { OUTLIVED_STATUS } from '../port.ts';

/** Where every run of a session of layout `workspace` works. */
export const WORKSPACE = '/workspace';
/** Where runs of layout `inputs` find the tree, and where they work. */
export const INPUT = '/input';
export const OUTPUT = '/output';
/** A folder that each run has for itself, and in which its command starts. */
export type WorkFolder = typeof WORKSPACE | typeof OUTPUT;
/** Where the hidden package is, or an empty folder that looks the same (THREATS H19). */
export const PACKAGE_FOLDER = '/kervyxa/sealed/package';
/** Where the inputs of a probe are, or an empty folder. */
export const PROBE_FOLDER = '/kervyxa/probe';
/** Where the dependency bundle is, or an empty folder. */
export const DEPS_FOLDER = '/kervyxa/deps';
/** Programs are looked for in the image alone. */
export const RUN_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
export const HOME_FOLDER = '/tmp/home';

const HELLO = 'kervyxa-gate';
const GO = 'go';
const GO_WITH_LINE = 'line';
const HELLO_BYTES_MAX = 256;

/**
 * A bundle's `home` folder is laid out in $HOME, its files as links: npm finds nothing in a cache that it can't write to
 * (ADR 0026). Where that fails, what needs it says so.
 */
export const MAKE_HOME = `mkdir -m 700 "$HOME" || exit 1
[ ! -d ${DEPS_FOLDER}/home ] || cp -Rs ${DEPS_FOLDER}/home/. "$HOME"`;

/**
 * Says of which type the file system at the folder is, since an engine that can't mount an overlay shows an empty
 * folder instead, and waits for the word to go on. A gate whose stdin ends, because our program died, exits. What stays
 * on stdin is empty, or one line: in a pipe, where it can be read once, and not in the temporary file that some shells
 * make for it, nor, when the command has taken the shell's place, in any memory but its own.
 */
export const toWaitForGo = (
  folder: WorkFolder,
): string => `while read -r skip skip skip skip at rest; do
  [ "$at" != ${folder} ] || type=\${rest##* - }
done </proc/self/mountinfo
echo "${HELLO} \${type%% *}"
IFS= read -r word || exit 1
case $word in
  ${GO}) exec </dev/null ;;
  ${GO_WITH_LINE})
    IFS= read -r word || exit 1
    exec <<END
$word
END
    [ -p /proc/self/fd/0 ] || exit 127
    ;;
  *) exit 1 ;;
esac`;

/**
 * What stays behind a command whose answer lies in /output: the kernel ends all other processes with this one, but only
 * after the command, and what they write between would be taken for its answer. So one that is there then takes the
 * answer away. All others are stopped first, in one call that no fork gets past: one that forks and ends without end is
 * never where it is looked for. Only the shell's own \`kill\` leaves the shell running; without one none is found in this
 * PATH. Threads are looked at one by one, as a process whose first thread has ended looks dead and is not; names that a
 * process gives itself are escaped in \`status\`, and so can't look like a state.
 */
const END_ALONE = `code=$?
[ $code -eq 0 ] || exit $code
PATH=/dev/null kill -STOP -1 2>/dev/null
for each in /proc/[0-9]*/task/[0-9]*/status; do
  case $each in /proc/1/* | /proc/$$/*) continue ;; esac
  state=X
  { while read -r key value rest; do
    [ "$key" != State: ] || state=$value
  done <"$each"; } 2>/dev/null
  case $state in Z | X) ;; *) exit ${OUTLIVED_STATUS} ;; esac
done
exit 0`;

/** What every run's container executes first; nothing of the solver's runs before it is told to go. `$1`: the command. */
export const toGate = (folder: WorkFolder): string => `umask 022
${MAKE_HOME}
${toWaitForGo(folder)}
${folder === OUTPUT ? `/bin/sh -c "$1"\n${END_ALONE}` : 'exec /bin/sh -c "$1"'}`;

/**
 * The gate before an image's own command. `$1`: the folder in which it starts, and then its words, which no shell parses.
 * Our own tools are looked for in the usual places first; an image that lacks one fails no run of its own by that.
 */
export const IMAGE_GATE_SCRIPT = `umask 022
path=$PATH
PATH=${RUN_PATH}:$path
mkdir -m 700 "$HOME"
${toWaitForGo(OUTPUT)}
PATH=$path
cd "$1" || exit 126
unset OLDPWD
shift
"$@"
${END_ALONE}`;

/** Opens the gate. */
export function toRelease(stdinLine: string | undefined): string {
  return stdinLine === undefined ? `${GO}\n` : `${GO_WITH_LINE}\n${stdinLine}\n`;
}

/** Takes the gate's one line off the front of stdout; what follows it is the command's. */
export class GateReader {
  readonly #hello = Promise.withResolvers<string>();
  #line = '';

  /** True when the line has been read. */
  isOpen = false;

  /** The file system type at the folder of the run. */
  get opened(): Promise<string> {
    return this.#hello.promise;
  }

  /** Returns what of the chunk is the command's output. Throws SANDBOX_RUN_LOST where no gate speaks. */
  push(chunk: Uint8Array): Uint8Array {
    const end = chunk.indexOf(0x0a);
    const taken = end < 0 ? chunk : chunk.subarray(0, end);
    this.#line += Buffer.from(taken).toString('latin1');
    const fileSystem = new RegExp(`^${HELLO} ([a-z0-9]+)$`).exec(this.#line)?.[1];
    if (this.#line.length > HELLO_BYTES_MAX || (end >= 0 && fileSystem === undefined)) {
      throw sandboxError('SANDBOX_RUN_LOST', {
        message: 'expected the line of our gate as the first output of a container, got another',
      });
    }
    if (end < 0 || fileSystem === undefined) return new Uint8Array();
    this.isOpen = true;
    this.#hello.resolve(fileSystem);
    return chunk.subarray(end + 1);
  }
}
