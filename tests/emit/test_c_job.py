"""The structures of a compiled run, printed into C and mirrored in ctypes from one list."""

import ctypes

import pytest

from bellcrank.backend import c_job
from bellcrank.backend.compiler import find_compiler, load_source
from bellcrank.emit.c import job
from bellcrank.errors import InternalError

JOBS = {"Job": job.RUN, "LoopJob": job.LOOPS, "DaeJob": job.DAE, "RigidJob": job.RIGID}


def library(fields):
    head = "#include <stddef.h>\n#include <stdint.h>\n#define EXPORT\n#define real double\n"
    names = [name for field in fields for name in field.names.split()]
    places = "".join(f"    places[{i}] = offsetof(Job, {name});\n" for i, name in enumerate(names))
    probe = f"EXPORT void places_of_fields(int64_t *places)\n{{\n{places}}}\n"
    text = head + job.structure("Externals", job.EXTERNALS) + job.job_text(fields) + probe
    return load_source(text, find_compiler()), names


@pytest.mark.parametrize("kind", JOBS)
def test_fields_stand_at_the_same_places(kind):
    mirror = getattr(c_job, kind)
    compiled, names = library(JOBS[kind])
    places = (ctypes.c_int64 * len(names))()
    compiled.places_of_fields(places)
    assert list(places) == [getattr(mirror, name).offset for name in names]
    c_job.check_sizes(compiled, mirror)


def test_another_size_is_an_internal_error():
    compiled, _ = library(job.RUN)
    with pytest.raises(InternalError, match=r"LoopJob has .* bytes in the compiled program"):
        c_job.check_sizes(compiled, c_job.LoopJob)
