/** Bounds of one intake. What goes beyond them is the submission's fault, never an error of ours. */
export interface IntakeLimits {
  /** Entries of a tree: files, links, gitlinks and folders. */
  readonly treeEntriesMax: number;
  /** Bytes of one file. */
  readonly fileBytesMax: number;
  /** Sum of file sizes in bytes. */
  readonly treeBytesMax: number;
  /** Bytes of the largest file git may write, which is the pack it receives. */
  readonly packBytesMax: number;
  /** Address space of each git process in bytes. */
  readonly gitMemoryBytesMax: number;
  /** Processor seconds of each git process. */
  readonly gitCpuSecondsMax: number;
  /** Wall-clock seconds of each git process. */
  readonly gitWallSecondsMax: number;
  /** A transfer slower than `bytesPerSecondMin` for this many seconds is given up. */
  readonly stallSecondsMax: number;
  readonly bytesPerSecondMin: number;
  /** Bytes of all captured repositories together; the least recently used go first. */
  readonly cacheBytesMax: number;
}

const MIB = 1_048_576;

export const DEFAULT_LIMITS: IntakeLimits = {
  treeEntriesMax: 100_000,
  fileBytesMax: 100 * MIB,
  treeBytesMax: 1_024 * MIB,
  packBytesMax: 1_024 * MIB,
  gitMemoryBytesMax: 2_048 * MIB,
  gitCpuSecondsMax: 120,
  gitWallSecondsMax: 300,
  stallSecondsMax: 20,
  bytesPerSecondMin: 1_000,
  cacheBytesMax: 20_480 * MIB,
};
