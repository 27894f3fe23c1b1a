"""The table of tuning constants: values of double precision as they stand, others by their
rounding."""

import re
from importlib.resources import files

import pytest

from bellcrank.codegen.c.runtime_files import constant_definitions as in_c
from bellcrank.codegen.number_type import DOUBLE
from bellcrank.codegen.python.runtime_files import constant_definitions as in_python
from bellcrank.core.files.template import template_text
from bellcrank.core.numeric import tuning
from bellcrank.core.numeric.tuning import LOOPS, constants

GROUPS = [x for name, x in vars(tuning).items() if name.isupper()]


def test_every_line_says_what_it_is():
    assert len(GROUPS) >= 9
    for group in GROUPS:
        lines = constants(group)
        assert lines and all(
            c.note and c.value_for_rounding(1.0) == c.value == getattr(group, c.name) for c in lines
        )


def test_thresholds_of_rounding_grow_with_it():
    single = 2.0**29
    found = {c.name: c.value_for_rounding(single) for c in constants(LOOPS)}
    assert found["closed"] == pytest.approx(LOOPS.closed * single) and found["near"] == LOOPS.near
    assert found["tight"] < found["closed"] < found["settled"] < found["watched"]


@pytest.mark.parametrize("group", GROUPS, ids=lambda g: type(g).__name__)
def test_every_language_has_the_same_numbers(group):
    """Once several stood in a source as numbers of their own."""
    for text in (in_c(group, DOUBLE), in_python(group)):
        known = dict(re.findall(r"(\w+)(?: =)? \(?(-?[\d.e-]+)\b", text))
        for c in constants(group):
            shown = known[c.name.upper()]
            assert type(c.value)(shown) == c.value


COEFFICIENTS = ("sine.c", "lanes_functions.c")  # of approximations, no thresholds
SOURCES = {
    "bellcrank.codegen/python/runtime": ("signals.py.in",),
    "bellcrank.codegen/c/runtime": ("embedded.c",),
    "bellcrank.kernel": tuple(
        sorted(
            x.name
            for x in files("bellcrank.kernel").iterdir()
            if x.name.endswith(".c") and x.name not in COEFFICIENTS
        )
    ),
    "bellcrank.codegen/fortran/runtime": ("implicit.f90", "implicit_solve.f90", "solve.f90"),
    "bellcrank.export.standalone/templates/c": ("loops.c", "inputs.c"),
    "bellcrank.export.standalone/templates/fortran": ("main.f90",),
    "bellcrank.export.standalone/templates/python": ("program.py",),
    "bellcrank.core.numeric": (
        "loop_projector.py",
        "integrate.py",
        "least_norm.py",
        "null_space.py",
        "loop_constraints.py",
        "run_spec.py",
    ),
    "bellcrank.vehicles.terrain/templates": ("near_lanes.c",),
}
# of one language alone: when Jacobi's rotations end and when they are not needed; a division that
# is never by zero
OWN = {"rigid.c": {"1e-34", "1e-9"}, "ground_parts.c": {"1e-300"}, "program.py": {"2E-3"}}
OWN |= {"page.c": {"4.9406564584124654e-324"}}  # the number next to zero
OWN |= {"run_spec.py": {"1e-9"}}  # a residual that a message names


@pytest.mark.parametrize(
    ("folder", "file"), [(folder, file) for folder, files in SOURCES.items() for file in files]
)
def test_no_source_has_thresholds_of_its_own(folder, file):
    found = set(re.findall(r"(?<![\w.])\d+\.?\d*[eE]-\d+", template_text(folder, file)))
    assert found == OWN.get(file, set())
