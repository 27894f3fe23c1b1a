"""The structures of a run: the header of the kernel, and ctypes made of it."""

import ctypes

import pytest

from bellcrank.core.errors import InternalError
from bellcrank.kernel.layout import structure_fields
from bellcrank.kernel.text import Kernel
from bellcrank.simulation.backend import c_structures
from bellcrank.simulation.backend.compiler import find_compiler, load_from_source

HEAD = "#include <stddef.h>\n#include <stdint.h>\n#define EXPORT\n#define real double\n"
STRUCTURES = {
    "Job": ("job.h", c_structures.Job),
    "Input": ("input.h", c_structures.InputSignal),
    "Externals": ("externals.h", c_structures.Externals),
    "Batch": ("batch.h", c_structures.Batch),
    "Array": ("batch.h", c_structures.Array),
}


def library(more=""):
    return load_from_source(
        HEAD + Kernel({}).take("externals.h", "job.h", "batch.h") + more, find_compiler()
    )


@pytest.mark.parametrize("name", STRUCTURES)
def test_fields_stand_at_the_same_places(name):
    file, mirror = STRUCTURES[name]
    names = [field for field, _, _ in structure_fields(file, name)]
    places = "".join(
        f"    places[{i}] = offsetof({name}, {field});\n" for i, field in enumerate(names)
    )
    probe = (
        f"EXPORT int64_t places_of_fields(int64_t "
        f"*places)\n{{\n{places}    return sizeof({name});\n}}\n"
    )
    compiled, found = library(probe), (ctypes.c_int64 * len(names))()
    assert compiled.places_of_fields(found) == ctypes.sizeof(mirror)
    assert list(found) == [getattr(mirror, field).offset for field in names]
    c_structures.check_structure_sizes(compiled)


def test_another_size_is_an_internal_error(monkeypatch):
    monkeypatch.setattr(c_structures, "Job", c_structures.Batch)
    with pytest.raises(InternalError, match=r"Batch has .* bytes in the compiled program"):
        c_structures.check_structure_sizes(library())
