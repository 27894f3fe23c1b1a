"""Embedded code on a Cortex-M: code, memory and stack of a model.

    python benchmarks/cortex.py [EXAMPLE ...]

For each example in double precision (Cortex-M7 with a double-precision unit) and in single
precision (Cortex-M4), compiled by arm-none-eabi-gcc -Os: bytes of code and constants of the model;
the same of a whole program with the functions of newlib that it calls; variables of its own (data
and bss, which must be none); the structure of the caller; and the largest stack of a call, from
gcc's call graph, without that of the C library. A stack whose size is not known when the code is
compiled, and functions that call themselves, are errors.
"""

import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import bellcrank as bc

EXAMPLES = ("quarter_car", "stanford_arm", "four_bar")
FOLDER = Path(__file__).parents[1] / "examples"
PROCESSORS = {
    "double": ("-mcpu=cortex-m7", "-mfpu=fpv5-d16"),
    "single": ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16"),
}
COMPILER = "arm-none-eabi-gcc"
FLAGS = (
    "-std=c99",
    "-Os",
    "-mthumb",
    "-mfloat-abi=hard",
    "-ffunction-sections",
    "-fdata-sections",
    "-Wall",
    "-Werror",
)
CALLED = ("defaults", "begin", "tune", "step")
NODE = re.compile(r'^node: \{ title: "([^"]+)" label: "[^"]*?(\d+) bytes \(([^)]*)\)', re.MULTILINE)
EDGE = re.compile(r'^edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Sizes:
    """Bytes."""

    code: int
    linked: int
    own: int
    structure: int
    stack: int


def sizes(equations, precision, folder):
    """Writes a model for controllers, compiles it and measures it."""
    source = equations.export("embedded", folder, precision=precision)
    stem, flags = source.stem, (*FLAGS, *PROCESSORS[precision])
    calls = "".join(f"    {stem}_{f}(&m);\n" for f in CALLED)
    main = f'#include "{stem}.h"\n{stem}_model m;\nint main(void)\n{{\n{calls}    return 0;\n}}\n'
    empty = "int main(void)\n{\n    return 0;\n}\n"
    for name, text in (("main.c", main), ("empty.c", empty)):
        (folder / name).write_text(text, encoding="utf-8")
    _run(folder, COMPILER, *flags, "-fcallgraph-info=su", "-c", source.name, "-o", "model.o")
    _run(folder, COMPILER, *flags, "-c", "main.c", "-o", "main.o")
    system = ("--specs=nosys.specs", "-Wl,--gc-sections")
    _run(folder, COMPILER, *flags, *system, "main.o", "model.o", "-o", "whole.elf", "-lm")
    _run(folder, COMPILER, *flags, *system, "empty.c", "-o", "empty.elf")
    code, *own = _sections(folder, "model.o")
    linked, without = (sum(_sections(folder, f"{x}.elf")[:2]) for x in ("whole", "empty"))
    structure = _sections(folder, "main.o")[2]
    stack = stack_of(
        (folder / "model.ci").read_text(encoding="utf-8"), [f"{stem}_{f}" for f in CALLED]
    )
    return Sizes(code, linked - without, sum(own), structure, stack)


def _run(folder, *command):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    warned = [
        x for x in done.stderr.splitlines() if "is not implemented and will always fail" not in x
    ]
    if done.returncode:
        raise RuntimeError("\n".join(warned))
    return done.stdout


def _sections(folder, name):
    """Bytes of text, data and bss."""
    return [int(x) for x in _run(folder, "arm-none-eabi-size", name).splitlines()[1].split()[:3]]


def stack_of(graph, first):
    """The largest stack of functions that are called from outside: frames along the deepest chain
    of calls."""
    frames = {name: int(size) for name, size, _ in NODE.findall(graph)}
    if unknown := [name for name, _, kind in NODE.findall(graph) if kind != "static"]:
        raise RuntimeError(f"the stack of {', '.join(unknown)} is not known before it runs")
    called = {}
    for caller, callee in EDGE.findall(graph):
        called.setdefault(caller, set()).add(callee)
    known = {}

    def deepest(name, above):
        if name in above:
            raise RuntimeError(f"{name} calls itself")
        if name not in known:
            below = [deepest(x, {*above, name}) for x in called.get(name, ())]
            known[name] = frames.get(name, 0) + max(below, default=0)
        return known[name]

    return max(deepest(name, set()) for name in first)


def main(names):
    print("| model | precision | code | with newlib | data, bss | structure | stack |")
    print("|---|---|---|---|---|---|---|")
    for name in names or EXAMPLES:
        equations = bc.System.read(FOLDER / f"{name}.py").equations()
        for precision in PROCESSORS:
            with tempfile.TemporaryDirectory() as folder:
                x = sizes(equations, precision, Path(folder))
            row = (f"{x.code:,}", f"{x.linked:,}", x.own, f"{x.structure:,}", f"{x.stack:,}")
            print(f"| {' | '.join(map(str, (name.replace('_', ' '), precision, *row)))} |")


if __name__ == "__main__":
    main(sys.argv[1:])
