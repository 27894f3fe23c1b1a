"""Simulation: a compiled model that can be evaluated and run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.api.analyses import Analyses
from bellcrank.choices import Backend, DaeMethod, ManyBackend, Method, Precision, Sampling, Speed
from bellcrank.core.errors import pluralize
from bellcrank.mechanics.interface.interface import Interface
from bellcrank.mechanics.interface.listing import describe
from bellcrank.model.guess import with_guess
from bellcrank.simulation.run import point_evaluation
from bellcrank.simulation.run.argument_checks import Numbers
from bellcrank.simulation.run.dae_methods import Dae
from bellcrank.simulation.run.event_specs import EventRecord
from bellcrank.simulation.run.loaded import load_model
from bellcrank.simulation.run.point_evaluation import Inputs, Parameters
from bellcrank.simulation.run.result import Run
from bellcrank.simulation.run.rhs import Rhs, make_rhs
from bellcrank.simulation.run.session import Progress
from bellcrank.simulation.run.simulate import simulate
from bellcrank.simulation.run.state import State
from bellcrank.simulation.run.stepper import Stepper, make_stepper
from bellcrank.simulation.run.tolerances import Absolute

if TYPE_CHECKING:
    from bellcrank.core.metrics.metric import Metric
    from bellcrank.simulation.many.result import Many
    from bellcrank.simulation.many.steppers import Steppers


class Simulation(Analyses):
    """A model that is ready to run, made by `Equations.compile`.

    Values are in user units unless a method says otherwise. A simulation never changes: any number
    of threads may evaluate and run it at the same time.

    Parameters
    ----------
    equations : Equations
        The equations of motion.
    backend, external, speed : optional
        As of `Equations.compile`.

    Attributes
    ----------
    backend : str
        How the model runs: "c", "wasm" or "python". `notes` describes it.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("mass")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> sim = s.equations().compile(backend="python")
    >>> sim.backend
    'python'
    """

    def __init__(
        self, equations: Any, backend: Backend, external: Mapping[str, Any], speed: Speed = "auto"
    ) -> None:
        self.derived = derived = equations.derived
        self._recipe = (equations, backend, external, speed)
        self.loaded = load_model(
            derived.analysis, derived.interface, derived.program, backend, external, speed
        )
        self.backend = self.loaded.model.name

    def __reduce__(self) -> Any:
        """Another process loads the compiled program from the cache, or compiles it again."""
        return type(self), self._recipe

    def __deepcopy__(self, _: Any) -> Simulation:
        return self  # never changes

    def __repr__(self) -> str:
        x = self.interface
        sizes = (
            pluralize(len(g), word)
            for g, word in ((x.states, "state"), (x.signals, "input"), (x.outputs, "output"))
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
        """List parameters, inputs, states and outputs with labels, values, user units and equation
        units.

        Returns
        -------
        str
            The tables as text.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("mass")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> "q(mass)" in s.equations().compile(backend="python").describe()
        True
        """
        return describe(self.interface)

    def parameter_values(self, given: Mapping[str, float | str] | None = None) -> list[float]:
        """Return all parameters in equation units (rad, consistent units).

        Parameters
        ----------
        given : mapping, optional
            Values by name that replace defaults: numbers in user units, or text with a unit.

        Returns
        -------
        list of float
            Values in the order of `eom.parameters`.

        Raises
        ------
        ModelError
            If a parameter has no value, or if a name is unknown.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("mass")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> spring = s.add_force("spring", magnitude="-k*x", direction=s.inertial.x, at=mass.origin)
        >>> s.equations().compile(backend="python").parameter_values({"k": "3 N/mm"})
        [3000.0]
        """
        return list(self.loaded.parameter_values(given))

    def assemble(
        self,
        initial: Mapping[Any, float | str] | None = None,
        *,
        guess: Mapping[Any, float | str] | None = None,
    ) -> State:
        """Find a whole state that satisfies all constraints.

        Parameters
        ----------
        initial : mapping, optional
            Values by state, in user units or as text ("30 deg"); they are kept. Default: those of
            `System.set_run`.
        guess : mapping, optional
            Values by state from which the assembly of closed loops starts, and which it may change.
            Default: zero.

        Returns
        -------
        State
            `q, u = state`, or values by name; in equation units (rad, consistent units). States
            that neither are given nor follow from constraints are zero.

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
        return State.from_arrays(
            self.interface, *point_evaluation.assemble(self.loaded, initial, guess)
        )

    def derivatives(
        self,
        t: float,
        q: Numbers,
        u: Numbers,
        *,
        parameters: Parameters = None,
        inputs: Inputs = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate the time derivatives of a state, in equation units (rad, consistent units).

        In a singular configuration of closed loops, constraints that vanish there are omitted.

        Parameters
        ----------
        t : float
            Time in s.
        q : array_like
            Coordinates in the order of `eom.coordinates`, in equation units.
        u : array_like
            Speeds in the order of `eom.speeds`, in equation units.
        parameters, inputs : mapping, optional
            Values by name in user units, as of `simulate`.

        Returns
        -------
        (ndarray, ndarray)
            q' and u'.

        Raises
        ------
        RunError
            If a derivative is not finite.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> spring = s.add_force(
        ...     "spring", magnitude="-50*x", direction=s.inertial.x, at=mass.origin
        ... )
        >>> qdot, udot = s.equations().compile(backend="python").derivatives(0, [1], [3])
        >>> qdot.tolist(), udot.tolist()
        ([3.0], [-25.0])
        """
        return point_evaluation.state_derivatives(self.loaded, t, q, u, parameters, inputs)

    def rhs(self, *, parameters: Parameters = None, inputs: Inputs = None) -> Rhs:
        """Return the time derivatives as a function f(t, x) for your own integrator.

        Parameters
        ----------
        parameters, inputs : mapping, optional
            Values by name in user units, as of `simulate`; they are read once.

        Returns
        -------
        Rhs
            `f(t, x, out=None)` returns x' for x = [q, u] in the order of `f.state_names`, in
            equation units (`f.units`). `f.jacobian(t, x)` is df/dx, `f.address` a compiled function
            for `scipy.LowLevelCallable`.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> spring = s.add_force(
        ...     "spring", magnitude="-50*x", direction=s.inertial.x, at=mass.origin
        ... )
        >>> f = s.equations().compile(backend="python").rhs()
        >>> f.state_names, f(0, [1, 3]).tolist()
        (('q(mass)', 'u(mass)'), [3.0, -25.0])
        """
        return make_rhs(self.loaded, parameters, inputs)

    def outputs(
        self,
        t: float,
        q: Numbers,
        u: Numbers,
        *,
        parameters: Parameters = None,
        inputs: Inputs = None,
    ) -> dict[str, float]:
        """Evaluate all outputs at a state.

        Parameters
        ----------
        t : float
            Time in s.
        q, u : array_like
            Coordinates and speeds in equation units, as of `derivatives`.
        parameters, inputs : mapping, optional
            Values by name in user units, as of `simulate`.

        Returns
        -------
        dict
            Values by output, in user units.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("mass")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> s.add_output("travel", mass.q[1], units="mm")
        >>> s.equations().compile(backend="python").outputs(0, [0.25], [0])
        {'travel': 250.0}
        """
        return point_evaluation.outputs(self.loaded, t, q, u, parameters, inputs)

    def echo(
        self,
        t: float,
        q: Numbers,
        u: Numbers,
        *,
        parameters: Parameters = None,
        inputs: Inputs = None,
    ) -> dict[str, float]:
        """Evaluate what user functions add to the echo of a run (`add_external(when="echo")`), in
        equation units.

        Parameters
        ----------
        t : float
            Time in s.
        q, u : array_like
            Coordinates and speeds in equation units, as of `derivatives`.
        parameters, inputs : mapping, optional
            Values by name in user units, as of `simulate`.

        Returns
        -------
        dict
            Values by name.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("mass")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> s.add_external(
        ...     "weigh", arguments=(2,), returns="weight", when="echo", python=lambda m: 10 * m
        ... )
        >>> s.equations().compile(backend="python").echo(0, [0], [0])
        {'weight': 20.0}
        """
        return point_evaluation.echo(self.loaded, t, q, u, parameters, inputs)

    def multipliers(
        self,
        t: float,
        q: Numbers,
        u: Numbers,
        *,
        parameters: Parameters = None,
        inputs: Inputs = None,
    ) -> dict[str, float]:
        """Evaluate the Lagrange multipliers: lambda of M u' = f + J' lambda, in equation units.

        Parameters
        ----------
        t : float
            Time in s.
        q, u : array_like
            Coordinates and speeds in equation units, as of `derivatives`.
        parameters, inputs : mapping, optional
            Values by name in user units, as of `simulate`.

        Returns
        -------
        dict
            Values by constraint equation (`eom.constraint_rows`); equal names are numbered: "name",
            "name (2)". With redundant equations, those of smallest norm.

        Examples
        --------
        A mass of 2 kg (20 N) on a rod of 1 m, whose constraint equation is x^2 + z^2 - 1 = 0, with
        a gradient of length 2.

        >>> import bellcrank as bc
        >>> s = bc.System("pendulum")
        >>> ball = s.add_point_mass("ball", translate=("x", "z"), joint_at=(0, 0, -1), mass=2)
        >>> s.add_gravity((0, 0, -1), g=10)
        >>> s.add_loop_joint("rod", "distance", between=("o", ball.origin))
        >>> sim = s.equations().compile(backend="python")
        >>> [abs(round(x, 6)) for x in sim.multipliers(0, [0, 0], [0, 0]).values()]
        [10.0]
        """
        return point_evaluation.multipliers(self.loaded, t, q, u, parameters, inputs)

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
        events: Mapping[str, Any] | Sequence[EventRecord] | None = None,
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
            Integration method: "rk4" and others with fixed steps, "tsit5", "radau5", "auto" and
            others with adaptive steps.
        output_every : int, optional
            Record every n-th step only.
        parameters : mapping, optional
            Values of parameters by name: numbers in user units, or text with a unit ("10 mm").
        initial : mapping or (q, u), optional
            Initial values by state, in user units or as text ("30 deg"); or a whole state in
            equation units, as
            `assemble` returns it.
        inputs : mapping, optional
            Inputs by name: a number, a signal, a function of time, or (times, values), in user
            units.
        rtol : float, optional
            Relative tolerance of adaptive methods. Default: 1e-8.
        atol : float or mapping, optional
            Absolute tolerance, in the unit of each state, or by unit or state: {"m": 1e-9,
            "q(arm)": 1e-8}. Default: a hundredth of `rtol`.
        events : mapping or sequence, optional
            Conditions by name, each a channel or a formula, or events of `bc.event`. A crossing of
            zero, either way, or a comparison that becomes true, is recorded in `run.events`.
        stop : str or iterable of str, default ()
            Names of events that end the run.
        progress : callable, optional
            Called with the fraction done, from 0 to 1.
        dae : str or Dae, optional
            How constraints of positions and loops are kept: "projection" (default), or with
            settings,
            `bc.Dae("baumgarte", alpha=20, beta=20)`.
        assemble : bool, default True
            False starts from the values given, even if they violate constraints.
        t_start : float, optional
            Begin of the run in s. Default: 0, or the end of `start`.
        start : Run, optional
            A run to continue, with its parameters, inputs, step, method and tolerances unless
            given.
        guess : mapping, optional
            Values by state from which the assembly of closed loops starts, and which it may change.

        Returns
        -------
        Run
            Channels over time in user units. `run.status` and `run.message` describe how
            the run ended.

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
            self.loaded,
            t_end,
            step,
            method,
            output_every,
            parameters,
            with_guess(initial, guess),
            inputs,
            rtol,
            atol,
            events,
            stop,
            progress,
            dae,
            assemble,
            t_start,
            start,
        )

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
        guess: Mapping[Any, float | str] | None = None,
        dae: DaeMethod | Dae | None = None,
    ) -> Stepper:
        """Start a run that you advance step by step, with inputs that you may change between steps.

        Steps are bit-identical to those of `simulate`. Events are those of the model
        (`System.add_event`);
        `make_stepper.events` lists those that occurred.

        Parameters
        ----------
        step, parameters, initial, inputs, method, t_start, start, guess, dae : optional
            As of `simulate`. The method has a fixed step.

        Returns
        -------
        Stepper
            `set(name=value)` sets inputs, `step(n=1)` takes steps; `t`, `state` and `outputs` are
            time in s and values by name in user units. `save()` and `restore(saved)` go back to an
            earlier time.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("cart")
        >>> cart = s.add_body("cart", translate="x", mass=2, inertia=0)
        >>> push = s.add_input("push", units="N", default=0)
        >>> motor = s.add_force("motor", magnitude=push, direction=s.inertial.x, at=cart.origin)
        >>> stepper = s.equations().compile(backend="python").stepper(0.5)
        >>> stepper.set(push=4)
        >>> stepper.step(2)
        >>> stepper.t, stepper.state["u(cart)"]
        (1.0, 2.0)
        """
        values = with_guess(initial, guess)
        return make_stepper(
            self.loaded, step, parameters, values, inputs, method, t_start, start, dae
        )

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
        """Start n runs that you advance together step by step, on all cores.

        Parameters
        ----------
        n : int, optional
            Number of runs. Default: the length of the arrays given.
        step, method, t_start : optional
            As of `make_stepper`.
        parameters, initial, inputs : mapping, optional
            As of `make_stepper`; each value may be an array over runs or a distribution, as of
            `simulate_many`.
        seed : int, default 0
            Seed of the distributions.
        guess : mapping, optional
            Values by state from which the assembly of closed loops starts.

        Returns
        -------
        Steppers
            As `Stepper`, with an array over the runs in place of every number. `problems` lists
            runs that failed.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("mass")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> steppers = s.equations().compile().steppers(step=0.5, initial={"u(mass)": [1, 2, 3]})
        >>> steppers.step(2)
        >>> steppers.state["q(mass)"].tolist()
        [1.0, 2.0, 3.0]
        """
        from bellcrank.simulation.many.steppers import make_steppers

        return make_steppers(
            self.loaded,
            n,
            step,
            parameters,
            with_guess(initial, guess),
            inputs,
            method,
            t_start,
            seed,
        )

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
        metrics: Mapping[str, Any] | Sequence[str | Metric] | str | Metric | None = None,
        backend: ManyBackend = "auto",
        precision: Precision = "double",
        progress: Progress | None = None,
        sampling: Sampling = "latin-hypercube",
        seed: int = 0,
        rtol: float | None = None,
        atol: Absolute | None = None,
        events: Mapping[str, Any] | Sequence[EventRecord] | None = None,
        stop: Iterable[str] | str | None = (),
        guess: Mapping[Any, float | str] | None = None,
        dae: DaeMethod | Dae | None = None,
    ) -> Many:
        """Run the model n times on all cores, with values that vary from run to run.

        A value is a number or signal that all runs share, an array over runs, or a distribution:
        `bc.random.uniform(a, b)`, `bc.random.normal(mean, deviation)`, `bc.random.log_uniform(a,
        b)`.

        Parameters
        ----------
        n : int, optional
            Number of runs. Default: the length of the arrays given.
        parameters, initial, inputs : mapping, optional
            Values by name, as of `simulate`, numbers, arrays or distributions.
        t_end, step, method, rtol, atol, events, stop, progress, dae : optional
            As of `simulate`.
        channels : str or iterable of str, optional
            Channels whose histories are kept. Default: all, or none if `metrics` are given.
        output_every : int, optional
            Keep every n-th step only; metrics use the same samples.
        metrics : mapping, or list of Metric or str, optional
            Metrics, computed during the runs: by channel, `{"az": ["rms", "max",
            "percentile(95)"]}`, as objects,
            `[bc.metrics.rms("az")]`, or kinds for all `channels`. `bc.metrics.KINDS` lists the
            kinds.
        backend : {"auto", "lanes", "cores", "cuda"}, default "auto"
            SIMD lanes on all cores, one run after another on each core, or a GPU.
        precision : {"double", "single"}, default "double"
            Precision of lanes and GPU.
        sampling : {"latin-hypercube", "sobol", "halton", "random"}, default "latin-hypercube"
            How values are drawn from distributions.
        seed : int, default 0
            Seed of the distributions.
        guess : mapping, optional
            Values by state, shared by all runs, from which the assembly of closed loops starts.

        Returns
        -------
        Many
            `many["az"]` is an array of runs by times, `many.metrics["az"]["rms"]` an array over
            runs, in user units.
            `many.ended` describes how each run ended; a run that fails does not affect others.

        Raises
        ------
        ModelError
            If a name or value is wrong, or if the backend does not support the model.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("ball")
        >>> ball = s.add_point_mass("ball", translate="z", mass=1)
        >>> s.add_gravity((0, 0, -1), g="g")
        >>> sim = s.equations().compile()
        >>> many = sim.simulate_many(
        ...     parameters={"g": [1, 2]}, t_end=1, step=0.5, metrics={"q(ball)": ["min"]}
        ... )
        >>> many.metrics["q(ball)"]["min"].tolist()
        [-0.5, -1.0]
        """
        from bellcrank.simulation.many.simulate_many import simulate_many

        return simulate_many(
            self.loaded,
            n,
            parameters,
            with_guess(initial, guess),
            inputs,
            t_end,
            step,
            method,
            channels,
            output_every,
            metrics,
            backend,
            precision,
            progress,
            sampling,
            seed,
            rtol,
            atol,
            events,
            stop,
            dae,
        )
