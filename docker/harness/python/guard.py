"""guard.py SCRIPT [ARGUMENT…]: runs a Python program that is counted.

Valgrind counts all that this process runs, but native code can talk to Valgrind, or write to its memory. So no native code
of the program's own may come in: no ctypes, no extension modules but known ones of the standard library, no made-up
bytecode and no ioctl (which reach any address). What is refused raises PermissionError: the program may catch it, the work
is not done. An audit hook can't be removed while Python lasts, and a traceback shows all that this one holds, so nothing of
that can be changed: no list, and no function that is written in Python. Python's own end drops the hook before the last
finalizers run; so it is not waited for.
"""

import _imp
import atexit
import gc
import marshal
import os
import sys

import _frozen_importlib_external

# Not sqlite3, a second interpreter; not OpenSSL, which loads native code that its configuration names; not mmap, memory
# beside malloc; nothing that was made to test or debug Python.
NATIVE = """
_bisect _blake2 _bz2 _codecs_cn _codecs_hk _codecs_iso2022 _codecs_jp _codecs_kr _codecs_tw _contextvars _crypt _csv
_datetime _decimal _heapq _json _lzma _md5 _multibytecodec _opcode _pickle _posixsubprocess _queue
_random _sha1 _sha256 _sha3 _sha512 _socket _statistics _struct _typing _uuid _zoneinfo array audioop binascii cmath
fcntl grp math pyexpat resource select termios unicodedata zlib
""".split()

DENIED = """
code.__new__ fcntl.fcntl fcntl.ioctl gc.get_objects gc.get_referents gc.get_referrers marshal.load
sys.setprofile sys.settrace
""".split()


def close_doors():
    """Takes away what no audit event tells of; from here on every new module comes from a file."""
    # Large, and its imports too; xml.etree goes on in plain Python.
    sys.modules["_elementtree"] = None
    # hashlib goes on with what Python brings.
    sys.modules["_hashlib"] = sys.modules["_ssl"] = None
    # Warns that it is old.
    sys.modules["spwd"] = None
    for name in sys.builtin_module_names:
        if name not in sys.modules:
            __import__(name)
    # Made-up bytecode: as the data of a frozen module, and as a script that only bears the name of one.
    _imp._override_frozen_modules_for_tests(-1)
    del _imp.get_frozen_object, _imp.create_builtin


def load_bytecode(data, name=None, bytecode_path=None, source_path=None):
    """In place of importlib's own. What is checked and what is loaded is one value that nobody can change in between."""
    load = "load"
    freeze = "freeze"
    return load(freeze(data))


def pin(function, **values):
    """Makes constants of a function's code out of the texts that name them; only tracing, which is denied, could change those."""
    code = function.__code__
    constants = tuple(values.get(value, value) if type(value) is str else value for value in code.co_consts)
    function.__code__ = code.replace(co_consts=constants)
    return function.__code__


def set_hook(loading):
    library = os.path.dirname(os.__file__) + "/"
    suffix = f".{sys.implementation.cache_tag}-{sys.implementation._multiarch}.so"
    extensions = frozenset(f"{library}lib-dynload/{name}{suffix}" for name in NATIVE)
    denied = frozenset(DENIED)
    refusal, read, text, kind, frame_at, leave = PermissionError, open, str, type, sys._getframe, os._exit
    starts_with, ends_with, find = str.startswith, str.endswith, str.find

    def hook(event, args):
        if event == "open":
            path = args[0]
            if kind(path) is text and ends_with(path, ".pyc"):
                # Python then goes on with the source.
                if not starts_with(path, library) or find(path, "/../") >= 0:
                    raise refusal(13, "counted code runs from source only")
        elif event == "import":
            path = args[1]
            if path is not None and (kind(path) is not text or path not in extensions):
                raise refusal(13, "counted code loads no native module of its own")
        elif event == "marshal.loads":
            caller = frame_at(1)
            path = caller.f_locals["bytecode_path"] if caller.f_code is loading else None
            # Only what lies in the image's own library, which nobody in the container can write to.
            if kind(path) is not text or not starts_with(path, library) or find(path, "/../") >= 0:
                raise refusal(13, "counted code loads no bytecode")
            with read(path, "rb", 0) as file:
                known = file.read()
            if known[16:] != args[0]:
                raise refusal(13, "counted code loads no bytecode")
        elif event == "cpython.PyInterpreterState_Clear":
            # Nothing may run without the hook.
            leave(125)
        elif event in denied:
            raise refusal(13, f"counted code does without {event}")

    sys.addaudithook(hook)


def run(script):
    """Runs the script as Python does, and ends the process."""
    leave, status = os._exit, 1
    main = type(sys)("__main__")
    main.__file__, main.__cached__ = os.path.abspath(script), None
    main.__builtins__ = sys.modules["builtins"]
    main.__loader__ = _frozen_importlib_external.SourceFileLoader("__main__", main.__file__)
    sys.modules["__main__"] = main
    sys.path[0] = os.path.dirname(os.path.realpath(script))
    try:
        with open(main.__file__, "rb") as file:
            source = file.read()
        exec(compile(source, main.__file__, "exec", dont_inherit=True), main.__dict__)
        status = 0
    except SystemExit as error:
        status = status_of(error.code)
    except BaseException as error:
        # Without the line of ours.
        sys.excepthook(type(error), error, error.__traceback__.tb_next)
    finally:
        main = None
        leave(status if finish() else 120)


def status_of(code):
    if code is None or isinstance(code, int):
        return (code or 0) & 0xFF
    print(code, file=sys.stderr)
    return 1


def finish():
    """What Python does at its end, as far as programs know of it; whether all was written."""
    try:
        if "threading" in sys.modules:
            sys.modules["threading"]._shutdown()
        atexit._run_exitfuncs()
        flush()
        # What the program still holds ends too, in Python's order: a file is written.
        names = vars(sys.modules.pop("__main__"))
        for name in list(names):
            if name != "__builtins__":
                names[name] = None
        gc.collect()
        flush()
        return True
    except BaseException as error:
        os.write(2, f"kervyxa-count: the program could not end: {error!r}\n".encode())
        return False


def flush():
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        if stream is not None and not getattr(stream, "closed", False):
            stream.flush()


try:
    del sys.argv[0]
    close_doors()
    _frozen_importlib_external._compile_bytecode = load_bytecode
    set_hook(pin(load_bytecode, load=marshal.loads, freeze=bytes))
except BaseException as error:
    os.write(2, f"kervyxa-count: expected a guarded program, got {error!r}\n".encode())
    os._exit(125)
run(sys.argv[0])
