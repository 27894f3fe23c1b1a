"""Simulation: a compiled model that can be evaluated and run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.api.analyses import Analyses
from bellcrank.choices import Backend, DaeMethod, ManyBackend, Method, Precision, Sampling, Speed
from bellcrank.errors import counted
from bellcrank.interface.interface import Interface
from bellcrank.interface.listing import describe
from bellcrank.model.guess import with_guess
from bellcrank.run import evaluate
from bellcrank.run.actions import GivenEvent
from bellcrank.run.dae_methods import Dae
from bellcrank.run.evaluate import Inputs, Parameters
from bellcrank.run.loaded import load
from bellcrank.run.result import Run
from bellcrank.run.rhs import Rhs, rhs_of
from bellcrank.run.session import Progress
from bellcrank.run.simulate import simulate
from bellcrank.run.state import State
from bellcrank.run.stepper import Stepper, stepper
from bellcrank.run.tolerances import Absolute
from bellcrank.run.values import Numbers

if TYPE_CHECKING:
    from bellcrank.many.result import Many
    from bellcrank.many.steppers import Steppers


class Simulation(Analyses):
    """A model ready to run. Values at this boundary are in user units, except for `derivatives`.

    `backend` says whether the model is compiled ("c") or runs in Python; `notes` reports it in words. It never changes:
    any number of threads may evaluate and run it at the same time.
    """

    def __init__(self, equations: Any, backend: Backend, external: Mapping[str, Any], speed: Speed = "auto") -> None:
        self.derived = derived = equations.derived
        self._recipe = (equations, backend, external, speed)
        self.loaded = load(derived.analysis, derived.interface, derived.program, backend, external, speed)
        self.backend = self.loaded.model.name

    def __reduce__(self) -> Any:
        """Another process loads the compiled program from the cache, or compiles it again."""
        return type(self), self._recipe

    def __deepcopy__(self, _: Any) -> Simulation:
        return self  # never changes

    def __repr__(self) -> str:
        x = self.interface
        sizes = (
            counted(len(g), word) for g, word in ((x.states, "state"), (x.signals, "input"), (x.outputs, "output"))
        )
        return f"Simulation({x.model!r}: {', '.join(sizes)}; backend {self.backend})"

    @property
    def interface(self) -> Interface:
        """Everything the model shows to the outside: names, units, words, defaults, columns."""
        return self.loaded.interface

    @property
    def notes(self) -> list[str]:
        """How the model runs, in messages."""
        return self.loaded.notes()

    def describe(self) -> str:
        """Parameters, inputs, states and outputs with labels, user units and equation values."""
        return describe(self.interface)

    def parameter_values(self, given: Mapping[str, float | str] | None = None) -> list[float]:
        """All parameters in equation units; `given` (user units) overrides the defaults."""
        return list(self.loaded.parameter_values(given))

    def assemble(
        self, initial: Mapping[Any, float | str] | None = None, *, guess: Mapping[Any, float | str] | None = None
    ) -> State:
        """Find a whole state that satisfies all constraints.

        Parameters
        ----------
        initial : mapping, optional
            Values by state, in user units or as text ("30 deg"); they are kept. Default: those of `System.set_run`.
        guess : mapping, optional
            Values by state from which the assembly of closed loops starts, and which it may change. Default: zero.

        Returns
        -------
        State
            `q, u = state`, or values by name; in equation units (rad, consistent units). States that neither are given
            nor follow from constraints are zero.

        Raises
        ------
        ModelError
            If a name or a value is wrong, or if a loop cannot be closed.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("ball")
        >>> ball = s.add_point_mass("ball", translate="z", mass=1)
        >>> state = s.equations().compile(backend="python").assemble({"q(ball)": 5})
        >>> state
        State(q(ball) = 5 m, u(ball) = 0 m/s)
        >>> state["q(ball)"], state.units["u(ball)"]
        (5.0, 'm/s')
        """
        return State.of(self.interface, *evaluate.assemble(self.loaded, initial, guess))

    def derivatives(
        self, t: float, q: Numbers, u: Numbers, *, parameters: Parameters = None, inputs: Inputs = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """(q', u') in equation units (rad, consistent units); q and u as listed by `eom.coordinates` and `eom.speeds`.

        In a singular configuration of closed loops, constraints that vanish there are omitted.
        """
        return evaluate.rates(self.loaded, t, q, u, parameters, inputs)

    def rhs(self, *, parameters: Parameters = None, inputs: Inputs = None) -> Rhs:
        """f(t, x, out=None) -> x' for integrators of others, parameters and inputs (user units) bound once.

        x = [q, u] as `assemble` returns them, user-defined states of the model among the coordinates q:
        `f.state_names`. All in equation units (rad, consistent units), `f.units`. `f.jacobian(t, x)` gives df/dx;
        `f.address` a compiled function for `scipy.LowLevelCallable` and the like.
        """
        return rhs_of(self.loaded, parameters, inputs)

    def outputs(
        self, t: float, q: Numbers, u: Numbers, *, parameters: Parameters = None, inputs: Inputs = None
    ) -> dict[str, float]:
        """Output channels in user units at a state given in equation units."""
        return evaluate.outputs(self.loaded, t, q, u, parameters, inputs)

    def echo(
        self, t: float, q: Numbers, u: Numbers, *, parameters: Parameters = None, inputs: Inputs = None
    ) -> dict[str, float]:
        """What user functions give to the echo of a run that starts there (when="echo"), in equation units."""
        return evaluate.echo(self.loaded, t, q, u, parameters, inputs)

    def multipliers(
        self, t: float, q: Numbers, u: Numbers, *, parameters: Parameters = None, inputs: Inputs = None
    ) -> dict[str, float]:
        """lambda of M u' = f + J' lambda by constraint row, in equation units (`eom.constraint_rows`);
        with redundant rows the smallest. Rows of one name are `name`, `name (2)`, `name (3)` in their order."""
        return evaluate.multipliers(self.loaded, t, q, u, parameters, inputs)

    def simulate(
        self,
        t_end: float | None = None,
        *,
        step: float | None = None,
        method: Method | None = None,
        output_every: int | None = None,
        parameters: Parameters = None,
        initial: Mapping[Any, float | str] | tuple[Numbers, Numbers] | None = None,
        inputs: Inputs = None,
        rtol: float | None = None,
        atol: Absolute | None = None,
        events: Mapping[str, Any] | Sequence[GivenEvent] | None = None,
        stop: Iterable[str] | str | None = (),
        progress: Progress | None = None,
        dae: DaeMethod | Dae | None = None,
        assemble: bool = True,
        t_start: float | None = None,
        start: Run | None = None,
        guess: Mapping[Any, float | str] | None = None,
    ) -> Run:
        """Integrate the equations of motion over time.

        Defaults that are not listed are those of `System.set_run`.

        Parameters
        ----------
        t_end : float, optional
            End of the run in s.
        step : float, optional
            Step in s; of adaptive methods, the time between samples.
        method : str, optional
            Integration method: "rk4" and others with fixed steps, "tsit5", "radau5", "auto" and others with
            adaptive steps.
        output_every : int, optional
            Record every n-th step only.
        parameters : mapping, optional
            Values of parameters by name: numbers in user units, or text with a unit ("10 mm").
        initial : mapping or (q, u), optional
            Initial values by state, in user units or as text ("30 deg"); or a whole state in equation units, as
            `assemble` returns it.
        inputs : mapping, optional
            Inputs by name: a number, a signal, a function of time, or (times, values), in user units.
        rtol : float, optional
            Relative tolerance of adaptive methods. Default: 1e-8.
        atol : float or mapping, optional
            Absolute tolerance, in the unit of each state, or by unit or state: {"m": 1e-9, "q(arm)": 1e-8}.
            Default: a hundredth of `rtol`.
        events : mapping or sequence, optional
            Conditions by name, each a channel or a formula, or events of `bc.event`. A crossing of zero from below,
            or a comparison that becomes true, is recorded in `run.events`.
        stop : str or iterable of str, default ()
            Names of events that end the run.
        progress : callable, optional
            Called with the fraction done, from 0 to 1.
        dae : str or Dae, optional
            How constraints of positions and loops are kept: "projection" (default), or with settings,
            `bc.Dae("baumgarte", alpha=20, beta=20)`.
        assemble : bool, default True
            False starts from the values given, even if they violate constraints.
        t_start : float, optional
            Begin of the run in s. Default: 0, or the end of `start`.
        start : Run, optional
            A run to continue, with its parameters, inputs, step, method and tolerances unless given.
        guess : mapping, optional
            Values by state from which the assembly of closed loops starts, and which it may change.

        Returns
        -------
        Run
            Channels over time in user units. `run.status` and `run.message` describe how the run ended.

        Raises
        ------
        ModelError
            If a name or a value is wrong, or if the initial state cannot be assembled.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("ball")
        >>> ball = s.add_point_mass("ball", translate="z", mass=1)
        >>> s.add_gravity((0, 0, -1), g=10)
        >>> sim = s.equations().compile(backend="python")
        >>> run = sim.simulate(1.0, step=0.1, initial={"q(ball)": 5})
        >>> round(float(run["q(ball)"][-1]), 6)
        0.0
        """
        return simulate(
            self.loaded, t_end, step, method, output_every, parameters, with_guess(initial, guess), inputs, rtol, atol,
            events, stop, progress, dae, assemble, t_start, start,
        )  # fmt: skip

    def stepper(
        self,
        step: float | None = None,
        *,
        parameters: Parameters = None,
        initial: Mapping[Any, float | str] | tuple[Numbers, Numbers] | None = None,
        inputs: Inputs = None,
        method: Method | None = None,
        t_start: float | None = None,
        start: Run | None = None,
        events: Any = None,
        guess: Mapping[Any, float | str] | None = None,
        dae: DaeMethod | Dae | None = None,
    ) -> Stepper:
        """The model to be taken step by step from Python: `set` inputs, take a `step`, read `t`, `state`, `outputs`.

        Arguments as of `simulate`; the method has a fixed step, and steps are bit-identical to those of `simulate`.
        Events are handled by the caller.
        """
        values = with_guess(initial, guess)
        return stepper(self.loaded, step, parameters, values, inputs, method, t_start, start, events, dae)

    def steppers(
        self,
        n: int | None = None,
        *,
        step: float | None = None,
        parameters: Mapping[str, Any] | None = None,
        initial: Mapping[Any, Any] | None = None,
        inputs: Inputs = None,
        method: Method | None = None,
        t_start: float | None = None,
        seed: int = 0,
        guess: Mapping[Any, float | str] | None = None,
    ) -> Steppers:
        """n runs to be taken step by step together, on all cores: as `stepper`, with an array over the runs in place of
        every number. Values may be arrays or distributions too, as of `simulate_many`.
        """
        from bellcrank.many.steppers import steppers

        return steppers(self.loaded, n, step, parameters, with_guess(initial, guess), inputs, method, t_start, seed)

    def simulate_many(
        self,
        n: int | None = None,
        *,
        parameters: Mapping[str, Any] | None = None,
        initial: Mapping[Any, Any] | None = None,
        inputs: Inputs = None,
        t_end: float | None = None,
        step: float | None = None,
        method: Method | None = None,
        channels: Iterable[str] | str | None = None,
        output_every: int | None = None,
        metrics: Any = None,
        backend: ManyBackend = "auto",
        precision: Precision = "double",
        progress: Progress | None = None,
        sampling: Sampling = "latin-hypercube",
        seed: int = 0,
        rtol: float | None = None,
        atol: Absolute | None = None,
        events: Mapping[str, Any] | Sequence[GivenEvent] | None = None,
        stop: Iterable[str] | str | None = (),
        guess: Mapping[Any, float | str] | None = None,
        dae: DaeMethod | Dae | None = None,
    ) -> Many:
        """Runs the model n times on all cores, with values that vary from run to run.

        Every value is a number (or signal) that all runs share, an array over runs, or a distribution:
        `bc.random.uniform(a, b)`, `bc.random.normal(mean, deviation)`, `bc.random.log_uniform(a, b)`, drawn together by
        `sampling` ("latin-hypercube", "sobol", "halton", "random") with a `seed`. `channels` are those whose histories
        are kept, of every `output_every`-th step; `metrics` are computed during the runs, `{"az": ["rms", "max",
        "percentile(95)"]}`, of the same rows. `rtol`, `atol`, `events`, `stop`, `dae` and `guess` (numbers that all
        runs share) as of `simulate`. A run that stops leaves the others alone; `many.ended` says why.
        """
        from bellcrank.many.many import simulate_many

        return simulate_many(
            self.loaded, n, parameters, with_guess(initial, guess), inputs, t_end, step, method, channels,
            output_every, metrics, backend, precision, progress, sampling, seed, rtol, atol, events, stop, dae,
        )  # fmt: skip
