/** One rule of the engine's seccomp format: the calls, what to answer, and the arguments that it holds for. */
interface SyscallRule {
  readonly names: readonly string[];
  readonly action: 'SCMP_ACT_ALLOW' | 'SCMP_ACT_ERRNO';
  readonly errnoRet?: number;
  readonly args?: readonly {
    readonly index: number;
    readonly value: number;
    readonly valueTwo?: number;
    readonly op: 'SCMP_CMP_EQ' | 'SCMP_CMP_MASKED_EQ';
  }[];
}

const ENOSYS = 38;
const EPERM = 1;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NAMESPACE_FLAGS = 0x7e02_0000;
const S_IFMT = 0o170_000;
const S_IFREG = 0o100_000;
const S_IFIFO = 0o010_000;
const S_IFSOCK = 0o140_000;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;
/** 0 is the family's own; the others would load modules, or queue what nobody counts. */
const PROTOCOLS = [0, 6, 17];

const SOL_SOCKET = 1;
/** SO_ATTACH_FILTER and SO_ATTACH_REUSEPORT_CBPF. */
const ATTACH_FILTER_OPTIONS = [26, 51];
const DONE = 0;

const words = (text: string): string[] => text.trim().split(/\s+/);

/** Calls that any program may make: files, memory, processes, signals, time, sockets that already exist. */
const ALLOWED = words(`
  accept accept4 access alarm arch_prctl bind brk capget capset chdir chmod chown clock_getres
  clock_gettime clock_nanosleep close close_range connect copy_file_range creat dup dup2 dup3 epoll_create
  epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 execve execveat exit exit_group
  faccessat faccessat2 fadvise64 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat fcntl fdatasync
  fgetxattr flistxattr flock fork fremovexattr fsetxattr fstat fstatfs fsync ftruncate futex futex_requeue
  futex_wait futex_waitv futex_wake futimesat get_robust_list get_thread_area getcpu getcwd getdents getdents64
  getegid geteuid getgid getgroups getitimer getpeername getpgid getpgrp getpid getppid getpriority getrandom
  getresgid getresuid getrlimit getrusage getsid getsockname getsockopt gettid gettimeofday getuid getxattr
  inotify_add_watch inotify_init inotify_init1 inotify_rm_watch
  ioctl ioprio_get ioprio_set kill landlock_add_rule landlock_create_ruleset
  landlock_restrict_self lchown lgetxattr link linkat listen listxattr llistxattr lremovexattr lseek lsetxattr
  lstat madvise map_shadow_stack membarrier memfd_create mincore mkdir mkdirat mlock mlock2 mlockall mmap mprotect
  mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink mremap mseal msgctl msgget msgrcv msgsnd
  msync munlock munlockall munmap nanosleep newfstatat open openat openat2 pause pidfd_open pidfd_send_signal
  pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll ppoll prctl pread64 preadv preadv2 prlimit64 pselect6
  pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv recvfrom recvmmsg recvmsg remap_file_pages
  removexattr rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask
  rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max
  sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval
  sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield select semctl semget semop
  semtimedop sendfile sendmmsg sendmsg sendto set_robust_list set_thread_area set_tid_address setfsgid setfsuid
  setgid setgroups setitimer setpgid setpriority setregid setresgid setresuid setreuid setrlimit setsid
  setuid setxattr shmat shmctl shmdt shmget shutdown sigaltstack signalfd signalfd4 socketpair splice stat statfs
  statx symlink symlinkat sync_file_range sysinfo tee tgkill time timer_create timer_delete
  timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime times tkill truncate
  umask uname unlink unlinkat utime utimensat utimes vfork vmsplice wait4 waitid write writev
`);

/**
 * Calls that reach another process's memory or files, the kernel's own machinery, or a namespace, or that tell which
 * files of the image the machine's others have read. They would also
 * fall under the default; named here, they get EPERM on every engine, whichever default it knows (THREATS C32, C33).
 */
const DENIED = words(`
  acct add_key bpf cachestat chroot clock_adjtime clock_settime delete_module fanotify_init finit_module fsconfig fsmount
  fsopen fspick init_module io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load
  kexec_load keyctl lookup_dcookie mbind migrate_pages mount mount_setattr move_mount move_pages
  name_to_handle_at nfsservctl open_by_handle_at open_tree perf_event_open pidfd_getfd pivot_root
  process_madvise process_mrelease process_vm_readv process_vm_writev ptrace quotactl quotactl_fd reboot
  request_key set_mempolicy setdomainname sethostname setns settimeofday socketcall swapoff swapon sysfs syslog
  umount2 unshare uselib userfaultfd ustat vhangup
`);

/**
 * The allow-list of every container: on engines of any age the same, and tighter than the engines' own. Only native
 * 64-bit calls; a 32-bit program is killed, since its call numbers would need a second list.
 */
export const SECCOMP_PROFILE = {
  defaultAction: 'SCMP_ACT_ERRNO',
  defaultErrnoRet: ENOSYS,
  archMap: [
    { architecture: 'SCMP_ARCH_X86_64', subArchitectures: [] },
    { architecture: 'SCMP_ARCH_AARCH64', subArchitectures: [] },
  ],
  syscalls: [
    { names: ALLOWED, action: 'SCMP_ACT_ALLOW' },
    { names: DENIED, action: 'SCMP_ACT_ERRNO', errnoRet: EPERM },
    // The old asynchronous I/O: one run could take all of the host's fs.aio-max-nr. Programs do without where it is not.
    { names: ['io_setup'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
    // They would write out the whole host's disks, where nothing of a run's is. As good as done.
    { names: ['sync', 'syncfs'], action: 'SCMP_ACT_ERRNO', errnoRet: DONE },
    // Its flags lie in memory, where a filter can't look: libraries fall back to clone.
    { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
    allowWhere('clone', {
      index: 0,
      value: NAMESPACE_FLAGS,
      valueTwo: 0,
      op: 'SCMP_CMP_MASKED_EQ',
    }),
    // The kernel lets anybody make a 0:0 device, which is how an overlay writes a deletion.
    ...[0, S_IFREG, S_IFIFO, S_IFSOCK].flatMap((type) => [
      allowWhere('mknod', { index: 1, value: S_IFMT, valueTwo: type, op: 'SCMP_CMP_MASKED_EQ' }),
      allowWhere('mknodat', { index: 2, value: S_IFMT, valueTwo: type, op: 'SCMP_CMP_MASKED_EQ' }),
    ]),
    // AF_VSOCK would reach the machine's host. Of netlink only NETLINK_ROUTE: os.networkInterfaces() throws without it.
    allowWhere(
      'socket',
      { index: 0, value: AF_NETLINK, op: 'SCMP_CMP_EQ' },
      { index: 2, value: NETLINK_ROUTE, op: 'SCMP_CMP_EQ' },
    ),
    allowWhere('socket', { index: 0, value: AF_UNIX, op: 'SCMP_CMP_EQ' }),
    ...[AF_INET, AF_INET6].flatMap((family) =>
      PROTOCOLS.map((protocol) =>
        allowWhere(
          'socket',
          { index: 0, value: family, op: 'SCMP_CMP_EQ' },
          { index: 2, value: protocol, op: 'SCMP_CMP_EQ' },
        ),
      ),
    ),
    // A filter is compiled into memory of the kernel's that is in no cgroup and has one limit for the host: when a run has
    // used it up, no other container starts. Those that a process sets itself, with prctl, are few and bounded.
    ...allowUnless('setsockopt', 1, [SOL_SOCKET]),
    ...allowUnless('setsockopt', 2, ATTACH_FILTER_OPTIONS),
    // PER_LINUX, its two odd variants without randomised addresses, and asking.
    ...[0x0, 0x8, 0x2_0000, 0x2_0008, 0xffff_ffff].map((persona) =>
      allowWhere('personality', { index: 0, value: persona, op: 'SCMP_CMP_EQ' }),
    ),
  ] satisfies SyscallRule[],
} as const;

export const SECCOMP_JSON = JSON.stringify(SECCOMP_PROFILE);

/**
 * Allows a call whose argument is none of these. The kernel looks at its low 32 bits alone, so a filter that compared
 * all 64 would be led round it; and the format knows equality under a mask, not its opposite. So: all prefixes, in bits,
 * that none of the values begins with.
 */
function allowUnless(name: string, index: number, denied: readonly number[]): SyscallRule[] {
  const prefixes: { readonly mask: number; readonly value: number }[] = [];
  const split = (value: number, bit: number, below: readonly number[]): void => {
    const mask = 2 ** 32 - 2 ** bit;
    if (below.length === 0) prefixes.push({ mask, value });
    else if (bit > 0) {
      const half = 2 ** (bit - 1);
      const [low, high] = [value, value + half];
      split(
        low,
        bit - 1,
        below.filter((each) => each < high),
      );
      split(
        high,
        bit - 1,
        below.filter((each) => each >= high),
      );
    }
  };
  split(0, 32, denied);
  return prefixes.map(({ mask, value }) =>
    allowWhere(name, { index, value: mask, valueTwo: value, op: 'SCMP_CMP_MASKED_EQ' }),
  );
}

function allowWhere(
  name: string,
  ...args: NonNullable<SyscallRule['args']>[number][]
): SyscallRule {
  return { names: [name], action: 'SCMP_ACT_ALLOW', args };
}
