"""kervyxa-count for python_opcode_count, python_peak_bytes and instructions: SOURCE COMMAND [ARGUMENT…].

The command runs under Valgrind, and Valgrind counts from outside: there is no tracer in the program, so none that it
could stop, edit or reset. Around it stands a wall (wall.py), since work done by another process would be free of charge.
On stdout comes one line, KERVYXA_COUNT={"count","stdoutSha256","exitCode","signal"}; whatever the program writes goes to
stderr. Exit 126 or 127: this image or this command can't be counted, the fault of no solver.
"""

import hashlib
import json
import os
import selectors
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from meters import METERS, MeterError  # noqa: E402
from wall import forbid_escape, hide_memory  # noqa: E402

CHUNK_BYTES = 1 << 16
# What Valgrind says of itself in an honest run is a few hundred bytes.
LOG_BYTES_MAX = 1 << 20


def main(arguments):
    """Counts one command; returns the exit status."""
    hide_memory()
    try:
        source, *command = arguments
        meter = METERS[source](command)
    except (KeyError, ValueError):
        say(f"expected SOURCE COMMAND with SOURCE one of {', '.join(METERS)}, got {' '.join(arguments)}")
        return 126
    except MeterError as error:
        say(str(error))
        return error.status
    with meter:
        digest, log, status = run(meter)
        count = meter.read(log)
    if count is None:
        say(f"no count: the program did not end under Valgrind's eyes\n{log[-4096:]}")
    code = os.waitstatus_to_exitcode(status)
    line = {
        "count": count,
        "stdoutSha256": digest,
        "exitCode": code if code >= 0 else None,
        "signal": signal.Signals(-code).name if code < 0 else None,
    }
    print(f"KERVYXA_COUNT={json.dumps(line, separators=(',', ':'))}", flush=True)
    return 0


def run(meter):
    """Runs the meter's program to its end: SHA-256 of its stdout, Valgrind's log, the wait status."""
    output, output_end = os.pipe()
    log, log_end = os.pipe()
    child = os.fork()
    if child == 0:
        start(meter, output_end, log_end)
    os.close(output_end)
    os.close(log_end)
    digest = hashlib.sha256()
    text = b""
    with selectors.DefaultSelector() as open_ends:
        open_ends.register(output, selectors.EVENT_READ)
        open_ends.register(log, selectors.EVENT_READ)
        while open_ends.get_map():
            for key, _ in open_ends.select():
                chunk = os.read(key.fd, CHUNK_BYTES)
                if not chunk:
                    open_ends.unregister(key.fd)
                elif key.fd == output:
                    digest.update(chunk)
                    pass_on(chunk)
                else:
                    text = (text + chunk)[-LOG_BYTES_MAX:]
    _, status = os.waitpid(child, 0)
    return digest.hexdigest(), text.decode("utf-8", "replace"), status


def start(meter, output_end, log_end):
    """In the child: becomes the program, or ends with 125. Never returns."""
    try:
        os.dup2(output_end, 1)
        os.set_inheritable(log_end, True)
        program, arguments, environment = meter.command_line(log_end)
        forbid_escape(meter.report_opening)
        os.execve(program, arguments, environment)
    except BaseException as error:  # Nothing of the parent's may run on in the child.
        say(f"expected to start the program, got {error!r}")
    os._exit(125)


def pass_on(chunk):
    """Writes what the program printed to stderr, for whoever reads the log."""
    while chunk:
        chunk = chunk[os.write(2, chunk) :]


def say(message):
    pass_on(f"kervyxa-count: {message}\n".encode("utf-8", "replace"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
