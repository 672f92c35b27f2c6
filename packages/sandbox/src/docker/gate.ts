import { sandboxError } from '../errors.ts';

/** Where every run of every session works. */
export const WORKSPACE = '/workspace';
/** Where the hidden package is, or an empty folder that looks the same (THREATS H19). */
export const PACKAGE_FOLDER = '/kervyxa/package';
/** Where the dependency bundle is, or an empty folder. */
export const DEPS_FOLDER = '/kervyxa/deps';
export const HOME_FOLDER = '/tmp/home';

const HELLO = 'kervyxa-gate';
const GO = 'go';
const HELLO_BYTES_MAX = 256;

/**
 * What every run's container executes first; nothing of the solver's runs before GO comes on stdin. It says of which
 * type the file system at /workspace is, since an engine that can't mount an overlay shows an empty folder instead.
 * A gate whose stdin ends, because our program died, exits. `$1` is the command; it gets an empty stdin.
 *
 * A bundle's `home` folder is laid out in $HOME, its files as links: npm finds nothing in a cache that it can't write to
 * (ADR 0026). Where that fails, what needs it says so.
 */
export const GATE_SCRIPT = `umask 022
mkdir -m 700 ${HOME_FOLDER} || exit 1
[ ! -d ${DEPS_FOLDER}/home ] || cp -Rs ${DEPS_FOLDER}/home/. ${HOME_FOLDER}
while read -r skip skip skip skip at rest; do
  [ "$at" != ${WORKSPACE} ] || type=\${rest##* - }
done </proc/self/mountinfo
echo "${HELLO} \${type%% *}"
IFS= read -r word || exit 1
[ "$word" = ${GO} ] || exit 1
exec </dev/null
exec /bin/sh -c "$1"`;

export const RELEASE_LINE = `${GO}\n`;

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
