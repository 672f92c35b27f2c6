"""Executed Python bytecode instructions, from a Callgrind report with a count for each machine instruction.

Python's evaluation loop goes from each bytecode instruction to the next by an indirect jump, so the indirect jumps that
were executed inside it are the bytecode instructions. Two that Python fuses into one (LOAD_FAST__LOAD_FAST) count once.
"""

import os
import struct

LOOP = b"_PyEval_EvalFrameDefault"
SHT_DYNSYM = 11
PT_LOAD = 1


def count_dispatches(report):
    """Executed jumps of the evaluation loop; None unless the report's lines add up to the total at its end.

    A report that could not be written whole, on a disk that the program filled, would show less, or end in half a line.
    """
    try:
        count, seen, totals = add_up(report)
    except ValueError:
        return None
    return count if totals == [seen] else None


def add_up(report):
    """Jumps, cost of all lines, and the totals told. Raises ValueError at half a line."""
    count = seen = 0
    totals = []
    loops = {}
    loop = None
    is_call = False
    for line in report:
        if line.startswith("0x"):
            # After a `calls=` line comes what the callee cost, which has its own lines elsewhere.
            if not is_call:
                address, cost = line.split()
                seen += int(cost)
                if loop is not None and loop.is_dispatch(int(address, 16)):
                    count += int(cost)
            is_call = False
        elif line.startswith("calls="):
            is_call = True
        elif line.startswith("ob="):
            path = line[3:].rstrip("\n")
            if path not in loops:
                loops[path] = find_loop(path)
            loop = loops[path]
        elif line.startswith("totals: "):
            totals.append(int(line.split()[1]))
    return count, seen, totals


def find_loop(path):
    """The evaluation loop in a program or library; None where it is not in there."""
    if "python" not in os.path.basename(path) or not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        elf = file.read()
    headers, sections = struct.unpack_from("<QQ", elf, 32)
    header_size, header_count, section_size, section_count = struct.unpack_from("<HHHH", elf, 54)
    segments = [struct.unpack_from("<IIQQQQ", elf, headers + i * header_size) for i in range(header_count)]
    table = [struct.unpack_from("<IIQQQQIIQQ", elf, sections + i * section_size) for i in range(section_count)]
    for _, kind, _, _, offset, size, names, _, _, entry in table:
        for at in range(offset, offset + size, entry) if kind == SHT_DYNSYM else ():
            name, _, _, _, address, length = struct.unpack_from("<IBBHQQ", elf, at)
            if length and elf.startswith(LOOP + b"\0", table[names][4] + name):
                return Loop(elf, segments, address, length)
    return None


class Loop:
    """The machine code of the evaluation loop."""

    def __init__(self, elf, segments, address, length):
        self.first = address
        self.end = address + length
        self.code = next(
            elf[offset + address - start : offset + address - start + length]
            for kind, _, offset, start, _, size in segments
            if kind == PT_LOAD and start <= address < start + size
        )

    def is_dispatch(self, address):
        """Whether the instruction that begins at the address is an indirect jump of the loop."""
        if not self.first <= address < self.end:
            return False
        code = self.code[address - self.first :][:8]
        if os.uname().machine == "aarch64":
            # BR Xn
            return struct.unpack("<I", code[:4])[0] & 0xFFFF_FC1F == 0xD61F_0000
        # FF /4 behind any prefixes: notrack, bnd, REX.
        opcode = code.lstrip(b"\x3e\xf2" + bytes(range(0x40, 0x50)))
        return len(opcode) > 1 and opcode[0] == 0xFF and opcode[1] >> 3 & 7 == 4
