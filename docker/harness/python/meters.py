"""One meter a source: which Valgrind tool counts, how the program is started under it, and where the number is read."""

import json
import os
import re
import shutil
import tempfile

from dispatches import count_dispatches

TOOLS = "/usr/libexec/valgrind"
TOOL_SUFFIX = {"x86_64": "amd64-linux", "aarch64": "arm64-linux"}
GUARD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guard.py")

VALGRIND_OPTIONS = [
    # The working folder is the solver's, and Valgrind would read options from a file in it.
    "--command-line-only=yes",
    # Through vgdb, anybody could set the counters back.
    "--vgdb=no",
    "--trace-children=no",
    "--default-suppressions=no",
    "--read-inline-info=no",
    "-q",
]

# Whatever steers the loader, the allocator, Python or Valgrind is ours to say.
STEERING = re.compile(r"LD_|GLIBC_|MALLOC_|PYTHON|VALGRIND|DEBUGINFOD")
PYTHON_ENVIRONMENT = {
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONNOUSERSITE": "1",
}


class MeterError(Exception):
    """The command can't be counted here. `status`: 127 where something is not there, 126 where it can't be run."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class CallgrindMeter:
    """A command and the tool that counts it. A context manager: `command_line` before the run, `read` after it.

    The count comes from the tool's report and not from what it logs, since the program can reach the log's descriptor.
    The report is a file that is there before the run and can't be opened for writing from then on but by Valgrind; read is
    the file that we opened, whatever bears its name at the end. A program that becomes another one leaves it empty.
    """

    tool = "callgrind"
    # Flags and mode with which the tool opens a report that is there.
    report_opening = (os.O_WRONLY | os.O_TRUNC, 0)
    options = ()

    def __init__(self, command):
        if not command:
            raise MeterError(126, "expected a command, got none")
        self.program = program_of(command[0])
        self.arguments = command[1:]
        self.tool_path = f"{TOOLS}/{self.tool}-{TOOL_SUFFIX.get(os.uname().machine)}"
        if not os.access(self.tool_path, os.X_OK):
            raise MeterError(127, f"expected Valgrind's {self.tool_path}, got none")

    def __enter__(self):
        descriptor, self.report_path = tempfile.mkstemp(prefix="kervyxa-count-")
        self.report = open(descriptor, encoding="utf-8", errors="replace")
        return self

    def __exit__(self, *_):
        self.report.close()
        try:
            os.unlink(self.report_path)
        except FileNotFoundError:
            # The program may do so too.
            pass

    def command_line(self):
        """Program, arguments and environment for execve."""
        report = f"--{self.tool}-out-file={self.report_path}"
        own = [self.tool_path, f"--tool={self.tool}", report, *VALGRIND_OPTIONS, *self.options, "--"]
        environment = {name: value for name, value in os.environ.items() if not STEERING.match(name)}
        # What the valgrind command would set before it starts the tool.
        environment["VALGRIND_LAUNCHER"] = "/usr/bin/valgrind"
        # A seed by chance would move the count of every Python program.
        environment["PYTHONHASHSEED"] = "0"
        return self.tool_path, [*own, self.program, *self.arguments], {**environment, **self.environment()}

    def environment(self):
        return {}


class Instructions(CallgrindMeter):
    """Machine instructions of any program, its libraries and its threads."""

    def read(self):
        """The count; None where there is no whole report. The total comes last, and has signal handlers in it too."""
        totals = re.findall(r"^totals: (\d+)$", self.report.read(), re.MULTILINE)
        return int(totals[0]) if len(totals) == 1 else None


class PythonMeter(CallgrindMeter):
    """A script, run by the python3 of the image behind guard.py."""

    def __init__(self, command):
        super().__init__(command)
        if command[0] != "python3" or len(command) < 2 or command[1].startswith("-"):
            raise MeterError(126, f"expected python3 SCRIPT ARGUMENTS, got {' '.join(command)}")
        self.arguments = [GUARD, *command[1:]]

    def environment(self):
        return PYTHON_ENVIRONMENT


class PythonOpcodes(PythonMeter):
    """Bytecode instructions that Python's evaluation loop dispatched."""

    options = ("--dump-instr=yes", "--dump-line=no", "--compress-pos=no", "--compress-strings=no")

    def read(self):
        return count_dispatches(self.report)


class PythonPeak(PythonMeter):
    """The most bytes that the program had from malloc at one time."""

    tool = "dhat"
    report_opening = (os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    options = ("--num-callers=1",)

    def environment(self):
        # Python's own allocator takes memory in large pieces, and Valgrind would see only those.
        return {**PYTHON_ENVIRONMENT, "PYTHONMALLOC": "malloc"}

    def read(self):
        """Bytes at the global maximum over all places that allocate; None where the report is not whole."""
        try:
            places = json.load(self.report)["pps"]
        except ValueError:
            return None
        return sum(place["gb"] for place in places)


METERS = {
    "python_opcode_count": PythonOpcodes,
    "python_peak_bytes": PythonPeak,
    "instructions": Instructions,
}


def program_of(word):
    """The path that a command's first word means to a shell. Throws MeterError."""
    found = shutil.which(word)
    if found is None:
        is_there = "/" in word and os.path.exists(word)
        raise MeterError(126 if is_there else 127, f"{word}: {'not executable' if is_there else 'not found'}")
    return os.path.abspath(found)
