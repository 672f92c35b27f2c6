import { toPrintable, type TreeArchive } from '@kervyxa/core';
import type Docker from 'dockerode';
import type { Listed } from '../additions.ts';
import { sandboxError } from '../errors.ts';
import type { AddedKind } from '../port.ts';
import { attach, type Attachment } from './attachment.ts';
import { type KeeperSpec, toKeeperConfig } from './container-config.ts';
import { createContainer, startContainer } from './containers.ts';
import { within } from './deadline.ts';
import type { Engine } from './engine.ts';
import { KEEPER_ROOT } from './keeper-script.ts';
import { packFrames } from './keeper-frames.ts';
import { KeeperOutput } from './keeper-output.ts';

/** The slowest answer is a copy of a large workspace; one that takes longer than this does not come. */
const ANSWER_MS_MAX = 300_000;
const STDERR_CHARACTERS_MAX = 500;
/** Of `find`; the rest is no folder and leads nowhere. */
const KINDS: Readonly<Record<string, AddedKind>> = { d: 'folder', l: 'link' };
const DIGEST = /^[0-9a-f]{64}$/;
const NEVER = new AbortController().signal;

/** A volume that a keeper keeps: its name, and its folder as a path for the engine. */
export interface KeptVolume {
  readonly name: string;
  readonly path: string;
}

/** From statfs. */
export interface VolumeUsage {
  readonly bytesUsed: number;
  readonly bytesFree: number;
  readonly inodesUsed: number;
  readonly inodesFree: number;
}

/**
 * A container of ours that keeps memory volumes alive while its session lasts, fills them and looks at them. Nothing
 * of the solver's runs in it. It is the session's lease too: it runs exactly as long as our program is connected.
 */
export class Keeper {
  readonly image: string;
  readonly #engine: Engine;
  readonly #container: Docker.Container;
  readonly #volumes: ReadonlyMap<string, KeptVolume>;
  readonly #attachment: Attachment;
  readonly #output: KeeperOutput;
  #turn: Promise<unknown> = Promise.resolve();
  #measured: Promise<unknown> = Promise.resolve();

  private constructor(
    engine: Engine,
    made: {
      readonly container: Docker.Container;
      readonly image: string;
      readonly volumes: ReadonlyMap<string, KeptVolume>;
    },
    attachment: Attachment,
    output: KeeperOutput,
  ) {
    this.#engine = engine;
    this.#container = made.container;
    this.image = made.image;
    this.#volumes = made.volumes;
    this.#attachment = attachment;
    this.#output = output;
  }

  /** Makes the container, so that its volumes have paths. It is removed by the session's label, also where this throws. */
  static async create(engine: Engine, spec: KeeperSpec): Promise<Keeper> {
    const container = await createContainer(engine, toKeeperConfig(spec));
    const output = new KeeperOutput();
    const [attachment, inspected] = await Promise.all([
      attach(engine, container.id, (stream, chunk) => output.push(stream, chunk)),
      engine.call('inspect a container', container.inspect()),
    ]);
    const volumes = new Map<string, KeptVolume>();
    for (const { Destination, Name, Source } of inspected.Mounts) {
      volumes.set(Destination, { name: Name ?? '', path: Source });
    }
    return new Keeper(engine, { container, image: spec.image, volumes }, attachment, output);
  }

  /** Mounts the volumes and waits for commands. Nothing may be asked of it before. */
  async start(): Promise<void> {
    await startContainer(this.#engine, this.#container, this.image);
  }

  get containerId(): string {
    return this.#container.id;
  }

  volume(folder: string): KeptVolume {
    const found = this.#volumes.get(`${KEEPER_ROOT}/${folder}`);
    if (found === undefined) throw new TypeError(`expected a kept volume, got "${folder}"`);
    return found;
  }

  async layout(): Promise<void> {
    await this.#ask('layout');
  }

  /** Unpacks a tree into a folder; the stream is read no faster than it is written. */
  async unpack(folder: string, archive: TreeArchive, signal: AbortSignal): Promise<void> {
    await this.#ask(`unpack ${folder}`, () => this.#send(archive.open(signal), signal));
  }

  /** Of names of the root, at least one, those at which a set-up changed anything. */
  async touched(top: string, names: readonly string[]): Promise<Set<string>> {
    const answer = await this.#ask(`touched ${top}`, () => this.#send(toNames(names), NEVER));
    if (answer.length !== names.length) throw this.#failure('an answer for each name');
    return new Set(names.filter((_, index) => answer[index] === '1'));
  }

  /** What is in each of some folders, at least one, of a folder of the keeper's; null where not all can be seen. */
  async list(inFolder: string, folders: readonly string[]): Promise<Listed[][] | null> {
    const starts = folders.map((folder) => (folder === '' ? '.' : `./${folder}`));
    const answer = await this.#ask(`list ${inFolder}`, () =>
      this.#send(toNames(starts, 'latin1'), NEVER),
    );
    const listings = toListings(answer);
    if (listings === null || listings.length === folders.length) return listings;
    throw this.#failure('a list for each folder');
  }

  /** Takes away paths of bytes, of which there is at least one. */
  async remove(fromFolder: string, paths: readonly string[]): Promise<void> {
    await this.#ask(`remove ${fromFolder}`, () => this.#send(toNames(paths, 'latin1'), NEVER));
  }

  /** Copies paths of a tree, of which there is at least one, as those that every run finds as they are now. */
  async keep(folder: string, paths: readonly string[]): Promise<void> {
    await this.#ask(`keep ${folder}`, () => this.#send(toNames(paths), NEVER));
  }

  /** Puts what is kept into a folder, in the place of what is there. */
  async restore(toFolder: string): Promise<void> {
    await this.#ask(`restore ${toFolder}`);
  }

  async copy(fromFolder: string, toFolder: string): Promise<void> {
    await this.#ask(`copy ${fromFolder} ${toFolder}`);
  }

  /** Gives the root of one workspace the mode and time of another's. */
  async inherit(fromTop: string, toTop: string): Promise<void> {
    await this.#ask(`inherit ${fromTop} ${toTop}`);
  }

  /** Frees a top's memory, by and by: nobody waits for it, and a keeper that fails at it fails the next command. */
  clear(top: string): void {
    void Promise.allSettled([this.#ask(`clear ${top}`)]);
  }

  /** Something lies at this depth of a folder or deeper. */
  async isDeep(folder: string, depth: number): Promise<boolean> {
    return Number(await this.#ask(`deep ${folder} ${depth}`)) > 0;
  }

  /** Bytes of the longest path below a folder. */
  async longestPath(folder: string): Promise<number> {
    return Number(await this.#ask(`long ${folder}`));
  }

  /**
   * Digests of folders of the keeper's as they are now. It may take a while, and other commands do not wait for that:
   * the command is answered when it has begun. One at a time.
   */
  measure(folders: readonly string[]): Promise<readonly string[]> {
    const command = `measure ${folders.join(' ')}`;
    const measured = this.#measured.then(async () => {
      await this.#ask(command);
      const line = await this.#inTime(command, this.#output.measurements.next());
      const digests = line.split(' ');
      if (digests.length === folders.length && digests.every((digest) => DIGEST.test(digest))) {
        return digests;
      }
      throw this.#failure('a digest of each folder');
    });
    this.#measured = measured.catch(() => undefined);
    return measured;
  }

  async usage(folder: string): Promise<VolumeUsage> {
    const answer = await this.#ask(`usage ${folder}`);
    const [blockBytes, blocks, blocksFree, inodes, inodesFree] = answer.split(' ').map(Number);
    if (
      blockBytes === undefined ||
      blocks === undefined ||
      blocksFree === undefined ||
      inodes === undefined ||
      inodesFree === undefined
    ) {
      throw this.#failure(`five numbers for usage, got "${toPrintable(answer, 100)}"`);
    }
    return {
      bytesUsed: (blocks - blocksFree) * blockBytes,
      bytesFree: blocksFree * blockBytes,
      inodesUsed: inodes - inodesFree,
      inodesFree,
    };
  }

  /** Ends the keeper; its container is still to be removed. */
  disconnect(): void {
    this.#attachment.close();
  }

  async #send(pieces: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
    // The next frame is read while one is on its way.
    let sent: Promise<unknown> = Promise.resolve();
    for await (const frame of packFrames(pieces)) {
      await sent;
      signal.throwIfAborted();
      // The keeper may die half-way; then nobody takes the bytes.
      sent = Promise.race([this.#attachment.write(frame), this.#attachment.ended]);
      sent.catch(() => undefined);
    }
    await sent;
  }

  /** One command at a time: an answer is known by its place alone. */
  #ask(command: string, sendRest?: () => Promise<void>): Promise<string> {
    const answer = this.#turn.then(async () => {
      await this.#attachment.write(`${command}\n`);
      await sendRest?.();
      return this.#nextAnswer(command);
    });
    this.#turn = answer.catch(() => undefined);
    return answer;
  }

  async #nextAnswer(command: string): Promise<string> {
    const line = await this.#inTime(command, this.#output.answers.next());
    const [status, ...words] = line.split(' ');
    if (status === 'ok') return words.join(' ');
    throw this.#failure(`"${command}" to succeed, got "${toPrintable(line, 200)}"`);
  }

  #inTime(command: string, answer: Promise<string>): Promise<string> {
    const gone = this.#attachment.ended.then(() => {
      throw this.#failure(`an answer to "${command}", got the end of the container`);
    });
    return within(Promise.race([answer, gone]), ANSWER_MS_MAX, () =>
      this.#failure(`an answer to "${command}" within ${ANSWER_MS_MAX} ms, got none`),
    );
  }

  #failure(expectation: string): Error {
    const said = toPrintable(this.#output.errors.trim(), STDERR_CHARACTERS_MAX);
    const code = said.includes('No space left') ? 'SANDBOX_DISK_FULL' : 'SANDBOX_WORKSPACE_FAILED';
    return sandboxError(code, {
      message: `expected ${expectation}${said === '' ? '' : ` (${said})`}`,
      fix: 'Run kervyxa doctor: the engine must give memory volumes, and the tools image sh and tar.',
    });
  }
}

async function* toNames(
  paths: readonly string[],
  encoding: BufferEncoding = 'utf8',
): AsyncGenerator<Uint8Array> {
  for (const path of paths) yield Buffer.from(`${path}\0`, encoding);
}

/** Reads the answer to `list`. */
function toListings(answer: string): Listed[][] | null {
  const listings: Listed[][] = [];
  const records = Buffer.from(answer, 'base64').toString('latin1').split('\0').slice(0, -1);
  for (const record of records) {
    const name = record.slice(1);
    if (record === '!') return null;
    if (name === '') listings.push([]);
    else listings.at(-1)?.push({ name, kind: KINDS[record.slice(0, 1)] ?? 'other' });
  }
  return listings;
}
