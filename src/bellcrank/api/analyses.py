"""The analyses of a simulation as its methods: each is imported when it is first used, as most runs
need none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bellcrank.choices import Method, SpectrumBy
from bellcrank.core.argument_checks import ValidatedCalls
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.model.guess import with_guess
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.simulation.run.point_evaluation import Inputs, Parameters
from bellcrank.simulation.run.result import Run

if TYPE_CHECKING:
    from bellcrank.analysis.equilibrium import Equilibrium
    from bellcrank.analysis.inverse import InverseDynamics
    from bellcrank.analysis.linear_model import LinearModel
    from bellcrank.analysis.modes import Modes
    from bellcrank.analysis.plant import AnalysisModel
    from bellcrank.analysis.response import Response, Spectrum
    from bellcrank.analysis.root_locus import Equilibria, RootLocus, StabilityChart
    from bellcrank.analysis.sensitivity import Sensitivity

Values = Mapping[Any, float | str] | None


class Analyses(ValidatedCalls):
    """What a simulation reports besides time histories. Values in user units unless a method says
    otherwise."""

    internals = ("derived", "loaded", "analysis_context")
    loaded: LoadedModel
    derived: DerivedModel
    simulate: Callable[..., Run]

    @cached_property
    def analysis_context(self) -> AnalysisModel:
        """The model as the analyses see it."""
        from bellcrank.analysis.plant import AnalysisModel

        return AnalysisModel(self.loaded, self.derived, self.simulate)

    def equilibrium(
        self,
        *,
        free: Iterable[Any] | str | None = None,
        fixed: Mapping[Any, float | str] | Iterable[Any] | str | None = None,
        targets: Values = None,
        at: Any = "start",
        parameters: Parameters = None,
        inputs: Inputs = None,
        t: float = 0.0,
        guess: Values = None,
    ) -> Equilibrium:
        """Find the static equilibrium or steady motion nearest to the initial state.

        A model that starts moving has a steady motion at that speed. Newton's method starts at
        `at`. If it does not converge, the search follows a strongly damped motion from rest. The
        equilibrium may be unstable.

        Parameters
        ----------
        free : str or iterable, optional
            Parameters or inputs that are unknown, too, such as preloads or a driving torque.
        fixed : str, iterable or mapping, optional
            States, inputs or parameters that are held, by name, with or without a value in user
            units.
        targets : mapping, optional
            Values, in user units, that outputs, states or formulas of them have in the equilibrium.
        at : optional
            Where the search starts, as of `linearize`. Default: "start", the initial state.
        parameters, inputs : mapping, optional
            Values by name, as of `simulate`.
        t : float, default 0.0
            Time in s at which inputs are evaluated.
        guess : mapping, optional
            Values by state from which the assembly of closed loops starts.

        Returns
        -------
        Equilibrium
            Values by name in user units. `.motion` describes it, `.stability` says whether it is
            stable, `.moved` how far it is from the start.

        Raises
        ------
        NoEquilibrium
            If none is found.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> spring = s.add_force(
        ...     "spring", magnitude="-50*x + push", direction=s.inertial.x, at=mass.origin
        ... )
        >>> sim = s.equations().compile(backend="python")
        >>> round(sim.equilibrium(parameters={"push": 10})["q(mass)"], 9)
        0.2
        >>> held = sim.equilibrium(free="push", fixed={"q(mass)": 1}, parameters={"push": 0})
        >>> round(held["push"], 9)
        50.0
        """
        from bellcrank.analysis.stability import find_stable_equilibrium

        settings = {
            "free": free,
            "fixed": fixed,
            "targets": targets,
            "parameters": parameters,
            "inputs": inputs,
        }
        return find_stable_equilibrium(self.analysis_context, at, guess, **settings, t=t)

    def equilibria(
        self,
        over: Any,
        values: Iterable[float],
        *,
        parameters: Parameters = None,
        inputs: Inputs = None,
        **options: Any,
    ) -> Equilibria:
        """Find equilibria over values of one quantity. Each search starts from the equilibrium
        before.

        Parameters
        ----------
        over : str or Expr
            The parameter, input or state that varies.
        values : iterable of float
            Its values in user units.
        parameters, inputs : mapping, optional
            Values of others by name, as of `simulate`.
        **options : Any
            `free`, `fixed`, `targets`, `at`, `t` and `guess` of `equilibrium`.

        Returns
        -------
        Equilibria
            Arrays over the values, by channel in user units; with `plot` and `save`.

        Raises
        ------
        NoEquilibrium
            If none is found for a value.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> spring = s.add_force(
        ...     "spring", magnitude="-50*x + push", direction=s.inertial.x, at=mass.origin
        ... )
        >>> s.set_defaults(push=0)
        >>> found = s.equations().compile(backend="python").equilibria("push", [0, 10, 20])
        >>> found["q(mass)"].round(9).tolist()
        [0.0, 0.2, 0.4]
        """
        from bellcrank.analysis.sweep import equilibrium_branch

        return equilibrium_branch(self.analysis_context, over, values, parameters, inputs, options)

    def linearize(
        self,
        at: Any = "equilibrium",
        *,
        wrt: Iterable[Any] | str | None = None,
        outputs: Iterable[Any] | str | None = None,
        parameters: Parameters = None,
        inputs: Inputs = None,
        states: Iterable[Any] | None = None,
        t: float = 0.0,
        guess: Values = None,
    ) -> LinearModel:
        """Linearize the model about an operating point: x' = A x + B w, y = C x + D w.

        Derivatives are exact. The states are reduced to independent ones.

        Parameters
        ----------
        at : optional
            Operating point: "equilibrium" (nearest to the initial state, the default), an
            Equilibrium, "start" (the initial state), values of states by name in user units, (q, u)
            in equation units, a time in s of the run that `simulate` makes, or (run, time).
        wrt : str or iterable, optional
            Inputs or parameters w: the columns of B and D. Default: all inputs.
        outputs : str or iterable, optional
            Outputs or states y: the rows of C and D. Default: all outputs.
        parameters, inputs : mapping, optional
            Values by name, as of `simulate`.
        states : iterable, optional
            States that stay independent if the constraints allow it. Default: chosen by Bellcrank.
        t : float, default 0.0
            Time in s at which inputs are evaluated.
        guess : mapping, optional
            Values by state from which the assembly of closed loops starts.

        Returns
        -------
        LinearModel
            Arrays `A`, `B`, `C`, `D` in user units and s, with `state_names`, `input_names`,
            `output_names`. `.motion` names the operating point, `.stability` says whether it is
            stable.

        Raises
        ------
        NoEquilibrium
            If there is no equilibrium near the initial state.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> push = s.add_input("push", units="N", default=0)
        >>> spring = s.add_force(
        ...     "spring", magnitude="-50*x + push", direction=s.inertial.x, at=mass.origin
        ... )
        >>> model = s.equations().compile(backend="python").linearize()
        >>> model.A.tolist(), model.B.tolist()
        ([[0.0, 1.0], [-25.0, 0.0]], [[0.0], [0.5]])
        """
        return self._linear_model(at, wrt, outputs, parameters, inputs, t, states, guess)

    def _linear_model(self, *arguments: Any, **options: Any) -> LinearModel:
        from bellcrank.analysis.linearize import linear_model

        return linear_model(self.analysis_context, *arguments, **options)

    def frequency_response(
        self,
        input: Any,
        output: Any,
        f: Any,
        *,
        at: Any = "equilibrium",
        parameters: Parameters = None,
        inputs: Inputs = None,
        guess: Values = None,
    ) -> Response:
        """Compute the response of a channel to a sine of an input, from the linear model.

        Parameters
        ----------
        input : str or Expr
            The input or parameter that oscillates.
        output : str or Expr
            The output or state.
        f : float or sequence of float
            Frequencies in Hz.
        at : optional
            Operating point, as of `linearize`. Default: "equilibrium".
        parameters, inputs, guess : mapping, optional
            As of `linearize`.

        Returns
        -------
        Response
            `.magnitude` (unit of the output per unit of the input), `.phase` in deg, and the
            complex values as an array.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> push = s.add_input("push", units="N", default=0)
        >>> spring = s.add_force(
        ...     "spring", magnitude="-50*x - 4*v + push", direction=s.inertial.x, at=mass.origin
        ... )
        >>> sim = s.equations().compile(backend="python")
        >>> sim.frequency_response("push", "q(mass)", [0.001, 10]).magnitude.round(6).tolist()
        [0.02, 0.000127]
        """
        model = self._linear_model(at, [input], [output], parameters, inputs, guess=guess)
        return model.frequency_response(input, output, f)

    def modes(
        self,
        at: Any = "equilibrium",
        *,
        parameters: Parameters = None,
        inputs: Inputs = None,
        guess: Values = None,
    ) -> Modes:
        """Compute eigenvalues with frequency, damping and mode shape. Coordinates on which nothing
        depends are omitted.

        Parameters
        ----------
        at : optional
            Operating point, as of `linearize`. Default: "equilibrium".
        parameters, inputs, guess : mapping, optional
            As of `linearize`.

        Returns
        -------
        Modes
            The modes, slowest first: `mode.eigenvalue` (1/s), `.frequency` and `.natural_frequency`
            (Hz), `.damping` (ratio), `.shape`.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> spring = s.add_force(
        ...     "spring", magnitude="-50*x - 4*v", direction=s.inertial.x, at=mass.origin
        ... )
        >>> (mode,) = s.equations().compile(backend="python").modes()
        >>> round(mode.natural_frequency, 4), round(mode.damping, 4)
        (0.7958, 0.2)
        """
        return self._linear_model(at, (), (), parameters, inputs, guess=guess).essential().modes

    def power_spectrum(
        self,
        output: Any,
        spectra: Mapping[str, Any],
        f: Any,
        *,
        by: SpectrumBy = "linear",
        at: Any = "equilibrium",
        parameters: Parameters = None,
        seed: int = 0,
        periods: int = 1,
    ) -> Spectrum:
        """Compute the one-sided power spectral density of a channel for independent random inputs.

        Parameters
        ----------
        output : str or Expr
            The output or state.
        spectra : mapping
            Density of each input, in (unit of the input)^2/Hz: a number, a function of f, or (f,
            values).
            `bc.road_spectrum` gives those of roads.
        f : sequence of float
            Frequencies in Hz.
        by : {"linear", "simulation"}, default "linear"
            Use the linear model, or simulate the nonlinear one with random phases.
        at : optional
            Operating point, as of `linearize`. Default: "equilibrium".
        parameters : mapping, optional
            Values by name, as of `simulate`.
        seed : int, default 0
            Seed of the random phases.
        periods : int, default 1
            Number of simulated periods that are averaged.

        Returns
        -------
        Spectrum
            `.f` in Hz, `.values` in (unit of the output)^2/Hz, and `.rms` over these frequencies.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> push = s.add_input("push", units="N", default=0)
        >>> spring = s.add_force(
        ...     "spring", magnitude="-50*x - 4*v + push", direction=s.inertial.x, at=mass.origin
        ... )
        >>> found = s.equations().compile(backend="python").power_spectrum(
        ...     "q(mass)", {"push": 25}, [0.001, 0.5]
        ... )
        >>> found.values.round(4).tolist()
        [0.01, 0.0233]
        """
        from bellcrank.analysis.spectra import power_spectrum

        return power_spectrum(
            self.analysis_context, output, spectra, f, by, at, parameters, seed, periods
        )

    def root_locus(
        self,
        over: Any,
        values: Iterable[float],
        *,
        at: Any = "equilibrium",
        parameters: Parameters = None,
        inputs: Inputs = None,
        model: Callable[..., Any] | None = None,
        **options: Any,
    ) -> RootLocus:
        """Compute eigenvalues over values of one quantity. Every value has its own steady motion.

        Parameters
        ----------
        over : str or Expr
            The parameter, input, state or output that varies, or an argument of `model`.
        values : iterable of float
            Its values in user units.
        at : optional
            Operating point, as of `linearize`, or a function of the value that returns one.
            Default: "equilibrium".
        parameters, inputs : mapping, optional
            Values of others by name, as of `simulate`.
        model : callable, optional
            A function that returns a System, called with `over` as argument.
        **options : Any
            `free`, `fixed` and `targets` of `equilibrium`.

        Returns
        -------
        RootLocus
            `.values`, and `.eigenvalues` in 1/s, a row for each value and a column for each branch.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> spring = s.add_force(
        ...     "spring", magnitude="-50*x - c*v", direction=s.inertial.x, at=mass.origin
        ... )
        >>> s.set_defaults(c=4)
        >>> locus = s.equations().compile(backend="python").root_locus("c", [0, 4, 8])
        >>> locus.growth.round(9).tolist()
        [0.0, -1.0, -2.0]
        """
        from bellcrank.analysis.sweep import root_locus

        return root_locus(
            self.analysis_context, over, values, at, parameters, inputs, options, model
        )

    def stability_chart(
        self,
        first: tuple[Any, Iterable[float]],
        second: tuple[Any, Iterable[float]],
        *,
        at: Any = "equilibrium",
        parameters: Parameters = None,
        inputs: Inputs = None,
        model: Callable[..., Any] | None = None,
        **options: Any,
    ) -> StabilityChart:
        """Compute the largest real part of all eigenvalues over two quantities.

        Parameters
        ----------
        first, second : (name, values)
            The two quantities that vary, with their values in user units.
        at, parameters, inputs, model : optional
            As of `root_locus`.
        **options : Any
            `free`, `fixed` and `targets` of `equilibrium`.

        Returns
        -------
        StabilityChart
            `.growth` in 1/s, a row for each value of the first; `.stable` where it is negative.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> spring = s.add_force(
        ...     "spring", magnitude="-k*x - c*v", direction=s.inertial.x, at=mass.origin
        ... )
        >>> s.set_defaults(k=50, c=4)
        >>> chart = s.equations().compile(backend="python").stability_chart(
        ...     ("c", [-4, 4]), ("k", [50, 100])
        ... )
        >>> chart.growth.round(9).tolist()
        [[1.0, 1.0], [-1.0, -1.0]]
        """
        from bellcrank.analysis.sweep import stability_chart

        return stability_chart(
            self.analysis_context, first, second, at, parameters, inputs, options, model
        )

    def inverse(
        self,
        q: Any,
        u: Any,
        udot: Any,
        t: Any = 0.0,
        *,
        forces: Iterable[Any] | str | None = None,
        parameters: Parameters = None,
        inputs: Inputs = None,
    ) -> InverseDynamics:
        """Compute the forces and torques that produce a motion.

        Parameters
        ----------
        q, u, udot : array_like
            Coordinates, speeds and accelerations in equation units (rad, consistent units): one
            state, or a row per time.
        t : float or array_like, default 0.0
            Time or times in s.
        forces : str or iterable, optional
            Forces and moments of the model whose magnitudes are unknown. Default: the generalized
            forces along all independent speeds that are needed besides those of the model.
        parameters, inputs : mapping, optional
            Values by name, as of `simulate`.

        Returns
        -------
        InverseDynamics
            Magnitudes by name in user units, arrays over time for a trajectory.

        Raises
        ------
        RunError
            If the forces cannot produce the motion.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("cart")
        >>> cart = s.add_body("cart", translate="x", mass=2, inertia=0)
        >>> motor = s.add_force("motor", magnitude=0, direction=s.inertial.x, at=cart.origin)
        >>> sim = s.equations().compile(backend="python")
        >>> float(sim.inverse([0], [0], [3], forces="motor")["motor"])
        6.0
        """
        from bellcrank.analysis.inverse_dynamics import inverse_dynamics

        return inverse_dynamics(self.analysis_context, q, u, udot, t, forces, parameters, inputs)

    def sensitivity(
        self,
        wrt: Iterable[Any] | str,
        outputs: Iterable[Any] | str | None = None,
        *,
        t_end: float | None = None,
        step: float | None = None,
        method: Method | None = None,
        parameters: Parameters = None,
        initial: Values = None,
        inputs: Inputs = None,
        check: bool = False,
        output_every: int | None = None,
        guess: Values = None,
    ) -> Sensitivity:
        """Compute derivatives of a run with respect to parameters.

        Parameters
        ----------
        wrt : str or iterable
            The parameters.
        outputs : str or iterable, optional
            Outputs or states to differentiate. Default: all outputs.
        t_end, step, method, parameters, initial, inputs, output_every, guess : optional
            The run, as of `simulate`. Methods have fixed steps.
        check : bool, default False
            Compare with central differences of runs (`.checked`).

        Returns
        -------
        Sensitivity
            `found["az", "k"]` is an array over `found.time`, in the unit of the channel per unit of
            the parameter.

        Raises
        ------
        ModelError
            If a name is unknown.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("ball")
        >>> ball = s.add_point_mass("ball", translate="z", mass=1)
        >>> s.add_gravity((0, 0, -1), g="g")
        >>> found = s.equations().compile(backend="python").sensitivity(
        ...     "g", "q(ball)", t_end=1, step=0.1
        ... )
        >>> found["q(ball)", "g"].round(6)[-1].item()
        -0.5
        """
        from bellcrank.analysis.run_sensitivity import sensitivity

        run = (
            t_end,
            step,
            method,
            parameters,
            with_guess(initial, guess),
            inputs,
            check,
            output_every,
        )
        return sensitivity(self.analysis_context, wrt, outputs, *run)
