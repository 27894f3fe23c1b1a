"""Rates of all states as a function f(t, x), for integrators and programs of others.

In:  a loaded model, parameters and inputs. Out: `Rhs`. Parameters, constants and inputs are bound
once; what user functions remember and keep is in every call that of a run which starts there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy import empty, ndarray

from bellcrank.core.errors import ModelError, pluralize
from bellcrank.core.numeric.run_spec import At
from bellcrank.core.units import unit_system
from bellcrank.simulation.backend.protocol import BoundRhsProtocol
from bellcrank.simulation.run.argument_checks import require_finite, require_number
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.simulation.run.loop_closure import rates_near_singular
from bellcrank.simulation.run.state_jacobian import analytic_jacobian, difference_jacobian
from bellcrank.simulation.run.stepping import NO_VALUE, RunEvaluation

SHOWN = 8  # states that are listed by name
_FLOAT = np.dtype(float)


class Rhs:
    """State derivatives x' = f(t, x) with x = [q, u], in equation units: rad, s and the consistent
    units of the model.

    `f(t, x)` returns a new array, `f(t, x, out)` fills and returns `out`. User-defined states are
    among the coordinates q. States of closed loops are taken as they are. On the constraints f
    equals the derivatives of a run; near singular configurations it returns those of the redundant
    equations, as `Simulation.derivatives` does. Any number of threads may call f.

    Attributes
    ----------
    state_names : tuple of str
        Names of the states, in the order of x.
    units : tuple of str
        Equation units of x; those of x' are per s.
    address : int
        Address of the compiled function `int f(double t, const double *x, double *xdot, void
        *user_data)`, for solvers in C and other languages. It returns 0 if it found the
        derivatives, another number if an input or user function in Python raised an error. Any
        number of threads may call it while this object lives.
    user_data : int
        Address to pass as its last argument.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("oscillator")
    >>> mass = s.add_body("mass", translate="x", mass="m")
    >>> spring = s.add_force("spring", magnitude="-k*x", direction=s.inertial.x, at=mass.origin)
    >>> s.set_defaults(m=2, k=8)
    >>> f = s.equations().compile().rhs()
    >>> f.state_names
    ('q(mass)', 'u(mass)')
    >>> f(0.0, [0.5, 1.0]).tolist()
    [1.0, -2.0]
    """

    def __init__(self, evaluation: RunEvaluation, bound: BoundRhsProtocol | None) -> None:
        loaded = evaluation.context.loaded
        self._loaded, self._evaluation, self._bound = loaded, evaluation, bound
        self._shape = (loaded.n_states,)
        system = unit_system(loaded.interface.units)
        self.state_names = tuple(x.name for x in loaded.interface.states)
        self.units = tuple(
            system.equation_unit(x.unit.dimension).text for x in loaded.interface.states
        )

    def __repr__(self) -> str:
        listed = [
            f"{name} [{unit or '1'}]"
            for name, unit in zip(self.state_names, self.units, strict=True)
        ]
        ellipsis = ["..."] * (len(listed) > SHOWN)
        summary = f"x' = f(t, x), t in s, x of {pluralize(len(listed), 'state')}"
        return f"Rhs({self._loaded.name!r}: {summary}: {', '.join(listed[:SHOWN] + ellipsis)})"

    def __call__(self, t: float, x: Any, out: np.ndarray | None = None) -> np.ndarray:
        time, state = require_finite(t, "t"), self._checked_state(x)
        self._check_out(out)
        derivatives = (
            self._rates(time, state) if self._bound is None else self._bound.rates(time, state)
        )
        if out is None:
            return derivatives
        out[:] = derivatives
        return out

    def jacobian(self, t: float, x: Any) -> np.ndarray:
        """Compute df/dx in equation units.

        Derivatives are exact, except by central differences for user functions without derivatives,
        in very large models, and near singular configurations of closed loops.

        Parameters
        ----------
        t : float
            Time in s.
        x : array
            State [q, u] in equation units.

        Returns
        -------
        ndarray
            Rows of x' by columns of x.
        """
        time, state = require_number(t, "t"), self._checked_state(x)
        program_arguments, context = (
            self._program_arguments(time, state),
            self._loaded.new_context(),
        )
        matrix = np.full((len(state), len(state)), np.nan)
        if rates_near_singular(self._evaluation.model, program_arguments) is None:
            matrix = analytic_jacobian(context.stiff_calls, program_arguments)
        unknown = ~np.isfinite(matrix).all(axis=0)
        if unknown.any():
            matrix[:, unknown] = difference_jacobian(
                self._batch_rates, np.array([time]), state[None, :]
            )[0][:, unknown]
        return matrix

    @property
    def address(self) -> int:
        """Address of the compiled function."""
        return self._require_compiled("address").address

    @property
    def user_data(self) -> int:
        """Address of what the compiled function takes as its last argument."""
        return self._require_compiled("user data").data

    def __reduce__(self) -> NoReturn:
        reason = "is bound to memory of this process: it cannot be stored, copied or sent elsewhere"
        raise ModelError(f"f of sim.rhs() {reason}; make another one there", self._loaded.name)

    def _require_compiled(self, name: str) -> BoundRhsProtocol:
        if self._bound is None:
            raise ModelError(
                f"f.{name.replace(' ', '_')}: the model runs in Python, so its rates have "
                f"no {name} for programs in C; "
                "use compile(backend='c')",
                self._loaded.name,
            )
        return self._bound

    def _checked_state(self, x: object) -> np.ndarray:
        """x as an array of floats of the right length."""
        try:
            state = np.asarray(x)
            if state.dtype.kind in "fiub":
                state = state.astype(float, copy=False)
        except (TypeError, ValueError):
            state = np.array(None)
        if state.shape != self._shape or state.dtype != _FLOAT:
            names = ", ".join(self.state_names)
            received = (
                f"an array of shape {state.shape} and type {state.dtype}"
                if state.dtype != object
                else repr(x)
            )
            raise ModelError(
                f"x must be {self._shape[0]} numbers ({names}), not {received}", self._loaded.name
            )
        return state

    def _check_out(self, out: object) -> None:
        if out is None:
            return
        if not isinstance(out, np.ndarray):
            received = repr(out)
        elif out.shape != self._shape or out.dtype != _FLOAT:
            received = f"of shape {out.shape} and type {out.dtype}"
        elif not out.flags.writeable:
            received = "one that cannot be written to"
        else:
            return
        raise ModelError(
            f"out must be an array of {self._shape[0]} floats, not {received}",
            self._loaded.name,
        )

    def _program_arguments(self, t: float, x: np.ndarray) -> At:
        """The state with all that programs are called with."""
        e = self._evaluation
        if len(
            e.sampled_values
        ):  # found afresh in every call, of which there may be several at once
            e = RunEvaluation(
                self._loaded.new_context(), e.p, e.c, e.inputs, np.zeros_like(e.sampled_values)
            )
        e.update_sampled_values(t, x, first=True, live=0)
        return e.program_arguments(t, x)

    def _rates(self, t: float, x: np.ndarray) -> np.ndarray:
        program_arguments, model = self._program_arguments(t, x), self._evaluation.model
        singular_rates = rates_near_singular(model, program_arguments)
        try:
            return np.array(
                [v for part in model.derivatives(*program_arguments) for v in part]
                if singular_rates is None
                else singular_rates
            )
        except NO_VALUE:  # where compiled code has nan
            return np.full(self._shape, np.nan)

    def _batch_rates(self, t: np.ndarray, x: np.ndarray) -> np.ndarray:
        if self._bound is None:
            return np.array(
                [self._rates(time, row) for time, row in zip(t.tolist(), x, strict=True)]
            )
        return self._bound.batch_rates(t, x, afresh=True)


class DirectRhs(BoundRhsProtocol, Protocol):
    """Rates that Python calls without detours."""

    @property
    def python_entry(self) -> Callable[..., bool]: ...


class CompiledRhs(Rhs):
    """The same where nothing is called back from C: usual calls go there without detours."""

    _bound: DirectRhs

    def __call__(self, t: float, x: Any, out: np.ndarray | None = None) -> np.ndarray:
        if out is None:
            derivatives = empty(self._shape)
        elif type(out) is ndarray:
            derivatives = out
        else:
            return super().__call__(t, x, out)
        try:
            if self._bound.python_entry(t, x, derivatives):
                return derivatives
        except (
            BufferError,
            TypeError,
            ValueError,
        ):  # no number; no array; not contiguous; it cannot be written to
            pass
        return super().__call__(t, x, out)


def make_rhs(
    loaded: LoadedModel,
    parameters: Mapping[str, float | str] | None = None,
    inputs: Mapping[str, Any] | None = None,
) -> Rhs:
    """The rates of a model as a function of time and state."""
    p, signals = loaded.parameter_values(parameters), loaded.inputs(inputs)
    context, c = loaded.new_context(), loaded.constants(p)
    evaluation = RunEvaluation(
        context, p, c, signals, np.zeros(len(loaded.interface.sampled_inputs))
    )
    bound = loaded.model.bind_rhs(context.model, p, c, signals)
    if bound is None or bound.python_entry is None:
        return Rhs(evaluation, bound)
    bound.expect_long_use()
    return CompiledRhs(evaluation, bound)
