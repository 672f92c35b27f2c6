"""The guard of a counted Python program; Python's site module imports it before the program's first line.

Valgrind counts all that this process runs, but native code can talk to Valgrind, or write to its memory. So no native code
of the program's own may come in: no ctypes, no extension modules but known ones of the standard library, no made-up
bytecode and no ioctl (which reach any address). What is refused raises PermissionError: the program may catch it, the work
is not done. An audit hook can't be removed, and what this one uses is held in its closure, which gc alone could find.
"""

import _imp
import os
import sys

from _frozen_importlib_external import MAGIC_NUMBER

# Not sqlite3, a second interpreter; not mmap, memory beside malloc; nothing that was made to test or debug Python.
NATIVE = """
_bisect _blake2 _bz2 _codecs_cn _codecs_hk _codecs_iso2022 _codecs_jp _codecs_kr _codecs_tw _contextvars _crypt _csv
_datetime _decimal _hashlib _heapq _json _lzma _md5 _multibytecodec _opcode _pickle _posixsubprocess _queue
_random _sha1 _sha256 _sha3 _sha512 _socket _ssl _statistics _struct _typing _uuid _zoneinfo array audioop binascii cmath
fcntl grp math pyexpat resource select termios unicodedata zlib
""".split()

DENIED = """
code.__new__ fcntl.fcntl fcntl.ioctl gc.get_objects gc.get_referents gc.get_referrers marshal.load
""".split()


def close_doors():
    """Takes away what no audit event tells of; from here on every new module comes from a file."""
    # Large, and its imports too; xml.etree goes on in plain Python.
    sys.modules["_elementtree"] = None
    for name in sys.builtin_module_names:
        if name not in sys.modules:
            __import__(name)
    # Made-up bytecode: as the data of a frozen module, and as a script that only bears the name of one.
    _imp._override_frozen_modules_for_tests(-1)
    del _imp.get_frozen_object, _imp.create_builtin
    script = sys.orig_argv[1]
    if os.path.isfile(script):
        with open(script, "rb", 0) as file:
            if file.read(2) == MAGIC_NUMBER[:2]:
                raise PermissionError("counted code runs from source only")


def set_hook():
    library = os.path.dirname(os.__file__) + "/"
    suffix = f".{sys.implementation.cache_tag}-{sys.implementation._multiarch}.so"
    extensions = frozenset(f"{library}lib-dynload/{name}{suffix}" for name in NATIVE)
    denied = frozenset(DENIED)
    last_opened = [""]
    refusal, read, text, kind = PermissionError, open, str, type
    starts_with, ends_with, find = str.startswith, str.endswith, str.find

    def hook(event, args):
        if event == "open":
            path = args[0]
            if kind(path) is text and ends_with(path, ".pyc"):
                # Python then goes on with the source.
                if not starts_with(path, library) or find(path, "/../") >= 0:
                    raise refusal(13, "counted code runs from source only")
                last_opened[0] = path
        elif event == "import":
            path = args[1]
            if path is not None and (kind(path) is not text or path not in extensions):
                raise refusal(13, "counted code loads no native module of its own")
        elif event == "marshal.loads":
            # Only what lies in the image's own library, which nobody in the container can write to.
            path, last_opened[0] = last_opened[0], ""
            if path == "":
                raise refusal(13, "counted code loads no bytecode")
            with read(path, "rb", 0) as file:
                known = file.read()
            last_opened[0] = ""
            if known[16:] != args[0]:
                raise refusal(13, "counted code loads no bytecode")
        elif event in denied:
            raise refusal(13, f"counted code does without {event}")

    sys.addaudithook(hook)


try:
    own_folder = os.path.dirname(__file__)
    sys.path[:] = [folder for folder in sys.path if folder != own_folder]
    del os.environ["PYTHONPATH"]
    close_doors()
    set_hook()
except BaseException as error:
    # Python itself would go on without the guard.
    os.write(2, f"kervyxa-count: expected a guarded program, got {error!r}\n".encode())
    os._exit(125)
