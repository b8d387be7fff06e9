"""Run by gdb: prints the stacks of all suspended coroutines of a process or a core file.

    gdb -batch -p PID -x tools/coroutines.py
    gdb -batch -x tools/coroutines.py build/dev/bin/regatta core

Adds the command `coroutine ADDRESS`, which prints the parameters and locals in one frame. Only a
build with `-g` has their types.

A suspended coroutine has no stack. clang starts its frame on the heap with the addresses of its
functions `.resume` and `.destroy`; the promise follows, in which Asio keeps the frame of the
coroutine that awaits this one. The script finds the frames in memory and follows these links.
"""
import collections
import re
import struct
import subprocess

import gdb

# Words of a frame, with Boost 1.81: boost::asio::detail::awaitable_frame_base begins at PROMISE.
PROMISE, SELF, CALLER = 16, 2, 4


def resume_functions():
    """The name of each coroutine, by the address of its function `.resume`."""
    path = gdb.current_progspace().filename
    table = subprocess.run(["nm", "-C", path], capture_output=True, text=True, check=True).stdout
    rows = [line.split(" ", 2) for line in table.splitlines() if line[0] != " "]
    main = next(int(address, 16) for address, _, name in rows if name == "main")
    moved = int(gdb.parse_and_eval("(unsigned long)&main")) - main
    return {int(at, 16) + moved: name for at, _, name in rows if "[clone .resume]" in name}


def writable_memory():
    """(address, bytes) of every writable part of the process."""
    inferior = gdb.selected_inferior()
    try:  # a live process
        maps = open(f"/proc/{inferior.pid}/maps").read()
        parts = re.findall(r"^([0-9a-f]+)-([0-9a-f]+) rw", maps, re.M)
    except OSError:
        maps = gdb.execute("maint info sections", to_string=True)
        parts = re.findall(r"0x([0-9a-f]+)->0x([0-9a-f]+) at \S+: load\d+ ALLOC LOAD HAS", maps)
    for first, last in parts:
        first, last = int(first, 16), int(last, 16)
        try:
            yield first, inferior.read_memory(first, last - first).tobytes()
        except gdb.MemoryError:
            pass


def frames(functions):
    """By the address of a frame: its function, and the frame that awaits it (if it is a frame)."""
    found = {}
    for first, data in writable_memory():
        data = data[: len(data) // 8 * 8]
        for index, (word,) in enumerate(struct.iter_unpack("<Q", data)):
            if word in functions and index * 8 + 40 <= len(data):
                words = struct.unpack_from("<5Q", data, index * 8)
                if words[SELF] == first + index * 8:  # not what is left of a frame that is gone
                    found[words[SELF]] = (word, words[CALLER] - PROMISE)
    return found


def stack_of(frame, found):
    stack = []
    while frame in found and len(stack) < 64:
        stack.append(frame)
        frame = found[frame][1]
    return stack


def title(address, name):
    line = gdb.find_pc_line(address)
    name = name.replace(" [clone .resume]", "").replace("(anonymous namespace)::", "").split("(")[0]
    if not line.symtab:
        return name
    return f"{name}  {line.symtab.filename.removeprefix('../../')}:{line.line}"


def print_stacks():
    names = resume_functions()
    found = frames(names)
    awaiting = {caller for _, caller in found.values()}
    stacks = collections.defaultdict(list)
    for frame in found:
        if frame not in awaiting:
            stack = stack_of(frame, found)
            stacks[tuple(found[frame][0] for frame in stack)].append(stack)
    for functions, alike in sorted(stacks.items(), key=lambda item: -len(item[1])):
        lines = [f"   {frame:#x}  {title(at, names[at])}" for frame, at in zip(alike[0], functions)
                 if not names[at].startswith("boost::asio::")]
        if lines:
            print(f"\n{len(alike)} x", *lines, sep="\n")


class Coroutine(gdb.Command):
    """Prints the frame of a suspended coroutine: coroutine ADDRESS"""

    def __init__(self):
        super().__init__("coroutine", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        frame = gdb.parse_and_eval(argument)
        function = int(frame.cast(gdb.lookup_type("long").pointer()).dereference())
        # Inside of the function, where its variables are known.
        for at in range(function, function + 256, 16):
            block = gdb.block_for_pc(at)
            while block and not block.is_static:
                for symbol in block:
                    if symbol.name == "__coro_frame":
                        value = frame.cast(symbol.type.pointer()).dereference()
                        print(value.format_string(max_depth=3, pretty_structs=True))
                        return
                block = block.superblock
        raise gdb.GdbError("this build has no types of frames: build with -g")


Coroutine()
print_stacks()
