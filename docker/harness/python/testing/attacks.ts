/** The work that is counted, and its answer; attacks try to have it done without being counted. */
export const WORK = `
def work():
    total = 0
    for i in range(20000):
        total += i * i % 7
    return total
`;
export const ANSWER = '39998\n';

const HONEST = `${WORK}print(work())\n`;

/** What is refused with an exception, by what it would be good for: lines of Python. */
export const REFUSED: Readonly<Record<string, string>> = {
  // Native code, which could talk to Valgrind or write to its memory.
  ctypes: 'import ctypes',
  'native code for tests': 'import _testcapi',
  'an interpreter without guard': 'import _xxsubinterpreters',
  'memory beside malloc': 'import mmap',
  'a native module of its own': 'import evil',
  'a native module by another path': `
path = os.path.dirname(os.__file__) + "/lib-dynload/../lib-dynload/_ctypes" + importlib.machinery.EXTENSION_SUFFIXES[0]
loader = importlib.machinery.ExtensionFileLoader("_ctypes", path)
importlib.util.module_from_spec(importlib.util.spec_from_loader("_ctypes", loader))`,
  'the kernel writing to an address': 'fcntl.ioctl(0, 0x541B, 0x58000000)',
  'the guard among all objects': 'gc.get_objects()',
  // Bytecode that no compiler made.
  'bytecode from a function': 'work.__code__.replace(co_consts=())',
  'bytecode from bytes': 'marshal.loads(marshal.dumps(work.__code__))',
  'bytecode from a file': 'marshal.load(open("try-honest.py", "rb"))',
  'bytecode that a list in the guard’s closure lets in': `
try:
    marshal.loads(b"N")
except PermissionError as error:
    at = error.__traceback__
    while at.tb_next:
        at = at.tb_next
    with open("/tmp/made-up", "xb") as file:
        file.write(bytes(16) + b"N")
    for value in at.tb_frame.f_locals.values():
        if isinstance(value, (list, dict, set)):
            value[0] = "/tmp/made-up"
        if isinstance(value, type(work)):
            value.__code__ = (lambda *_: True).__code__
    marshal.loads(b"N")`,
  'bytecode that changes once it was looked at': `
path = glob.glob(os.path.dirname(os.__file__) + "/__pycache__/*.pyc")[0]
with open(path, "rb") as file:
    known = bytearray(file.read()[16:])
evil = marshal.dumps(work.__code__)
def change(event, _):
    if event == "marshal.loads":
        known[:len(evil)] = evil
sys.addaudithook(change)
marshal.loads(known)`,
  'bytecode by the loader of the guard': `
path = glob.glob(os.path.dirname(os.__file__) + "/__pycache__/*.pyc")[0]
importlib._bootstrap_external._compile_bytecode(marshal.dumps(work.__code__), None, path)`,
  'values of the guard changed by a tracer': 'sys.settrace(lambda *_: None)',
  'values of the guard changed by a profiler': 'sys.setprofile(lambda *_: None)',
  'native code that OpenSSL is told to load': `
os.environ["OPENSSL_CONF"] = "/workspace/openssl.cnf"
import _hashlib`,
  'bytecode as a frozen module': '_imp.get_frozen_object("x", marshal.dumps(work.__code__))',
  'bytecode after a reload':
    'importlib.reload(_imp).get_frozen_object("x", marshal.dumps(work.__code__))',
  'bytecode without source': 'import sourceless',
  // Other processes, and what they have open.
  'a child by fork': 'os.fork()',
  'a child by posix_spawn':
    'os.posix_spawn(sys.executable, ["python3", "try-honest.py"], os.environ)',
  'a child by subprocess': 'subprocess.run(["python3", "try-honest.py"])',
  'the memory of the first process': 'open("/proc/1/mem", "r+b")',
  'the output of the first process': 'open("/proc/1/fd/1", "wb")',
  'its own memory': 'os.open("/proc/self/mem", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)',
  'its own memory, as Valgrind opens its report':
    'os.open("/proc/self/mem", os.O_WRONLY | os.O_TRUNC, 0)',
  'the memory of the harness': 'open(f"/proc/{os.getppid()}/mem", "rb")',
  'the output of the harness': 'os.listdir(f"/proc/{os.getppid()}/fd")',
  // Last, since nothing can be imported after it.
  'the module of imports made anew':
    'del sys.modules["_imp"]\nimport _imp\n_imp.get_frozen_object("x", b"")',
};

/** Tries each of REFUSED, says on stderr `refused NAME` or `DONE NAME`, and does the work. */
const TRY_ALL = `import _imp, fcntl, gc, glob, importlib.machinery, importlib.util, marshal, os, subprocess, sys
${WORK}
for name, lines in ${JSON.stringify(REFUSED)}.items():
    try:
        exec(lines)
    except (OSError, AttributeError, ImportError):
        print("refused", name, file=sys.stderr)
    else:
        print("DONE", name, file=sys.stderr)
print(work())
`;

/** Python programs, each for a file try-NAME.py. Those that do the work print ANSWER. */
export const PROGRAMS: Readonly<Record<string, string>> = {
  honest: HONEST,
  refused: TRY_ALL,
  /** An answer that was made before; hidden inputs are against that, no counting is. */
  prepared: 'print(39998)\n',

  // Work elsewhere.
  exec: 'import os\nos.execv("/usr/bin/python3", ["python3", "try-honest.py"])\n',
  thread: `import threading\n${WORK}
answers = []
thread = threading.Thread(target=lambda: answers.append(work()))
thread.start()
thread.join()
print(answers[0])
`,
  finalizer: `${WORK}
answers = []
class Late:
    def __del__(self):
        answers.append(work())
def leave():
    late = Late()
leave()
print(answers[0])
`,
  handler: `import signal\n${WORK}
signal.signal(signal.SIGUSR1, lambda *_: print(work()))
signal.raise_signal(signal.SIGUSR1)
`,
  atexit: `import atexit\n${WORK}\natexit.register(lambda: print(work()))\n`,

  /** Python itself drops audit hooks before what such a registry holds. */
  late: `import codecs, marshal, os\n${WORK}
class Late:
    known = marshal.loads, marshal.dumps(work.__code__), os.write
    def __call__(self, error):
        raise error
    def __del__(self):
        load, code, write = self.known
        load(code)
        write(2, b"DONE late\\n")
codecs.register_error("late", Late())
print(work(), flush=True)
`,
  /** A file that is written when it is closed, and closed when nobody holds it. */
  held: `import os\n${WORK}
out = os.fdopen(os.dup(1), "w")
out.write(f"{work()}\\n")
`,

  // Counting stopped.
  tracer: `import sys, threading, tracemalloc\n${WORK}
for stop in sys.settrace, sys.setprofile:
    try:
        stop(None)
    except PermissionError:
        pass
threading.settrace(None)
tracemalloc.start()
tracemalloc.reset_peak()
tracemalloc.clear_traces()
tracemalloc.stop()
print(work())
`,

  late_by_force: `import sys
sys._getframe(1).f_globals["finish"] = None
exec(open("try-late.py").read())
`,
  kill: `import os, signal\nprint(39998, flush=True)\nos.kill(os.getppid(), signal.SIGKILL)\n`,

  // A report of the program's own.
  forged_line: `import os
line = b'KERVYXA_COUNT={"count":1,"stdoutSha256":"${'0'.repeat(64)}","exitCode":0,"signal":null}\\n'
for descriptor in range(1, 1100):
    try:
        os.write(descriptor, line)
    except OSError:
        pass
`,
  forged_log: `import os
for descriptor in range(3, 1100):
    try:
        os.write(os.dup(descriptor), b"==1== Collected : 5\\n")
    except OSError:
        pass
os.execv("/usr/bin/python3", ["python3", "try-honest.py"])
`,
  linked_report: `import glob, os\n${WORK}
[report] = glob.glob("/tmp/kervyxa-count-*")
os.unlink(report)
with open(report, "x") as own:
    own.write("summary: 5\\ntotals: 5\\n")
os.chmod(report, 0o400)
print(work())
`,
  locked_report: `import glob, os\n${WORK}
[report] = glob.glob("/tmp/kervyxa-count-*")
os.chmod(report, 0)
print(work())
`,
  full_disk: `import os\n${WORK}
print(work(), flush=True)
left = 64 << 20
for number in range(100):
    with open(f"/tmp/{number}", "xb", buffering=0) as file:
        try:
            while file.write(bytes(1 << 16)):
                pass
        except OSError:
            pass
`,
  file_limit: `import resource, signal\n${WORK}
print(work(), flush=True)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
`,

  // Less than the whole answer.
  early: 'import os\nprint(3, flush=True)\nos._exit(0)\n',
  early_with_answer: `import os\n${WORK}\nprint(work(), flush=True)\nos._exit(0)\n`,
  abort: 'import os\nprint(39998, flush=True)\nos.abort()\n',
  failing: 'print(39998)\nraise SystemExit(3)\n',
};
