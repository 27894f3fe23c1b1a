"""What a live page shows next to the running model: a recorded run, and modes of a linear model.

In:  a `Run` or `LinearModel` of the same model. Out: facts, and numbers of the rows. The page finds
where bodies are by itself, from the states.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.analysis.linear_model import LinearModel
from bellcrank.analysis.modes import Mode
from bellcrank.core.errors import ModelError
from bellcrank.core.files.embed import page_text
from bellcrank.core.name_lookup import find_name
from bellcrank.mechanics.interface.interface import Interface
from bellcrank.scene.page_scene import playback_rows, round_digits, small_numbers
from bellcrank.simulation.run.result import Run

STILL = 1e-9  # an eigenvalue below this fraction of the largest moves nothing to and fro


def record_facts(interface: Interface, run: Any) -> tuple[dict[str, Any], bytes]:
    """A run to be played: title and times, and all channels of the page, row after row, as 32-bit
    numbers."""
    if not isinstance(run, Run):
        raise ModelError(
            f"run={type(run).__name__} must be a run, of `simulate` or `bc.Run.read`",
            interface.model,
        )
    channel_of = {x.name: find_name(x.name, run, "channel") for x in interface.channels}
    missing = [x.name for x in interface.states if channel_of[x.name] is None]
    if missing or not len(run):
        reason = f"it has no channel {', '.join(missing[:5])}" if missing else "it has no row"
        raise ModelError(
            f"the run '{page_text(run.name)}' cannot be shown in this page: {reason}",
            interface.model,
        )
    rows = playback_rows(len(run))
    nothing = np.zeros(len(rows))
    values = [nothing if name is None else run[name][rows] for name in channel_of.values()]
    words = f"recorded: {page_text(run.name)}"
    return {"title": words, "time": round_digits(run.time[rows], 9)}, small_numbers(
        np.concatenate(values)
    )


def mode_facts(interface: Interface, model: Any) -> dict[str, Any]:
    """The modes of a linear model: the point, and movements of all states about it, in equation
    units."""
    if not isinstance(model, LinearModel):
        raise ModelError(
            f"modes={type(model).__name__} must be a linear model, of `linearize`", interface.model
        )
    names = [x.name for x in interface.states]
    if {*model.state_names, *model.dependent} != {*names}:
        reason = "its states are not those of the page; give that of `linearize`, not `essential()`"
        raise ModelError(
            f"the linear model of '{page_text(model.name)}' cannot be shown in this page: {reason}",
            interface.model,
        )
    factors = np.array([x.unit.factor for x in interface.states])
    dependence = np.zeros((len(names), len(model.states)))
    for i, name in enumerate(names):
        coefficients = model.dependent.get(name, {name: 1.0})
        dependence[i] = [coefficients.get(s, 0.0) for s in model.state_names]
    largest = max((abs(m.eigenvalue) for m in model.modes), default=0.0)
    modes = []
    for i, m in enumerate(model.modes):
        if abs(m.eigenvalue) > STILL * largest:
            shape = factors * (dependence @ m.shape)
            modes.append(
                {
                    "label": _mode_label(i, m),
                    "re": round_digits(shape.real),
                    "im": round_digits(shape.imag),
                    "omega": m.eigenvalue.imag,
                    "sigma": m.eigenvalue.real,
                }
            )
    point = model.point
    values = {
        x.name: float(x.unit.from_equation_units(point.value_of(x))) for x in interface.parameters
    }
    return {"y": point.x.tolist(), "values": values, "modes": modes}


def _mode_label(i: int, m: Mode) -> str:
    """A mode in the menu of the page."""
    if m.is_oscillatory:
        motion = f"{m.frequency:.3g} Hz, damping {100 * m.damping:.2g} %"
    else:
        motion = f"{'decays' if m.stable else 'grows'} in {abs(m.time_constant):.3g} s"
    return f"mode {i + 1}: {motion}; {page_text(m.participation_text())}"
