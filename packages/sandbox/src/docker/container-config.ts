import type { SandboxLimits } from '../port.ts';
import {
  APART_GATE_SCRIPT,
  CALLS_FOLDER,
  COMMAND_VARIABLE,
  GATE_CAPABILITIES,
  OWN_FOLDER,
  RUN_PROGRAM,
  RUN_SCRIPT,
  SEALED_FOLDER,
  toCheckUid,
} from './apart.ts';
import {
  DEPS_FOLDER,
  HOME_FOLDER,
  IMAGE_GATE_SCRIPT,
  INPUT,
  OUTPUT,
  PACKAGE_FOLDER,
  PROBE_FOLDER,
  RUN_PATH,
  toGate,
  type WorkFolder,
  WORKSPACE,
} from './gate.ts';
import { ETC_FILES, KEEPER_SCRIPT } from './keeper-script.ts';
import { ROLE_LABEL } from './labels.ts';
import { type Mount, namedVolume, terminalsVolume } from './mounts.ts';
import { SECCOMP_JSON } from './seccomp.ts';

const NANO_CPUS_PER_CPU = 1_000_000_000;
/** The engine's own work before and after a run must survive the run (THREATS §7.2). */
const OOM_SCORE_ADJ = 500;
const OPEN_FILES_MAX = 1_024;
const KEEPER_PIDS_MAX = 64;

/** The command of an image. */
export interface ImageProgram {
  /** ENTRYPOINT and CMD, at least one word. */
  readonly words: readonly string[];
  readonly folder: string;
}

/** What a run finds and where it works. */
export type RunPlaces =
  | {
      readonly layout: 'workspace';
      readonly workspace: Mount;
      readonly packageVolume: string;
      readonly probeVolume: string;
      readonly depsVolume: string;
    }
  | {
      readonly layout: 'inputs';
      /** Paths, for the engine, of the tree and of an empty folder. */
      readonly inputFolder: string;
      readonly outputFolder: string;
    };

/** What one run's container is made of, beyond what all have alike. */
export interface RunSpec {
  readonly image: string;
  /** Names of environment variables that the image sets. */
  readonly imageVariables: readonly string[];
  readonly command: string | ImageProgram;
  /** The command runs as a user of its own, the only one who can read the package. */
  readonly isApart: boolean;
  readonly limits: SandboxLimits;
  /** CPU numbers of the host. */
  readonly cpus: readonly number[];
  readonly places: RunPlaces;
  readonly uid: number;
  /** Path, for the engine, of a folder with the files of /etc that are ours, and `kervyxa-run`. */
  readonly etcFolder: string;
  readonly cgroupParent: string | null;
  readonly runtime: string;
  /** One more than `limits.pidsMax` where the cgroup parent holds that limit. */
  readonly pidsLimit: number;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * The create body of a run (THREATS §7.2). Pure; everything that the solver's code can see is the same in each run
 * of a session, but for the random names of volumes (C37).
 */
export function toContainerConfig(spec: RunSpec) {
  const { limits } = spec;
  return {
    ...hardened(spec),
    Image: spec.image,
    ...toEntry(spec),
    Env: toEnvironment(spec),
    HostConfig: {
      ...hardenedHost(),
      ...(spec.isApart && { CapAdd: GATE_CAPABILITIES }),
      // PID 1 would ignore its own signals, and leave its children's remains (THREATS C08).
      Init: true,
      Runtime: spec.runtime,
      Memory: limits.memoryBytes,
      MemorySwap: limits.memoryBytes,
      NanoCpus: Math.round(limits.cpuCount * NANO_CPUS_PER_CPU),
      CpusetCpus: spec.cpus.join(','),
      PidsLimit: spec.pidsLimit,
      OomScoreAdj: OOM_SCORE_ADJ,
      ...(spec.cgroupParent !== null && { CgroupParent: spec.cgroupParent }),
      // No nproc: it counts per uid over all containers (THREATS C19).
      Ulimits: [
        { Name: 'core', Soft: 0, Hard: 0 },
        { Name: 'nofile', Soft: OPEN_FILES_MAX, Hard: OPEN_FILES_MAX },
        { Name: 'fsize', Soft: limits.workspaceBytes, Hard: limits.workspaceBytes },
      ],
      Tmpfs: {
        '/tmp': 'rw,noexec,nosuid,nodev,size=64m,nr_inodes=16384,mode=1777',
        // Semaphores of honest programs live here; the engine's own would have no limit of files.
        '/dev/shm': 'rw,noexec,nosuid,nodev,size=16m,nr_inodes=1024,mode=1777',
        ...(spec.isApart && {
          [SEALED_FOLDER]: `rw,noexec,nosuid,nodev,size=4k,nr_inodes=16,${toOwner(spec, '0700')}`,
          [OWN_FOLDER]: `rw,noexec,nosuid,nodev,size=64m,nr_inodes=16384,${toOwner(spec, '0700')}`,
          [CALLS_FOLDER]: `rw,noexec,nosuid,nodev,size=16m,nr_inodes=4096,${toOwner(spec, '0711')}`,
        }),
      },
      // The short form, which looks for its source only at the start: the files come with the tree. The engine allows no
      // other propagation for what lies in its own volumes.
      Binds: [
        ...ETC_FILES.map((name) => `${spec.etcFolder}/${name}:/etc/${name}:ro,rslave`),
        ...toBinds(spec),
      ],
      Mounts: [
        ...toMounts(spec.places),
        terminalsVolume({ ...spec.labels, [ROLE_LABEL]: 'volume' }),
      ],
    },
  };
}

/** The folder of a run's own. */
export function toWorkFolder({ layout }: RunPlaces): WorkFolder {
  return layout === 'inputs' ? OUTPUT : WORKSPACE;
}

function toEntry({ command, isApart, places }: RunSpec) {
  // Root without capabilities may be kept out of a folder of the solver's, and its gate goes there as another; and an
  // image's own folder may be one that its user alone enters.
  const elsewhere = { WorkingDir: '/' };
  if (typeof command !== 'string') {
    const { words, folder } = command;
    return {
      Entrypoint: ['/bin/sh', '-c', IMAGE_GATE_SCRIPT, 'sh'],
      Cmd: [folder, ...words],
      ...elsewhere,
    };
  }
  if (isApart) {
    return {
      User: '0:0',
      Entrypoint: ['/bin/sh', '-c', APART_GATE_SCRIPT],
      Cmd: [],
      ...elsewhere,
    };
  }
  const folder = toWorkFolder(places);
  return {
    Entrypoint: ['/bin/sh', '-c', toGate(folder), 'sh'],
    Cmd: [command],
    WorkingDir: folder,
  };
}

function toBinds({ places, etcFolder }: RunSpec): string[] {
  if (places.layout === 'workspace') return [`${etcFolder}/kervyxa-run:${RUN_PROGRAM}:ro,rslave`];
  const { inputFolder, outputFolder } = places;
  return [`${inputFolder}:${INPUT}:ro,rslave`, `${outputFolder}:${OUTPUT}:rslave`];
}

function toMounts(places: RunPlaces): Mount[] {
  if (places.layout === 'inputs') return [];
  return [
    places.workspace,
    namedVolume(places.packageVolume, PACKAGE_FOLDER, true),
    namedVolume(places.probeVolume, PROBE_FOLDER, true),
    namedVolume(places.depsVolume, DEPS_FOLDER, true),
  ];
}

function toOwner({ uid }: RunSpec, mode: string): string {
  return `mode=${mode},uid=${toCheckUid(uid)},gid=${toCheckUid(uid)}`;
}

const FOLDER_VARIABLES = [
  `KERVYXA_VERIFIER_PACKAGE=${PACKAGE_FOLDER}`,
  `KERVYXA_PROBE=${PROBE_FOLDER}`,
  `KERVYXA_PROBE_OUTPUT=${WORKSPACE}/probe-output`,
  `KERVYXA_DEPS=${DEPS_FOLDER}`,
  // Not there without a bundle, and then npm and pip go by their defaults.
  `NPM_CONFIG_USERCONFIG=${DEPS_FOLDER}/npmrc`,
  `PIP_CONFIG_FILE=${DEPS_FOLDER}/pip.conf`,
];

/** All that is in it: a name alone takes away what the image would set (C07). */
function toEnvironment(spec: RunSpec): string[] {
  const { command, places } = spec;
  const basic = [`HOME=${HOME_FOLDER}`, 'TMPDIR=/tmp', 'TZ=UTC', 'LANG=C.UTF-8'];
  // It goes by what its image sets, and was made for that.
  if (typeof command !== 'string') return basic;
  const ours = [
    `PATH=${RUN_PATH}`,
    ...basic,
    'CI=true',
    'NODE_OPTIONS=',
    'PYTHONDONTWRITEBYTECODE=1',
    ...(places.layout === 'workspace' ? FOLDER_VARIABLES : []),
    ...(spec.isApart ? [`${COMMAND_VARIABLE}=${command}`] : []),
  ];
  const names = new Set(ours.map((line) => line.split('=', 1)[0]));
  return [...ours, ...spec.imageVariables.filter((name) => !names.has(name))];
}

export interface KeeperSpec {
  readonly image: string;
  readonly uid: number;
  /** As root with the rights to read and chown any file; only to copy a workspace that a set-up wrote. */
  readonly privileged: boolean;
  readonly mounts: readonly Mount[];
  readonly labels: Readonly<Record<string, string>>;
}

/** The create body of a keeper: our script, on our image, with the volumes that it keeps. */
export function toKeeperConfig(spec: KeeperSpec) {
  return {
    ...hardened(spec),
    ...(spec.privileged && { User: '0:0' }),
    Image: spec.image,
    Entrypoint: ['/bin/sh', '-c', KEEPER_SCRIPT, 'sh'],
    Cmd: [RUN_SCRIPT],
    WorkingDir: '/',
    Env: [`PATH=${RUN_PATH}`, 'LC_ALL=C', 'TZ=UTC'],
    HostConfig: {
      ...hardenedHost(),
      ...(spec.privileged && { CapAdd: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID'] }),
      PidsLimit: KEEPER_PIDS_MAX,
      Mounts: [...spec.mounts],
    },
  };
}

function hardened({ uid, labels }: Pick<RunSpec, 'uid' | 'labels'>) {
  return {
    User: `${uid}:${uid}`,
    Hostname: 'kervyxa',
    Domainname: '',
    Tty: false,
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    NetworkDisabled: true,
    Healthcheck: { Test: ['NONE'] },
    StopSignal: 'SIGKILL',
    Labels: { ...labels },
  };
}

function hardenedHost() {
  return {
    AutoRemove: false,
    RestartPolicy: { Name: 'no' },
    // With NetworkDisabled the second of two walls: no interface but the loopback one.
    NetworkMode: 'none',
    Dns: ['127.0.0.1'],
    ReadonlyRootfs: true,
    Privileged: false,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges:true', `seccomp=${SECCOMP_JSON}`],
    IpcMode: 'none',
    CgroupnsMode: 'private' as const,
    LogConfig: { Type: 'none', Config: {} },
  };
}
