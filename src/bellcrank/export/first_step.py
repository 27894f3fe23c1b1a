"""The step that a stand-alone program begins with, for a model that leaves its step to error
control."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np

from bellcrank.core.errors import BellcrankError, ModelWarning, issue_warning
from bellcrank.core.numeric.fixed_step_methods import METHODS
from bellcrank.export.standalone.setup import ProgramSetup
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.mechanics.interface.interface import Interface
from bellcrank.simulation.run.loaded import load_model
from bellcrank.simulation.run.point_evaluation import assemble, state_derivatives


def with_stable_step(setup: ProgramSetup, derived: DerivedModel) -> ProgramSetup:
    """The setup with a step that is small enough, where the model has none because it asks for an
    adaptive method."""
    run = setup.interface.run
    fixed = not run.method or run.method.lower() in METHODS
    if fixed or setup.method not in METHODS:
        return setup
    step = _stable_step(derived, setup.interface) if run.step is None else math.inf
    if step < setup.step:
        note = "The step follows from the fastest motion at the start."
        setup = replace(setup, step=step, notes=(*setup.notes, note))
    message = f"model '{setup.title}' asks for the method {run.method}"
    issue_warning(
        f"{message}, but fixed steps of {setup.step:g} s are taken by {setup.method} here: "
        f"compare with a run"
    )
    return setup


def _stable_step(derived: DerivedModel, interface: Interface) -> float:
    """A round step (s) with which rk4 is stable at the start: 1 over the largest eigenvalue of the
    rates.

    It is infinite if that cannot be reported.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            loaded = load_model(derived.analysis, interface, derived.program, "python", {})
            q, u = assemble(loaded)
            y = np.concatenate([q, u])
            h = 1e-6 * np.maximum(np.abs(y), 1.0)
            columns = []
            for i in range(len(y)):
                neighbours = [y + sign * h[i] * np.eye(len(y))[i] for sign in (1, -1)]
                slopes = [
                    np.concatenate(
                        state_derivatives(loaded, 0.0, x[: len(q)], x[len(q) :], None, None)
                    )
                    for x in neighbours
                ]
                columns.append((slopes[0] - slopes[1]) / (2 * h[i]))
            fastest = float(np.abs(np.linalg.eigvals(np.array(columns).T)).max(initial=0.0))
    except (BellcrankError, ArithmeticError, ValueError, np.linalg.LinAlgError):
        return math.inf
    if not fastest > 0:
        return math.inf
    digits = 10.0 ** math.floor(math.log10(1 / fastest))
    return max(d * digits for d in (1, 2, 5) if d * digits <= 1 / fastest)
