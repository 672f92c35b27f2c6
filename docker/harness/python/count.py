"""kervyxa-count for python_opcode_count, python_peak_bytes and instructions: SOURCE COMMAND [ARGUMENT…].

The command runs under Valgrind, which counts from outside: there is no tracer in the program that it could stop, edit or
reset. Around it stands a wall (wall.py), since work done by another process would be free of charge. On stdout comes one
line, KERVYXA_COUNT={"count","stdoutSha256","exitCode","signal"}; what the program writes goes to stderr. Exit 126 or 127:
this command or this image can't be counted, the fault of no solver.
"""

import hashlib
import json
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from meters import METERS, MeterError
from wall import forbid_escape, hide_memory

CHUNK_BYTES = 1 << 16
START_FAILED = 125


def main(arguments):
    """Counts one command; returns the exit status."""
    hide_memory()
    source, *command = arguments or [""]
    if source not in METERS:
        say(f"expected a source of {', '.join(METERS)}, got {source}")
        return 127
    try:
        meter = METERS[source](command)
    except MeterError as error:
        say(str(error))
        return error.status
    with meter:
        digest, status = run(meter)
        count = meter.read()
    if count is None:
        say("no count: Valgrind did not see the program's own end, or could not write its report")
    code = os.waitstatus_to_exitcode(status)
    line = {
        "count": count,
        "stdoutSha256": digest,
        "exitCode": code if code >= 0 else None,
        "signal": signal_name(-code) if code < 0 else None,
    }
    print(f"KERVYXA_COUNT={json.dumps(line, separators=(',', ':'))}", flush=True)
    return 0


def run(meter):
    """Runs the meter's program to its end; returns the SHA-256 of its stdout and its wait status."""
    output, output_end = os.pipe()
    child = os.fork()
    if child == 0:
        start(meter, output_end)
    os.close(output_end)
    digest = hashlib.sha256()
    while chunk := os.read(output, CHUNK_BYTES):
        digest.update(chunk)
        pass_on(chunk)
    _, status = os.waitpid(child, 0)
    return digest.hexdigest(), status


def start(meter, output_end):
    """In the child: becomes the program, or ends. Never returns; every descriptor of ours but the three closes."""
    try:
        os.dup2(output_end, 1)
        program, arguments, environment = meter.command_line()
        forbid_escape(meter.report_opening)
        os.execve(program, arguments, environment)
    except BaseException as error:
        # Nothing of the parent's may go on here.
        say(f"expected to start the program, got {error!r}")
    os._exit(START_FAILED)


def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        # A real-time signal.
        return f"SIG{number}"


def pass_on(chunk):
    """Writes what the program printed to stderr, for whoever reads the log."""
    while chunk:
        chunk = chunk[os.write(2, chunk) :]


def say(message):
    pass_on(f"kervyxa-count: {message}\n".encode("utf-8", "replace"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
