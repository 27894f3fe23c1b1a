"""The analyses of a simulation as its methods: each is imported when it is first used, as most runs need none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bellcrank.choices import Method, SpectrumBy
from bellcrank.derive.derived import Derived
from bellcrank.kinds import Checked
from bellcrank.model.guess import with_guess
from bellcrank.run.evaluate import Inputs, Parameters
from bellcrank.run.loaded import Loaded
from bellcrank.run.result import Run

if TYPE_CHECKING:
    from bellcrank.analysis.equilibrium import Equilibrium
    from bellcrank.analysis.inverse import InverseDynamics
    from bellcrank.analysis.linear import LinearModel
    from bellcrank.analysis.locus import Equilibria, RootLocus, StabilityChart
    from bellcrank.analysis.modes import Modes
    from bellcrank.analysis.plant import Plant
    from bellcrank.analysis.response import Response, Spectrum
    from bellcrank.analysis.sensitivity import Sensitivity

Values = Mapping[Any, float | str] | None


class Analyses(Checked):
    """What a simulation reports besides time histories. Values in user units unless a method says otherwise."""

    internals = ("derived", "loaded", "plant")
    loaded: Loaded
    derived: Derived
    simulate: Callable[..., Run]

    @cached_property
    def plant(self) -> Plant:
        """The model as the analyses see it."""
        from bellcrank.analysis.plant import Plant

        return Plant(self.loaded, self.derived, self.simulate)

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
        """The static equilibrium or steady motion nearest to the start of the run, values in user units.

        A model that starts moving has a steady motion at that speed. `free`: parameters or inputs that are unknown
        too (preloads, a driving moment); `fixed`: states, inputs or parameters that are held, by name with or without
        a value; `targets`: values that outputs, states or formulas over them shall have. `at`: where the search
        starts, as of `linearize`, with its `guess`. `.motion` says in words what was found, `.stability` whether it is
        stable, `.moved` how far it is from there. Raises NoEquilibrium if there is none.

        The nearest one is that in whose region of convergence (Newton's method) the start lies, stable or not; if it
        lies in none, the one to which strongly damped motion from rest leads. Angles move by less than a turn.
        """
        from bellcrank.analysis.stability import equilibrium

        asked = {"free": free, "fixed": fixed, "targets": targets, "parameters": parameters, "inputs": inputs}
        return equilibrium(self.plant, at, guess, **asked, t=t)

    def equilibria(
        self,
        over: Any,
        values: Iterable[float],
        *,
        parameters: Parameters = None,
        inputs: Inputs = None,
        **options: Any,
    ) -> Equilibria:
        """Equilibria over values of one parameter, input or state (user units); options as of `equilibrium`."""
        from bellcrank.analysis.sweep import equilibria

        return equilibria(self.plant, over, values, parameters, inputs, options)

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
        """A, B, C, D of small movements about a point, exact, in user units, reduced to independent states.

        `at`: "equilibrium" (nearest to the initial state, the default), one that was found, "start" (the initial
        state), values of states by name, (q, u) in equation units, a time of the run in s, or (run, time) of one that
        was made. `guess`: values of states that closed loops determine, from which these are assembled at the initial
        state or at values by name. `wrt`: names of inputs or parameters, the columns of B and D (default: all inputs);
        `outputs`: names of outputs or states (default: all outputs); `parameters`, `inputs`: values by name, as of
        `simulate`; `states`: those that stay independent if constraints allow. Any point is allowed; `motion` names
        it, `stability` says if it is stable.
        """
        return self._linear(at, wrt, outputs, parameters, inputs, t, states, guess)

    def _linear(self, *asked: Any, **options: Any) -> LinearModel:
        from bellcrank.analysis.linearise import linear_model

        return linear_model(self.plant, *asked, **options)

    def frequency_response(
        self, input: Any, output: Any, f: Any, *, at: Any = "equilibrium", parameters: Parameters = None,
        inputs: Inputs = None, guess: Values = None,
    ) -> Response:  # fmt: skip
        """Complex response of an output (or state) to a sine of an input (or parameter) over frequencies f in Hz."""
        model = self._linear(at, [input], [output], parameters, inputs, guess=guess)
        return model.frequency_response(input, output, f)

    def modes(
        self, at: Any = "equilibrium", *, parameters: Parameters = None, inputs: Inputs = None, guess: Values = None
    ) -> Modes:
        """Eigenvalues with frequency, damping and shape, without coordinates on which nothing depends."""
        return self._linear(at, (), (), parameters, inputs, guess=guess).essential().modes

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
        """One-sided power spectral density of a channel for independent random inputs, over f in Hz.

        `spectra`: density of every input, a function of f, (f, values) or a number, in (unit of the input)^2/Hz;
        bc.road_spectrum gives those of roads. `by`: "linear" model or "simulation" of the model as it is, with random
        phases; `periods` are then averaged.
        """
        from bellcrank.analysis.spectra import power_spectrum

        return power_spectrum(self.plant, output, spectra, f, by, at, parameters, seed, periods)

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
        """Eigenvalues over values of a parameter, input, state or output; `at` may be a function of the value.

        Every value has its own steady motion; free=, fixed=, targets= as of `equilibrium`. With `model`, a function
        that gives a System, `over` may be one of its arguments.
        """
        from bellcrank.analysis.sweep import root_locus

        return root_locus(self.plant, over, values, at, parameters, inputs, options, model)

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
        """Largest real part of all eigenvalues over two quantities, each given as (name, values); as `root_locus`."""
        from bellcrank.analysis.sweep import stability_chart

        return stability_chart(self.plant, first, second, at, parameters, inputs, options, model)

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
        """Forces and torques that produce a motion: one state (as of `derivatives`), or arrays with one row per time t.

        `forces`: forces and moments of the model whose magnitudes are sought instead of their laws; without, the
        generalised forces along all independent speeds that are needed besides those of the model.
        """
        from bellcrank.analysis.inverse_dynamics import inverse_dynamics

        return inverse_dynamics(self.plant, q, u, udot, t, forces, parameters, inputs)

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
        """Derivatives of a run with respect to parameters: `s["Ay", "ca1"]` over time, in user units.

        `wrt`: names of the parameters to differentiate by. Run options as of `simulate`; `parameters` are values.
        `check` compares with central differences of runs (`s.checked`).
        """
        from bellcrank.analysis.run_sensitivity import sensitivity

        run = t_end, step, method, parameters, with_guess(initial, guess), inputs, check, output_every
        return sensitivity(self.plant, wrt, outputs, *run)
