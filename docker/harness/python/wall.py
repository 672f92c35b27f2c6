"""What keeps counted code in its one process, and out of ours.

Written with ctypes, since Python's library binds neither prctl nor seccomp. The filter comes on top of the container's
own, which already refuses ptrace, process_vm_writev, pidfd_getfd and io_uring.
"""

import ctypes
import errno
import os
import struct

PR_SET_DUMPABLE = 4
PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2

ALLOW = 0x7FFF_0000
KILL = 0x8000_0000
REFUSE = 0x0005_0000

# Places of the filter's input, struct seccomp_data: number, machine, then the low halves of the arguments.
NUMBER, MACHINE = 0, 4
ARGUMENTS = [16, 24, 32, 40]

CLONE_THREAD = 0x0001_0000
# The numbers that the two machines have for the same calls; None where a machine lacks the call.
MACHINES = {
    "x86_64": (
        0xC000_003E,
        {"open": 2, "clone": 56, "fork": 57, "vfork": 58, "creat": 85, "openat": 257, "clone3": 435, "openat2": 437},
    ),
    "aarch64": (
        0xC000_00B7,
        {"clone": 220, "openat": 56, "clone3": 435, "openat2": 437},
    ),
}


def hide_memory():
    """Nobody of our user may open /proc/PID/mem, /proc/PID/fd or /proc/PID/environ of this process any more."""
    prctl(PR_SET_DUMPABLE, 0)


def forbid_escape(report):
    """For this process, for ever: no new process, and no file opened for writing but a new one.

    A thread may be started: Valgrind counts it. A file that exists can't be written, since files under /proc are the
    memory and the open ends of other processes, Valgrind's and our container's first process among them. `report` lets
    Valgrind open its own report: the exact flags and mode that it uses, and that no library for scripts does, since they
    all add O_CLOEXEC.
    """
    machine, calls = MACHINES[os.uname().machine]
    filter_ = rules(machine, calls, report)
    buffer = ctypes.create_string_buffer(b"".join(filter_))
    program = struct.pack("HxxxxxxQ", len(filter_), ctypes.addressof(buffer))
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program)


def rules(machine, calls, report):
    """The filter's instructions. Each block falls through to the next where its call is another."""
    program = [load(MACHINE), skip_if_equal(machine, 1), answer(KILL), load(NUMBER)]
    if "open" in calls:
        # Calls in the x32 form bear other numbers.
        program += [skip_unless_at_least(0x4000_0000, 1), answer(REFUSE | errno.ENOSYS)]
    for name in ("clone3", "openat2"):
        program += refusal(calls, name, errno.ENOSYS)
    for name in ("fork", "vfork"):
        program += refusal(calls, name, errno.EPERM)
    program += refusal(calls, "creat", errno.EACCES)
    program += on_call(
        calls, "clone", [load(ARGUMENTS[0]), skip_if_any(CLONE_THREAD, 1), answer(REFUSE | errno.EPERM), answer(ALLOW)]
    )
    for name, flags in (("open", 1), ("openat", 2)):
        program += on_call(calls, name, opening(ARGUMENTS[flags], ARGUMENTS[flags + 1], report))
    return [*program, answer(ALLOW)]


def opening(flags, mode, report):
    """Reading, writing to a file that this very call creates, or Valgrind's own way."""
    own_flags, own_mode = report
    new = os.O_CREAT | os.O_EXCL
    block = [load(flags), skip_if_any(os.O_ACCMODE, 1), answer(ALLOW)]
    block += [keep(new), skip_unless_equal(new, 1), answer(ALLOW)]
    block += [load(flags), skip_unless_equal(own_flags, 3), load(mode), skip_unless_equal(own_mode, 1), answer(ALLOW)]
    return [*block, answer(REFUSE | errno.EACCES)]


def refusal(calls, name, number):
    return on_call(calls, name, [answer(REFUSE | number)])


def on_call(calls, name, block):
    """The block for one call, which must end in an answer; nothing where the machine lacks the call."""
    return [skip_unless_equal(calls[name], len(block)), *block] if name in calls else []


def load(place):
    return instruction(0x20, 0, 0, place)


def keep(bits):
    return instruction(0x54, 0, 0, bits)


def skip_if_equal(value, count):
    return instruction(0x15, count, 0, value)


def skip_unless_equal(value, count):
    return instruction(0x15, 0, count, value)


def skip_unless_at_least(value, count):
    return instruction(0x35, 0, count, value)


def skip_if_any(bits, count):
    return instruction(0x45, count, 0, bits)


def answer(action):
    return instruction(0x06, 0, 0, action)


def instruction(code, if_true, if_false, value):
    return struct.pack("HBBI", code, if_true, if_false, value)


def prctl(option, *values):
    """Throws OSError where the kernel refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    arguments = [ctypes.c_char_p(v) if isinstance(v, bytes) else ctypes.c_ulong(v) for v in values]
    padding = [ctypes.c_ulong(0)] * (4 - len(arguments))
    if libc.prctl(ctypes.c_int(option), *arguments, *padding) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl {option}: {os.strerror(number)}")
