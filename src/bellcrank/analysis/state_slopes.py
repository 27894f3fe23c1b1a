"""Slopes of rates by all states, exact, where they can be had in reasonable time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bellcrank.analysis.evaluate import evaluator
from bellcrank.analysis.plant import Plant
from bellcrank.analysis.point import Point
from bellcrank.analysis.slope_runner import Find
from bellcrank.errors import ModelError, RunError
from bellcrank.numeric.course import At

REASONABLE = 30_000  # operations of the rates times states: about a second to derive


def state_slopes(plant: Plant) -> Callable[[At], np.ndarray | None]:
    """A function that gives d(x')/dx in equation units, None where there are no exact slopes: of large models, of those
    that call routines other than tables, at singular positions."""
    program = plant.loaded.program
    columns = [x.symbol for x in plant.interface.states if x.symbol is not None]

    def made() -> Find | None:
        if program.externals or program.count.total * len(columns) > REASONABLE:
            return None
        try:
            return evaluator(plant, ("rates",), columns)
        except ModelError:  # a table without slopes
            return None

    def found(at: At) -> np.ndarray | None:
        find: Find | None = plant.once("slopes of states", made)
        if find is None:
            return None
        t, q, u, p, _, w = at
        try:
            return find(Point(t, np.array(q), np.array(u), tuple(p), tuple(w)))[1]["rates"]
        except RunError:
            return None

    return found
