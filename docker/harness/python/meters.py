"""One meter a source: which Valgrind tool counts, how the program is started under it, and where the number is read."""

import os
import re
import shutil
import tempfile

from dispatches import count_dispatches

TOOLS = "/usr/libexec/valgrind"
TOOL_SUFFIX = {"x86_64": "amd64-linux", "aarch64": "arm64-linux"}
SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "site")

VALGRIND_OPTIONS = [
    # The working folder is the solver's, and Valgrind would read options from a file in it.
    "--command-line-only=yes",
    # Through vgdb, anybody could set the counters back.
    "--vgdb=no",
    "--default-suppressions=no",
    "--read-inline-info=no",
    "--trace-children=no",
]

# Whatever steers the loader, the allocator, Python or Valgrind is ours to say.
STEERING = re.compile(r"^(LD_|GLIBC_|MALLOC_|PYTHON|VALGRIND|DEBUGINFOD)")
PYTHON_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONNOUSERSITE": "1",
    # Where site looks for sitecustomize.py, which takes the folder out of sys.path again.
    "PYTHONPATH": SITE,
}


class MeterError(Exception):
    """The command can't be counted here: 127 for a program that is not there, 126 for one that can't be run."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Meter:
    """A command and the tool that counts it. A context manager; `command_line` before the run, `read` after it."""

    tool = "callgrind"
    # Flags and mode with which the tool opens its report, which is there already.
    report_opening = (os.O_WRONLY | os.O_TRUNC, 0)
    options = []

    def __init__(self, command):
        self.program = program_of(command)
        self.arguments = command[1:]
        self.tool_path = f"{TOOLS}/{self.tool}-{TOOL_SUFFIX.get(os.uname().machine)}"
        if not os.access(self.tool_path, os.X_OK):
            raise MeterError(127, f"expected Valgrind at {self.tool_path}, got none")

    def __enter__(self):
        self.report, self.report_path = tempfile.mkstemp(prefix="kervyxa-count-")
        return self

    def __exit__(self, *_):
        os.close(self.report)
        try:
            os.unlink(self.report_path)
        except FileNotFoundError:
            pass  # The program may remove the name; what is read is the file that we opened.

    def command_line(self, log):
        """Program, arguments and environment for execve; Valgrind logs to the descriptor `log`."""
        report = f"--{self.tool}-out-file={self.report_path}"
        own = [f"--tool={self.tool}", f"--log-fd={log}", report, *VALGRIND_OPTIONS, *self.options]
        environment = {k: v for k, v in os.environ.items() if not STEERING.match(k)}
        # What the valgrind command itself would set before it starts the tool.
        environment["VALGRIND_LAUNCHER"] = "/usr/bin/valgrind"
        environment.update(self.environment())
        return self.tool_path, [self.tool_path, *own, "--", self.program, *self.arguments], environment

    def environment(self):
        return {}

    def read(self, log):
        """The count; None where Valgrind did not see the program's end."""
        return number_in(log, r"Collected : (\d+)")


class Instructions(Meter):
    """Machine instructions of the program, its libraries and its threads."""


class PythonMeter(Meter):
    """A script, run by the python3 of the image behind the guard of site/sitecustomize.py."""

    def __init__(self, command):
        super().__init__(command)
        if command[0] != "python3" or len(command) < 2 or command[1].startswith("-"):
            raise MeterError(126, f"expected python3 SCRIPT ARGUMENTS, got {' '.join(command)}")
        # Without it, Python would start all the same.
        if not os.access(f"{SITE}/sitecustomize.py", os.R_OK):
            raise MeterError(127, f"expected the guard in {SITE}, got none")

    def environment(self):
        return PYTHON_ENVIRONMENT


class PythonOpcodes(PythonMeter):
    """Bytecode instructions that Python's evaluation loop dispatched."""

    options = ["--dump-instr=yes", "--dump-line=no", "--compress-pos=no", "--compress-strings=no"]

    def read(self, log):
        total = super().read(log)
        with open(self.report, encoding="utf-8", errors="replace", closefd=False) as report:
            return count_dispatches(report, total)


class PythonPeak(PythonMeter):
    """The most bytes that the program had from malloc at one time."""

    tool = "dhat"
    report_opening = (os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)

    def environment(self):
        # Python's own allocator takes memory in large pieces, and Valgrind would see only those.
        return {**PYTHON_ENVIRONMENT, "PYTHONMALLOC": "malloc"}

    def read(self, log):
        return number_in(log, r"At t-gmax: ([\d,]+) bytes in [\d,]+ blocks")


METERS = {
    "python_opcode_count": PythonOpcodes,
    "python_peak_bytes": PythonPeak,
    "instructions": Instructions,
}


def program_of(command):
    """The path that the command's first word means, as a shell finds it. Throws MeterError."""
    if not command:
        raise MeterError(126, "expected a command, got none")
    found = shutil.which(command[0])
    if found is None:
        there = os.path.exists(command[0]) and "/" in command[0]
        raise MeterError(126 if there else 127, f"{command[0]}: {'not executable' if there else 'not found'}")
    return found


def number_in(log, pattern):
    """The number of the one line that is the pattern; None where there is none, or several."""
    found = re.findall(rf"^==\d+== {pattern}$", log, re.MULTILINE)
    return int(found[0].replace(",", "")) if len(found) == 1 else None
