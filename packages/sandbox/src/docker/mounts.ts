/** How many files a run may add; an inode bomb ends here with ENOSPC (THREATS C03). */
export const WORKSPACE_INODES_MAX = 65_536;

/** One mount of a container, in the engine's words. A volume without a source is new and dies with the container. */
export interface Mount {
  Type: 'volume' | 'bind';
  Source: string;
  Target: string;
  ReadOnly: boolean;
  VolumeOptions?: {
    NoCopy: boolean;
    Labels: Record<string, string>;
    DriverConfig: { Name: string; Options: Record<string, string> };
  };
  BindOptions?: { Propagation: 'rslave'; NonRecursive: boolean };
}

export interface TmpfsSize {
  readonly sizeBytes: number;
  /** 0 for no limit. */
  readonly inodesMax: number;
}

/** A fresh memory file system of the engine's; `noexec` is left out, since honest builds run what they build (C01). */
export function tmpfsVolume(
  target: string,
  size: TmpfsSize,
  uid: number,
  labels: Record<string, string>,
): Mount {
  const o = [
    `size=${size.sizeBytes}`,
    `nr_inodes=${size.inodesMax}`,
    'mode=0755',
    `uid=${uid}`,
    `gid=${uid}`,
    'nosuid',
    'nodev',
  ];
  return newVolume(target, { type: 'tmpfs', device: 'tmpfs', o: o.join(',') }, labels);
}

export interface OverlaySpec {
  /** Paths for the engine, the upmost first; read-only. */
  readonly lowers: readonly string[];
  /** Path, for the engine, of a folder that holds `upper` and `work`. */
  readonly top: string;
}

export function overlayVolume(
  target: string,
  overlay: OverlaySpec,
  labels: Record<string, string>,
): Mount {
  const o = [
    `lowerdir=${overlay.lowers.join(':')}`,
    `upperdir=${overlay.top}/upper`,
    `workdir=${overlay.top}/work`,
    // Without it, renaming a folder of the tree fails with EXDEV (PERF §4).
    'redirect_dir=on',
    // Said outright, since kernels differ in their defaults and equal input must act alike.
    'index=off',
    'metacopy=off',
    'nosuid',
    'nodev',
  ];
  return newVolume(target, { type: 'overlay', device: 'overlay', o: o.join(',') }, labels);
}

/** The host has some thousand terminals in all, and the engine's own mount would give a run every one of them. */
const TERMINALS_MAX = 64;

/** What is at /dev/pts as a rule, with a limit. */
export function terminalsVolume(labels: Record<string, string>): Mount {
  const o = `newinstance,ptmxmode=0666,mode=0620,gid=5,max=${TERMINALS_MAX},nosuid,noexec`;
  return newVolume('/dev/pts', { type: 'devpts', device: 'devpts', o }, labels);
}

/** A volume that another container keeps. */
export function namedVolume(name: string, target: string, readOnly: boolean): Mount {
  return {
    Type: 'volume',
    Source: name,
    Target: target,
    ReadOnly: readOnly,
    VolumeOptions: { NoCopy: true, Labels: {}, DriverConfig: { Name: 'local', Options: {} } },
  };
}

function newVolume(
  target: string,
  options: Record<string, string>,
  labels: Record<string, string>,
): Mount {
  return {
    Type: 'volume',
    Source: '',
    Target: target,
    ReadOnly: false,
    VolumeOptions: {
      NoCopy: true,
      Labels: labels,
      DriverConfig: { Name: 'local', Options: options },
    },
  };
}
