"""The structures of a run: the header of the kernel, and ctypes made of it."""

import ctypes

import pytest

from bellcrank.backend import c_job
from bellcrank.backend.compiler import find_compiler, load_source
from bellcrank.errors import InternalError
from bellcrank.kernel.layout import structure_fields
from bellcrank.kernel.text import Kernel

HEAD = "#include <stddef.h>\n#include <stdint.h>\n#define EXPORT\n#define real double\n"
STRUCTURES = {
    "Job": ("job.h", c_job.Job),
    "Input": ("input.h", c_job.InputSignal),
    "Externals": ("externals.h", c_job.Externals),
    "Batch": ("batch.h", c_job.Batch),
    "Array": ("batch.h", c_job.Array),
}


def library(more=""):
    return load_source(HEAD + Kernel({}).take("externals.h", "job.h", "batch.h") + more, find_compiler())


@pytest.mark.parametrize("name", STRUCTURES)
def test_fields_stand_at_the_same_places(name):
    file, mirror = STRUCTURES[name]
    names = [field for field, _, _ in structure_fields(file, name)]
    places = "".join(f"    places[{i}] = offsetof({name}, {field});\n" for i, field in enumerate(names))
    probe = f"EXPORT int64_t places_of_fields(int64_t *places)\n{{\n{places}    return sizeof({name});\n}}\n"
    compiled, found = library(probe), (ctypes.c_int64 * len(names))()
    assert compiled.places_of_fields(found) == ctypes.sizeof(mirror)
    assert list(found) == [getattr(mirror, field).offset for field in names]
    c_job.check_sizes(compiled)


def test_another_size_is_an_internal_error(monkeypatch):
    monkeypatch.setattr(c_job, "Job", c_job.Batch)
    with pytest.raises(InternalError, match=r"Batch has .* bytes in the compiled program"):
        c_job.check_sizes(library())
