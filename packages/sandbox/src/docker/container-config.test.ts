import { describe, expect, it } from 'vitest';
import { type RunSpec, toContainerConfig, toKeeperConfig } from './container-config.ts';
import { namedVolume, overlayVolume, tmpfsVolume } from './mounts.ts';
import { APART_GATE_SCRIPT, RUN_SCRIPT } from './apart.ts';
import { IMAGE_GATE_SCRIPT, toGate } from './gate.ts';
import { KEEPER_SCRIPT } from './keeper-script.ts';
import { SECCOMP_JSON } from './seccomp.ts';

const LABELS = { 'dev.kervyxa.session': 'abc', 'dev.kervyxa.role': 'volume' };
const OVERLAY = { lowers: ['/v/setup/upper', '/v/tree/tree'], top: '/v/top' };

const SPEC: RunSpec = {
  image: 'sha256:1234',
  imageVariables: ['PATH', 'LD_PRELOAD', 'NODE_VERSION'],
  command: 'npm test',
  isApart: false,
  limits: {
    memoryBytes: 268_435_456,
    cpuCount: 1.5,
    pidsMax: 128,
    workspaceBytes: 67_108_864,
    outputBytes: 1_000,
  },
  pidsLimit: 129,
  cpus: [1, 3],
  places: {
    layout: 'workspace',
    workspace: overlayVolume('/workspace', OVERLAY, LABELS),
    packageVolume: 'p4ck',
    probeVolume: 'pr0be',
    depsVolume: 'd3ps',
  },
  uid: 1_234_567,
  etcFolder: '/v/tree/etc',
  cgroupParent: '/kervyxa-abc/run-0/inner',
  runtime: 'runsc',
  labels: { 'dev.kervyxa.session': 'abc', 'dev.kervyxa.role': 'run' },
};

describe('the create body of a run', () => {
  it('C35 is this and nothing else, whatever a contract or commit says (THREATS §7.2)', () => {
    const body = toContainerConfig(SPEC);
    expect(body).toEqual({
      Image: 'sha256:1234',
      Entrypoint: ['/bin/sh', '-c', toGate('/workspace'), 'sh'],
      Cmd: ['npm test'],
      User: '1234567:1234567',
      WorkingDir: '/workspace',
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
      Labels: { 'dev.kervyxa.session': 'abc', 'dev.kervyxa.role': 'run' },
      Env: [
        'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        'HOME=/tmp/home',
        'TMPDIR=/tmp',
        'TZ=UTC',
        'LANG=C.UTF-8',
        'CI=true',
        'NODE_OPTIONS=',
        'PYTHONDONTWRITEBYTECODE=1',
        'KERVYXA_VERIFIER_PACKAGE=/kervyxa/sealed/package',
        'KERVYXA_PROBE=/kervyxa/probe',
        'KERVYXA_PROBE_OUTPUT=/workspace/probe-output',
        'KERVYXA_DEPS=/kervyxa/deps',
        'NPM_CONFIG_USERCONFIG=/kervyxa/deps/npmrc',
        'PIP_CONFIG_FILE=/kervyxa/deps/pip.conf',
        'LD_PRELOAD',
        'NODE_VERSION',
      ],
      HostConfig: {
        Runtime: 'runsc',
        AutoRemove: false,
        Binds: [
          '/v/tree/etc/hosts:/etc/hosts:ro,rslave',
          '/v/tree/etc/passwd:/etc/passwd:ro,rslave',
          '/v/tree/etc/group:/etc/group:ro,rslave',
          '/v/tree/etc/kervyxa-run:/usr/local/bin/kervyxa-run:ro,rslave',
        ],
        RestartPolicy: { Name: 'no' },
        NetworkMode: 'none',
        Dns: ['127.0.0.1'],
        ReadonlyRootfs: true,
        Privileged: false,
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges:true', `seccomp=${SECCOMP_JSON}`],
        IpcMode: 'none',
        CgroupnsMode: 'private',
        LogConfig: { Type: 'none', Config: {} },
        Init: true,
        Memory: 268_435_456,
        MemorySwap: 268_435_456,
        NanoCpus: 1_500_000_000,
        CpusetCpus: '1,3',
        PidsLimit: 129,
        OomScoreAdj: 500,
        CgroupParent: '/kervyxa-abc/run-0/inner',
        Ulimits: [
          { Name: 'core', Soft: 0, Hard: 0 },
          { Name: 'nofile', Soft: 1_024, Hard: 1_024 },
          { Name: 'fsize', Soft: 67_108_864, Hard: 67_108_864 },
        ],
        Tmpfs: {
          '/tmp': 'rw,noexec,nosuid,nodev,size=64m,nr_inodes=16384,mode=1777',
          '/dev/shm': 'rw,noexec,nosuid,nodev,size=16m,nr_inodes=1024,mode=1777',
        },
        Mounts: [
          {
            Type: 'volume',
            Source: '',
            Target: '/workspace',
            ReadOnly: false,
            VolumeOptions: {
              NoCopy: true,
              Labels: { 'dev.kervyxa.session': 'abc', 'dev.kervyxa.role': 'volume' },
              DriverConfig: {
                Name: 'local',
                Options: {
                  type: 'overlay',
                  device: 'overlay',
                  o: 'lowerdir=/v/setup/upper:/v/tree/tree,upperdir=/v/top/upper,workdir=/v/top/work,redirect_dir=on,index=off,metacopy=off,nosuid,nodev',
                },
              },
            },
          },
          {
            Type: 'volume',
            Source: 'p4ck',
            Target: '/kervyxa/sealed/package',
            ReadOnly: true,
            VolumeOptions: {
              NoCopy: true,
              Labels: {},
              DriverConfig: { Name: 'local', Options: {} },
            },
          },
          {
            Type: 'volume',
            Source: 'pr0be',
            Target: '/kervyxa/probe',
            ReadOnly: true,
            VolumeOptions: {
              NoCopy: true,
              Labels: {},
              DriverConfig: { Name: 'local', Options: {} },
            },
          },
          {
            Type: 'volume',
            Source: 'd3ps',
            Target: '/kervyxa/deps',
            ReadOnly: true,
            VolumeOptions: {
              NoCopy: true,
              Labels: {},
              DriverConfig: { Name: 'local', Options: {} },
            },
          },
          {
            Type: 'volume',
            Source: '',
            Target: '/dev/pts',
            ReadOnly: false,
            VolumeOptions: {
              NoCopy: true,
              Labels: { 'dev.kervyxa.session': 'abc', 'dev.kervyxa.role': 'volume' },
              DriverConfig: {
                Name: 'local',
                Options: {
                  type: 'devpts',
                  device: 'devpts',
                  o: 'newinstance,ptmxmode=0666,mode=0620,gid=5,max=64,nosuid,noexec',
                },
              },
            },
          },
        ],
      },
    });
  });
});

describe('the create body of a run whose check is apart', () => {
  const plain = toContainerConfig(SPEC);
  const body = toContainerConfig({ ...SPEC, isApart: true });

  it('starts as root with what it takes to become others, and is told its command where nobody can read it', () => {
    expect(body).toMatchObject({
      User: '0:0',
      WorkingDir: '/',
      Entrypoint: ['/bin/sh', '-c', APART_GATE_SCRIPT],
      Cmd: [],
      Env: [...plain.Env.slice(0, -2), 'KERVYXA_COMMAND=npm test', ...plain.Env.slice(-2)],
      HostConfig: { CapDrop: ['ALL'], CapAdd: ['SETGID', 'SETPCAP', 'SETUID'] },
    });
  });

  it('has three more places, all of the check’s user, and is else as every run', () => {
    const own = 'rw,noexec,nosuid,nodev,';
    const owner = 'uid=1234568,gid=1234568';
    const { CapAdd: _, ...host } = body.HostConfig;
    expect(host).toEqual({
      ...plain.HostConfig,
      Tmpfs: {
        ...plain.HostConfig.Tmpfs,
        '/kervyxa/sealed': `${own}size=4k,nr_inodes=16,mode=0700,${owner}`,
        '/kervyxa/sealed/own': `${own}size=64m,nr_inodes=16384,mode=0700,${owner}`,
        '/kervyxa/calls': `${own}size=16m,nr_inodes=4096,mode=0711,${owner}`,
      },
    });
  });
});

// Keeps R-SANDBOX-INPUTS.
describe('the create body of a run that has inputs and an output', () => {
  const plain = toContainerConfig(SPEC);
  const places = {
    layout: 'inputs',
    inputFolder: '/v/tree/tree',
    outputFolder: '/v/top/upper',
  } as const;
  const body = toContainerConfig({ ...SPEC, places });
  const ofImage = toContainerConfig({
    ...SPEC,
    places,
    command: { words: ['python3', '-c', 'print("$HOME")'], folder: '/srv/app' },
  });

  it('mounts the tree read-only and the output, and is else hardened as every run', () => {
    const { Binds, Mounts, ...host } = body.HostConfig;
    const { Binds: plainBinds, Mounts: plainMounts, ...plainHost } = plain.HostConfig;
    expect(host).toEqual(plainHost);
    expect(Binds).toEqual([
      ...plainBinds.filter((bind) => bind.includes(':/etc/')),
      '/v/tree/tree:/input:ro,rslave',
      '/v/top/upper:/output:rslave',
    ]);
    expect(Mounts).toEqual(plainMounts.slice(-1));
    expect(Mounts[0]).toMatchObject({ Target: '/dev/pts' });
  });

  it('starts in the output, and nothing names a folder that is not there', () => {
    expect(body).toMatchObject({
      Entrypoint: ['/bin/sh', '-c', toGate('/output'), 'sh'],
      Cmd: ['npm test'],
      WorkingDir: '/output',
      User: '1234567:1234567',
    });
    expect(body.Env).toEqual(plain.Env.filter((line) => !/workspace|kervyxa/.test(line)));
  });

  it('runs an image’s own command by its words, with the image’s own environment and ours above it', () => {
    const { Entrypoint, Cmd, WorkingDir, Env, ...rest } = ofImage;
    expect(Entrypoint).toEqual(['/bin/sh', '-c', IMAGE_GATE_SCRIPT, 'sh']);
    expect(Cmd).toEqual(['/srv/app', 'python3', '-c', 'print("$HOME")']);
    expect(WorkingDir).toBe('/');
    expect(Env).toEqual(['HOME=/tmp/home', 'TMPDIR=/tmp', 'TZ=UTC', 'LANG=C.UTF-8']);
    const { Entrypoint: _, Cmd: __, WorkingDir: ___, Env: ____, ...others } = body;
    expect(rest).toEqual(others);
  });
});

describe('the create body of a keeper', () => {
  const mounts = [
    tmpfsVolume('/k/tree', { sizeBytes: 4_096, inodesMax: 10 }, 1_234_567, LABELS),
    namedVolume('n4me', '/k/from', true),
  ];
  const keeper = { image: 'sha256:tools', uid: 1_234_567, privileged: false, mounts, labels: {} };

  it('runs our script, as nobody, on our image', () => {
    expect(toKeeperConfig(keeper)).toMatchObject({
      Image: 'sha256:tools',
      Entrypoint: ['/bin/sh', '-c', KEEPER_SCRIPT, 'sh'],
      Cmd: [RUN_SCRIPT],
      User: '1234567:1234567',
      NetworkDisabled: true,
      HostConfig: { CapDrop: ['ALL'], ReadonlyRootfs: true, PidsLimit: 64, NetworkMode: 'none' },
    });
    expect(toKeeperConfig(keeper).HostConfig).not.toHaveProperty('CapAdd');
  });

  it('mounts memory volumes that are limited, and owned by nobody', () => {
    expect(toKeeperConfig(keeper).HostConfig.Mounts[0]?.VolumeOptions?.DriverConfig).toEqual({
      Name: 'local',
      Options: {
        type: 'tmpfs',
        device: 'tmpfs',
        o: 'size=4096,nr_inodes=10,mode=0755,uid=1234567,gid=1234567,nosuid,nodev',
      },
    });
  });

  it('may read and own any file where it copies what a set-up wrote, and nothing more', () => {
    expect(toKeeperConfig({ ...keeper, privileged: true })).toMatchObject({
      User: '0:0',
      HostConfig: { CapDrop: ['ALL'], CapAdd: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID'] },
    });
  });
});
