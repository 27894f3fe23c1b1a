"""C for controllers under test: written, compiled as strictly as can be, and called from Python."""

import ctypes
import re
import subprocess

import numpy as np

from bellcrank.simulation.backend.compiler import find_compiler

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
# of the C library: what C needs for copies, and mathematical functions without memory of their own
ALLOWED = re.compile(
    r"memcpy|memset|(sqrt|sin|cos|sincos|tan|asin|acos|atan|atan2|exp|log|pow|fmod|hypot|sinh|cosh|tanh|floor|ceil)f?"
)


class Embedded:
    """A model that is called as a controller would; values are in equation units."""

    def __init__(self, equations, folder, precision="double", flags=("-O0",)):
        self.source = equations.export("embedded", folder, precision=precision)
        self.folder, self.stem = folder, self.source.stem
        self.header = self.source.with_suffix(".h").read_text(encoding="utf-8")
        kinds = {
            "int64_t": ctypes.c_int64,
            "int32_t": ctypes.c_int32,
            "double": ctypes.c_double,
            "float": ctypes.c_float,
        }
        structures = re.findall(
            r"typedef struct (\w+) \{\n(.*?)^\}", self.header, re.DOTALL | re.MULTILINE
        )
        for structure, declared in structures:
            fields = []
            for kind, names in re.findall(r"^    (\w+) ([^;]+);", declared, re.MULTILINE):
                for name in names.split(", "):
                    plain, _, size = name.rstrip("]").partition("[")
                    fields.append((plain, kinds[kind] * int(size) if size else kinds[kind]))
            kinds[structure] = type(structure, (ctypes.Structure,), {"_fields_": fields})
        self.structure = kinds[f"{self.stem}_model"]
        library = folder / "model.so"
        self.compile("-shared", "-fPIC", *flags, self.source.name, "-o", library.name, "-lm")
        self.library = ctypes.CDLL(str(library))

    def compile(self, *words):
        command = [*find_compiler().command, *STRICT, *words]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def call(self, what, model):
        return getattr(self.library, f"{self.stem}_{what}")(ctypes.byref(model))

    def model(self):
        made = self.structure()
        self.call("defaults", made)
        return made

    def place(self, name):
        """The number of an enumerator: P_K, W_Z_ROAD ..."""
        return int(re.search(rf"\b{self.stem.upper()}_{name} = (\d+)", self.header)[1])

    def rows(self, model, count, before=lambda i, m: None):
        """Time, state and outputs from the start on, over so many steps; before(i, model) each."""
        found = [self.row(model)]
        for i in range(count):
            before(i, model)
            assert self.call("step", model) == 0
            found.append(self.row(model))
        return np.array(found)

    def row(self, m):
        n_out = len(re.findall(rf"\b{self.stem.upper()}_OUT_\w+ = ", self.header))
        return [m.t, *m.y, *m.out[:n_out]]


def symbols(folder, name):
    """What an object refers to, and what of it can be written to."""
    listed = subprocess.run(
        ["nm", name], cwd=folder, capture_output=True, text=True, check=True
    ).stdout
    lines = [line.split() for line in listed.splitlines()]
    return {x[-1] for x in lines if x[-2] == "U"}, {x[-1] for x in lines if x[-2] in "bBdDcCsSgG"}


def in_units(eom, rows):
    """Rows of a model by channel, in user units."""
    x = eom.interface
    return {q.name: rows[:, i] / q.unit.factor for i, q in enumerate((*x.states, *x.outputs), 1)}
