import { sandboxError } from '../errors.ts';

/** Where every run of every session works. */
export const WORKSPACE = '/workspace';
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
 * Says of which type the file system at /workspace is, since an engine that can't mount an overlay shows an empty
 * folder instead, and waits for the word to go on. A gate whose stdin ends, because our program died, exits. What stays
 * on stdin is empty, or one line: in a pipe, where it can be read once, and not in the temporary file that some shells
 * make for it, nor, when the command has taken the shell's place, in any memory but its own.
 */
export const WAIT_FOR_GO = `while read -r skip skip skip skip at rest; do
  [ "$at" != ${WORKSPACE} ] || type=\${rest##* - }
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

/** What every run's container executes first; nothing of the solver's runs before it is told to go. `$1`: the command. */
export const GATE_SCRIPT = `umask 022
${MAKE_HOME}
${WAIT_FOR_GO}
exec /bin/sh -c "$1"`;

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

  /** The file system type at /workspace. */
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
