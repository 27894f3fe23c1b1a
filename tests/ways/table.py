"""The table of docs/ways_to_run.md: which capability works in which way to run, and why not.

`python -m tests.ways.table` tries every cell and prints the table as it is found.
"""

from __future__ import annotations

import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import BellcrankError, ModelWarning
from tests.ways.capabilities import CAPABILITIES, Capability
from tests.ways.ways import WAYS, Elsewhere, Way, native


@dataclass(frozen=True)
class Reason:
    """Why a cell does not work, and what the message says that a user gets."""

    sentence: str
    says: str


LOCKSTEP = Reason(
    "Runs in lanes or on a GPU share their steps. Such models run on cores instead, and a "
    "note reports it.",
    "adapts its steps|times of their own|run by run",
)
STEPS = Reason("The caller chooses the steps of a stepper.", "a stepper takes method")
REAL_TIME = Reason(
    "Only fixed steps, for real time. A warning names the method used instead.",
    "fixed steps of .* are taken by rk4",
)
ONE_BY_ONE = Reason(
    "Python runs such models one by one, and a note reports it.", "driven one by one by Python"
)
NOT_CLOSED = Reason(
    "The step returns `NOT_CLOSED`. The state stays the last good one.", "returns 2"
)
PROJECTED = Reason(
    "Projection keeps loops closed to rounding. There is no argument `dae=`.",
    "'dae' is not an option of the format",
)
NO_RIGID = Reason("Rigid wheels raise an error. Use a tyre.", "rigid wheels")
NO_ROUTINE = Reason(
    "The function cannot be called there. The error message names the alternative.",
    "is given in C or Fortran alone|needs the user function|cannot call the user function",
)

WITH_DAE = (
    "native",
    "without compiler",
    "stepper",
    "cores",
    "written C",
    "written Fortran",
    "FMU co-simulation",
)
CANNOT: dict[str, dict[str, Reason]] = {
    "adaptive steps": {
        "stepper": STEPS,
        "lanes": LOCKSTEP,
        "GPU": LOCKSTEP,
        "embedded": REAL_TIME,
        "page": REAL_TIME,
    },
    "stiff methods": {
        "stepper": STEPS,
        "lanes": LOCKSTEP,
        "GPU": LOCKSTEP,
        "embedded": REAL_TIME,
        "page": REAL_TIME,
    },
    "events with actions": {"cores": ONE_BY_ONE},
    "singular configurations": {"embedded": NOT_CLOSED},
    "tricycle": {
        "embedded": NOT_CLOSED
    },  # one choice of dependent speeds: not near steering by 90 degrees
    "methods for constraints (`dae=`)": {
        **{way.name: PROJECTED for way in WAYS if way.name not in WITH_DAE},
        **dict.fromkeys(("lanes", "GPU"), LOCKSTEP),
    },
    "rigid wheels": {
        **dict.fromkeys(("lanes", "GPU"), LOCKSTEP),
        "embedded": NO_RIGID,
    },
    "user functions in C": dict.fromkeys(("without compiler", "page"), NO_ROUTINE),
    "user functions in Python": {
        **dict.fromkeys(("lanes", "cores", "GPU"), ONE_BY_ONE),
        **dict.fromkeys(
            ("written C", "written Fortran", "FMU co-simulation", "embedded", "page"), NO_ROUTINE
        ),
    },
}


def reason(capability: Capability, way: Way) -> Reason | None:
    return CANNOT.get(capability.name, {}).get(way.name)


def table() -> str:
    """The table and its notes, as the documentation has them."""
    notes = list(dict.fromkeys(x for c in CAPABILITIES for w in WAYS if (x := reason(c, w))))
    lines = [" | ".join(["", *(w.name for w in WAYS)]), "|".join(["---"] * (len(WAYS) + 1))]
    for c in CAPABILITIES:
        why = (reason(c, w) for w in WAYS)
        lines.append(
            " | ".join([c.name, *("yes" if x is None else f"({notes.index(x) + 1})" for x in why)])
        )
    return "\n".join(
        [*(f"| {x} |" for x in lines), "", *(f"{i}. {x.sentence}" for i, x in enumerate(notes, 1))]
    )


@cache
def equations(capability: Capability) -> Any:
    return capability.system().equations()


def _rows(
    capability: Capability, run: Callable[[Capability, Any, Path], Any], folder: Path
) -> dict[str, np.ndarray]:
    """States at the output times of the model; of several rows at one time the last, which is after
    events."""
    eom = equations(capability)
    times, states = run(capability, eom, folder)
    at = np.searchsorted(times, grid(capability) + 1e-9, side="right") - 1
    assert np.abs(times[at] - grid(capability)).max() < 1e-9
    return {name: values[at] for name, values in states.items()}


def grid(capability: Capability) -> np.ndarray:
    run = equations(capability).interface.run
    length = run.step * (run.output_every or 1)
    return np.arange(round(run.t_end / length) + 1) * length


@cache
def reference(capability: Capability) -> dict[str, np.ndarray]:
    return _rows(capability, native, Path())


def difference(got: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> float:
    """The largest, against the largest value of the state."""
    return max(
        float(np.abs(got[x] - y).max() / (np.abs(y).max() or 1.0)) for x, y in expected.items()
    )


def tried(capability: Capability, way: Way, folder: Path) -> str:
    """Empty if the way has the states of the run in C, and that those known otherwise; else the
    message of a user.

    States that are wrong without a message raise an error.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ModelWarning)
            got = _rows(capability, way.run, folder)
    except (BellcrankError, ModelWarning, Elsewhere) as error:
        return str(error)
    if way.run is native:
        found, allowed = (
            difference(got, capability.known(equations(capability), grid(capability))),
            capability.error,
        )
    else:
        found, allowed = difference(got, reference(capability)), capability.same
    assert found < allowed, f"{way.name}: {capability.name}: wrong by {found:.1e} without a word"
    return ""


def holds(capability: Capability, way: Way, message: str) -> bool:
    """Is that what the table says?"""
    why = reason(capability, way)
    return (
        not message if why is None else bool(message) and re.search(why.says, message) is not None
    )


def main() -> int:
    """Tries every cell; those that are not as the table says, and the table."""
    wrong = 0
    for capability in CAPABILITIES:
        for way in WAYS:
            if missing := way.missing():
                print(f"not tried: {way.name}: {capability.name}: {missing}")
                continue
            with tempfile.TemporaryDirectory() as folder:
                message = tried(capability, way, Path(folder))
            if not holds(capability, way, message):
                wrong += 1
                print(f"{way.name}: {capability.name}: {message or 'works'}")
    print(table())
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
