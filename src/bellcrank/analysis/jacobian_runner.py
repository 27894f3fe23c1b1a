"""The program of a Jacobian as a function of a point."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import accumulate
from typing import Any, Protocol

import numpy as np

from bellcrank.analysis.external_derivatives import DerivativeOf, central_function_difference
from bellcrank.analysis.jacobian import Jacobian, direction_input
from bellcrank.analysis.point import EvaluationPoint, point_parameter_values
from bellcrank.core.errors import ModelError, RunError
from bellcrank.mechanics.interface.interface import Quantity
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.simulation.run.stepping import NO_VALUE
from bellcrank.symbolic.expr import Symbol
from bellcrank.symbolic.expr.table import Table

Groups = dict[str, np.ndarray]
NOWHERE = slice(0, 0)


class JacobianEvaluation(Protocol):
    """Values by group (rates, outputs, positions, speeds) and their Jacobians at a point, in
    equation units."""

    columns: tuple[Symbol, ...]
    notes: tuple[str, ...]

    def __call__(self, point: EvaluationPoint) -> tuple[Groups, Groups]: ...

    def evaluate_values(self, point: EvaluationPoint) -> Groups:
        """The values alone, which are found sooner."""
        ...


class MemoizedEvaluation:
    """What finds values and derivatives, and gives those of the last point again without asking:
    for one search."""

    def __init__(self, evaluation: JacobianEvaluation) -> None:
        self.find, self.columns, self.notes = evaluation, evaluation.columns, evaluation.notes
        self._last: tuple[Any, tuple[Groups, Groups]] | None = None

    def __call__(self, point: EvaluationPoint) -> tuple[Groups, Groups]:
        key = point.t, point.x.tobytes(), point.p, point.w
        if self._last is None or self._last[0] != key:
            self._last = key, self.find(point)
        return self._last[1]

    def evaluate_values(self, point: EvaluationPoint) -> Groups:
        return self.find.evaluate_values(point)


class JacobianRunner:
    """A program of derivatives, loaded, with the parameters and inputs it needs put in their
    places."""

    def __init__(self, loaded: LoadedModel, jacobian: Jacobian, often: bool = False) -> None:
        self.loaded, self.jacobian = loaded, jacobian
        program = jacobian.program
        functions = [self._routine_function(r) for r in program.routines]
        # along a direction a large program is evaluated once for each column
        compiled = often or bool(jacobian.rates)
        self.model = (loaded.model if compiled else loaded.python_model).compile_similar(
            program, functions, once=not often
        )
        parameter_index = {s: i for i, s in enumerate(loaded.program.parameters)}
        self._p = [parameter_index.get(s) for s in program.parameters]
        other_parameters = [s for s in program.parameters if s not in parameter_index]
        self._other = dict(
            zip(other_parameters, point_parameter_values(loaded, other_parameters), strict=True)
        )
        self._constants = lru_cache(maxsize=8)(lambda p: self.model.new_calls().constants(list(p)))

    def _routine_function(self, routine: Any) -> Any:
        if isinstance(routine, Table):
            return routine.value
        if isinstance(routine, DerivativeOf):
            return central_function_difference(
                self._routine_function(routine.base), routine.argument
            )
        by_name = {
            r.name: f
            for r, f in zip(self.loaded.program.routines, self.loaded.functions, strict=True)
        }
        function = by_name.get(routine.name, routine.python)
        if function is None:
            raise ModelError(
                f"external '{routine.name}' is given in C alone: its derivatives need "
                f"python= or external= as well",
                self.loaded.name,
            )
        return function

    def __call__(
        self,
        point: EvaluationPoint,
        extras: Mapping[Symbol, float] | None = None,
        loose: slice = NOWHERE,
        with_derivatives: bool = True,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Values of all rows and their derivatives by all columns; `extras` are inputs besides
        those of the model.

        Rows in `loose` may have no finite values: an angle between directions has no derivative
        where they coincide. Derivatives that cost more than the values may be omitted
        (`with_derivatives`).
        """
        symbols = self.jacobian.program.parameters
        p = [
            point.p[i] if i is not None else self._other[s]
            for i, s in zip(self._p, symbols, strict=True)
        ]
        input_values = {
            **dict(zip(self.loaded.program.inputs, point.w, strict=True)),
            **(extras or {}),
        }
        try:
            values, matrix = self._evaluate(point, p, input_values, with_derivatives)
        except NO_VALUE as error:
            raise RunError(self.singular_message(point, str(error))) from None
        nonfinite = ~np.isfinite(values) | ~np.all(np.isfinite(matrix), axis=1)
        nonfinite[loose] = False
        if np.any(nonfinite):
            names = [r for r, b in zip(self.jacobian.rows, nonfinite, strict=True) if b]
            suffix = " and others" if len(names) > 4 else ""
            raise RunError(
                self.singular_message(point, f"{', '.join(names[:4])}{suffix} not finite")
            )
        return values, matrix

    def _evaluate(
        self,
        point: EvaluationPoint,
        p: list[float],
        input_values: Mapping[Symbol, float],
        with_derivatives: bool,
    ) -> tuple[np.ndarray, np.ndarray]:
        model, c = self.model.new_calls(), self._constants(tuple(p))
        q, u, inputs = point.q.tolist(), point.u.tolist(), self.jacobian.program.inputs

        def run(symbol_values: Mapping[Symbol, float]) -> tuple[np.ndarray, np.ndarray]:
            w = [symbol_values.get(s, 0.0) for s in inputs]
            return self.jacobian.dense(model.outputs(point.t, q, u, p, c, w))

        if not self.jacobian.rates or not with_derivatives:
            return run(input_values)
        values = np.zeros(len(self.jacobian.rows))
        matrix = np.zeros((len(self.jacobian.rows), len(self.jacobian.columns)))
        for j, column in enumerate(self.jacobian.columns):
            values, derivatives = run({**input_values, direction_input(column): 1.0})
            matrix[:, j] = derivatives[:, 0]
        return values, matrix

    def singular_message(self, point: EvaluationPoint, reason: str) -> str:
        """What is said of a point without derivatives."""
        states = self.loaded.interface.coordinates
        position_text = ", ".join(
            f"{s.name} = {v:.4g}" for s, v in zip(states[:6], point.q, strict=False)
        )
        return (
            f"the model '{self.loaded.name}' cannot be differentiated here ({reason}): a "
            f"singular configuration? "
            f"At {position_text}{' ...' if len(states) > 6 else ''} (rad and consistent "
            f"units); move away from it"
        )


def channel_value_and_gradient(
    q: Quantity, x: np.ndarray, values: Groups, derivatives: Groups
) -> tuple[float, np.ndarray]:
    """An output or state at a point with the states x: its value, and its derivatives by all
    columns."""
    if q.kind == "output":
        return float(values["outputs"][q.index]), derivatives["outputs"][q.index]
    row = np.zeros(derivatives["rates"].shape[1])
    row[q.column - 1] = 1.0
    return float(x[q.column - 1]), row


def required_groups(channels: Iterable[Quantity]) -> tuple[str, ...]:
    """The groups that are needed for some channels besides the equations."""
    return (
        "rates",
        "positions",
        "speeds",
        *(("outputs",) if any(q.kind == "output" for q in channels) else ()),
    )


def split_groups(array: np.ndarray, sizes: Mapping[str, int]) -> Groups:
    """Rows of an array by group."""
    offsets = accumulate(sizes.values())
    return {g: array[end - n : end] for (g, n), end in zip(sizes.items(), offsets, strict=True)}


def group_rows(group: str, sizes: Mapping[str, int], skip: int = 0) -> slice:
    """The rows of a group, without its first ones."""
    if group not in sizes:
        return NOWHERE
    start = sum(list(sizes.values())[: list(sizes).index(group)])
    return slice(start + skip, start + sizes[group])
