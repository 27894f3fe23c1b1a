"""Derivatives of a run with respect to parameters, integrated together with it.

S = dx/dp obeys S' = (df/dx) S + df/dp. Taken through the same stages as the state, it is the exact
derivative of what the fixed-step method computes, so it agrees with differences of runs as far as
these are accurate. Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I (1993),
section I.14.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.analysis.plots import draw_panels
from bellcrank.analysis.tables import Cells, SavableTable, column_index, derivative_unit
from bellcrank.core.numeric.fixed_step_methods import METHODS, FixedStepMethod
from bellcrank.core.numeric.integrate import Times, stage_time
from bellcrank.core.numeric.run_spec import RunSpec

Rates = Callable[
    [float, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]
]  # t, x -> f, df/dx, df/dp
Admit = Callable[
    [float, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]
]  # t, x, S -> both on the constraints
Both = tuple[np.ndarray, np.ndarray]  # of the state and of its derivatives
Record = Callable[[float, np.ndarray, np.ndarray], None]


def integrate_sensitivity(
    rates: Rates,
    x: np.ndarray,
    S: np.ndarray,
    spec: RunSpec,
    n_q: int,
    admit: Admit,
    record: Record,
) -> None:
    """Take all steps, split where inputs jump as a run does; record(t, x, S) is called at the
    start, after every n-th step and after the last."""
    record(0.0, x, S)
    start, method = spec.input_time(1), METHODS[spec.method]
    previous_rates: Both | None = (
        None  # rates at the start of the step before, if that was a whole one
    )
    for i in range(1, spec.n_steps + 1):
        for part in spec.step_segments(i):
            current_rates = _state_and_sensitivity_rates(rates, start, x, S)
            times = start, part.middle, part.before
            x, S = _integrate_step(
                method,
                rates,
                times,
                x,
                S,
                current_rates,
                previous_rates if part.whole else None,
                part.h,
                n_q,
            )
            x, S = admit(part.before, x, S)
            start, previous_rates = part.after, current_rates if part.whole else None
        if not (np.all(np.isfinite(x)) and np.all(np.isfinite(S))):
            raise FloatingPointError(f"the run is no longer finite at t = {spec.step_end(i):g} s")
        if i % spec.output_every == 0 or i == spec.n_steps:
            record(spec.step_end(i), x, S)


def _state_and_sensitivity_rates(rates: Rates, t: float, x: np.ndarray, S: np.ndarray) -> Both:
    f, A, P = rates(t, x)
    return f, A @ S + P


def _integrate_step(
    method: FixedStepMethod,
    rates: Rates,
    times: Times,
    x: np.ndarray,
    S: np.ndarray,
    current: Both,
    old: Both | None,
    h: float,
    n_q: int,
) -> Both:
    """State and derivatives at the end of a step, from their rates `current` and those of a whole
    step before."""
    k, K = current
    if method.two_step is not None and old is not None:
        return x + method.two_step.evaluate(h, (k, old[0])), S + method.two_step.evaluate(
            h, (K, old[1])
        )
    if method.semi_implicit:  # speeds first, then coordinates with the new speeds
        x, S = x.copy(), S.copy()
        x[n_q:] += h * k[n_q:]
        S[n_q:] += h * K[n_q:]
        k, K = _state_and_sensitivity_rates(rates, times[0], x, S)
        x[:n_q] += h * k[:n_q]
        S[:n_q] += h * K[:n_q]
        return x, S
    ks, Ks = [k], [K]
    for stage in method.stages:
        k, K = _state_and_sensitivity_rates(
            rates,
            stage_time(stage.node, times, h),
            x + stage.increment.evaluate(h, ks),
            S + stage.increment.evaluate(h, Ks),
        )
        ks.append(k)
        Ks.append(K)
    return x + method.result.evaluate(h, ks), S + method.result.evaluate(h, Ks)


@dataclass(frozen=True)
class Sensitivity(SavableTable):
    """Derivatives of channels with respect to parameters over time: `found["Ay", "ca1"]`.

    `plot` draws the change of each channel for one per cent of each parameter.

    Attributes
    ----------
    name : str
        Name of the model.
    time : ndarray
        Times in s.
    parameters, parameter_units, parameter_values : tuple
        Names, units and values of the parameters.
    outputs, output_units : tuple of str
        Names and units of the channels.
    derivatives : ndarray
        Times by channels by parameters, in user units.
    channels : dict
        The channels of the run itself.
    checked : dict
        Largest deviation from central differences, as a fraction of the largest value, if it was
        requested.
    notes : tuple of str
        Remarks.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("ball")
    >>> ball = s.add_point_mass("ball", translate="z", mass=1)
    >>> s.add_gravity((0, 0, -1), g="g")
    >>> s.set_defaults(g=9.81)
    >>> found = s.equations().compile(backend="python").sensitivity(
    ...     "g", "q(ball)", t_end=1, step=0.5
    ... )
    >>> round(float(found["q(ball)", "g"][-1]), 6), found.unit("q(ball)", "g")
    (-0.5, 'm/(m/s2)')
    """

    name: str
    time: np.ndarray
    parameters: tuple[str, ...]
    parameter_units: tuple[str, ...]
    parameter_values: tuple[float, ...]
    outputs: tuple[str, ...]
    output_units: tuple[str, ...]
    derivatives: np.ndarray  # (times, outputs, parameters)
    channels: dict[str, np.ndarray]
    checked: dict[tuple[str, str], float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def _column_indices(self, output: Any, parameter: Any) -> tuple[int, int]:
        return column_index(output, self.outputs, "channel"), column_index(
            parameter, self.parameters, "parameter"
        )

    def __getitem__(self, key: tuple[Any, Any]) -> np.ndarray:
        i, j = self._column_indices(*key)
        return np.asarray(self.derivatives[:, i, j])

    def unit(self, output: Any, parameter: Any) -> str:
        """Give the unit of a derivative.

        Parameters
        ----------
        output, parameter : str or Expr
            Channel and parameter.

        Returns
        -------
        str
            The unit.
        """
        i, j = self._column_indices(output, parameter)
        return derivative_unit(self.output_units[i], self.parameter_units[j])

    @property
    def _title(self) -> str:
        return f"{self.name}: sensitivity"

    def _table_cells(self) -> Cells:
        rows = []
        for o in self.outputs:
            for p, value in zip(self.parameters, self.parameter_values, strict=True):
                column = self[o, p]
                worst = int(np.argmax(np.abs(column)))
                relative = (
                    np.abs(column).max() * abs(value) / (np.abs(self.channels[o]).max() or 1.0)
                )
                largest, when, last = (
                    f"{column[worst]:.6g}",
                    f"{self.time[worst]:.4g}",
                    f"{column[-1]:.6g}",
                )
                check = f"{self.checked[o, p]:.1e}" if (o, p) in self.checked else ""
                rows.append([o, p, largest, when, last, self.unit(o, p), f"{relative:.4g}", check])
        head = ["channel", "parameter", "largest", "at (s)", "at the end", "unit", "relative"]
        return [*head, "against differences" if self.checked else ""], rows, "<<>>><>>"

    def _table(self) -> tuple[list[str], list[list[float]]]:
        pairs = [(o, p) for o in self.outputs for p in self.parameters]
        head = ["t (s)", *(f"d {o} / d {p} ({self.unit(o, p)})" for o, p in pairs)]
        return head, np.column_stack([self.time, *(self[pair] for pair in pairs)]).tolist()

    def _draw(self, path: str | Path | None) -> Any:
        parameter_pairs = list(zip(self.parameters, self.parameter_values, strict=True))
        panels = [
            (f"{o}\n({unit})", {p: self[o, p] * 0.01 * value for p, value in parameter_pairs})
            for o, unit in zip(self.outputs, self.output_units, strict=True)
        ]
        return draw_panels(self._title, "time (s)", self.time, panels, path, "+1 % of")
