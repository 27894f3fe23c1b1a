"""What tests of generated programs share: the examples, small machines, and how closeness is
measured."""

import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.numeric.fixed_step_methods import OWN
from bellcrank.simulation.backend.compiler import find_compiler

FOLDER = Path(__file__).parents[1] / "examples"
SOURCES = {p.stem: p.read_text(encoding="utf-8") for p in FOLDER.glob("*.py")}
# linkages have a range, which arbitrary states leave: tests/linkage runs those examples
ELSEWHERE = ("driven_car",)  # large: tests/vehicles drives it
MODELS = (
    n for n, text in SOURCES.items() if "def model(" in text and "bellcrank.linkage" not in text
)
EXAMPLES = sorted(n for n in MODELS if n not in ELSEWHERE)
LONG_TO_DERIVE = (
    *(
        "n_four_bar",
        "spacecraft_1",
        "spacecraft_1_small",
        "spacecraft_2",
        "whipple_bicycle",
        "n_link_chain",
    ),
    *("andrews_squeezer", "passenger_car_small"),
)
STRICT = (
    *os.environ.get("BELLCRANK_CFLAGS", "-O1").split(),
    "-Wall",
    "-Wextra",
    "-Werror",
)  # flags of C
needs_wasm = pytest.mark.skipif(find_spec("wasmtime") is None, reason="there is no wasmtime")
WASM = pytest.param("wasm", marks=needs_wasm)  # a backend
needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler")


class Sims(dict):
    """A model compiled by backend, when it is asked for."""

    def __init__(self, equations):
        self._equations = equations

    def __missing__(self, backend):
        found = self[backend] = self._equations.compile(backend=backend)
        return found


def able(backend, method):
    """The backend, but WebAssembly in the place of plain Python, which has no adaptive methods."""
    if backend == "python" and method in OWN:
        pytest.importorskip("wasmtime")
        return "wasm"
    return backend


def rarely(values, those, several=False):
    """Values of a parameter of tests, or of several; those named run in the campaign alone."""
    mark = pytest.mark.campaign
    return [pytest.param(*v if several else (v,), marks=mark) if v in those else v for v in values]


@cache
def derived(name, **arguments):
    """The System of examples/<name>.py and its equations, derived once for all tests; neither is to
    be changed."""
    described = system(name, **arguments)
    return described, described.equations()


def example(name, **arguments):
    """The equations of examples/<name>.py, derived once."""
    return derived(name, **arguments)[1]


def system(name, **arguments):
    """The System of examples/<name>.py, made anew."""
    return run_path(str(FOLDER / f"{name}.py"))["model"](**arguments)


def pendulum(magnitude="-k*q(rod) - c*u(rod)", prepare=lambda s: None, **values):
    """A rod that hangs on a hinge and is moved by one moment; prepare(system) adds to it."""
    s = bc.System("pendulum", units="mks")
    rod = s.add_body("rod", rotate=3, cm=(0, -1, 0), mass=2, inertia=(0.1, 0.1, 0.1))
    prepare(s)
    s.add_moment("drive", magnitude=magnitude, direction=rod[3], on=rod)
    s.set_defaults(
        **{"k": 3.0, "c": 0.5, **values} if magnitude == "-k*q(rod) - c*u(rod)" else values
    )
    s.set_run(t_end=1.0, step=0.01, initial={"q(rod)": 0.3})
    return s


def relative(got, expected):
    """The largest difference against the largest magnitude."""
    got, expected = np.asarray(got, dtype=float), np.asarray(expected, dtype=float)
    assert got.shape == expected.shape
    return np.abs(got - expected).max(initial=0.0) / (np.abs(expected).max(initial=0.0) or 1.0)


def random_state(eom, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, len(eom.coordinates)), rng.uniform(-1, 1, len(eom.speeds))
