"""The analyses of a simulation as its methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from bellcrank.analysis.equilibrium import Equilibrium
from bellcrank.analysis.find_equilibrium import find_equilibrium
from bellcrank.analysis.inverse import InverseDynamics
from bellcrank.analysis.inverse_dynamics import inverse_dynamics
from bellcrank.analysis.linear import LinearModel
from bellcrank.analysis.linearise import check_frequencies, linear_model
from bellcrank.analysis.locus import Equilibria, RootLocus, StabilityChart
from bellcrank.analysis.plant import Plant
from bellcrank.analysis.response import Response, Spectrum
from bellcrank.analysis.run_sensitivity import sensitivity
from bellcrank.analysis.sensitivity import Sensitivity
from bellcrank.analysis.spectra import power_spectrum
from bellcrank.analysis.sweep import equilibria, root_locus, stability_chart
from bellcrank.derive.derived import Derived
from bellcrank.run.evaluate import Inputs, Parameters
from bellcrank.run.loaded import Loaded
from bellcrank.run.result import Run


class Analyses:
    """What a simulation tells besides time histories. Values in user units unless a method says otherwise."""

    loaded: Loaded
    derived: Derived
    simulate: Callable[..., Run]

    @cached_property
    def plant(self) -> Plant:
        """The model as the analyses see it."""
        return Plant(self.loaded, self.derived, self.simulate)

    def equilibrium(
        self,
        free: Iterable[Any] | str | None = None,
        fixed: Mapping[Any, float] | Iterable[Any] | str | None = None,
        targets: Mapping[Any, float] | None = None,
        start: Mapping[Any, float] | None = None,
        parameters: Parameters = None,
        inputs: Inputs = None,
        t: float = 0.0,
    ) -> Equilibrium:
        """The static equilibrium or steady motion nearest to the start of the run, values in user units.

        `free`: parameters or inputs that are unknown too (preloads, ride heights); `fixed`: states, inputs or
        parameters that are held, by name with or without a value; `targets`: values that outputs or states shall
        have. Raises NoEquilibrium if there is none.
        """
        return find_equilibrium(self.plant, free, fixed, targets, start, parameters, inputs, t)

    def equilibria(
        self, over: Any, values: Iterable[float], parameters: Parameters = None, inputs: Inputs = None, **options: Any
    ) -> Equilibria:
        """Equilibria over values of one parameter, input or state (user units); options as of `equilibrium`."""
        return equilibria(self.plant, over, values, parameters, inputs, **options)

    def linearize(
        self,
        at: Any = None,
        inputs: Iterable[Any] | Mapping[str, float] | str | None = None,
        outputs: Iterable[Any] | str | None = None,
        parameters: Parameters = None,
        states: Iterable[Any] | None = None,
        t: float = 0.0,
    ) -> LinearModel:
        """A, B, C, D of small movements about a point, exact, in user units, reduced to independent states.

        `at`: an equilibrium, "equilibrium" (found first), values of states by name, (q, u) in equation units, or
        nothing for the start of the run. `inputs`: names of inputs or parameters (default: all inputs), with values
        where they are to be set; `outputs`: names of outputs or states (default: all outputs); `states`: those that
        stay independent if constraints allow. A point that is no equilibrium is allowed; `notes` says so.
        """
        return linear_model(self.plant, at, inputs, outputs, parameters, None, t, states)

    def frequency_response(
        self, input: Any, output: Any, f: Any, at: Any = "equilibrium", parameters: Parameters = None
    ) -> Response:
        """Complex response of an output (or state) to a sine of an input (or parameter) over frequencies f in Hz."""
        frequencies = check_frequencies(f)
        return linear_model(self.plant, at, [input], [output], parameters).frequency_response(
            input, output, frequencies
        )

    def power_spectrum(
        self,
        output: Any,
        spectra: Mapping[str, Any],
        f: Any,
        by: str = "linear",
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
        return power_spectrum(self.plant, output, spectra, f, by, at, parameters, seed, periods)

    def root_locus(
        self,
        over: Any,
        values: Iterable[float],
        at: Any = "equilibrium",
        parameters: Parameters = None,
        inputs: Inputs = None,
    ) -> RootLocus:
        """Eigenvalues over values of a parameter, input or state; `at` may be a function of the value."""
        return root_locus(self.plant, over, values, at, parameters, inputs)

    def stability_chart(
        self,
        first: tuple[Any, Iterable[float]],
        second: tuple[Any, Iterable[float]],
        at: Any = "equilibrium",
        parameters: Parameters = None,
        inputs: Inputs = None,
    ) -> StabilityChart:
        """Largest real part of all eigenvalues over two quantities, each given as (name, values)."""
        return stability_chart(self.plant, first, second, at, parameters, inputs)

    def inverse(
        self,
        q: Any,
        u: Any,
        udot: Any,
        t: Any = 0.0,
        forces: Iterable[Any] | str | None = None,
        parameters: Parameters = None,
        inputs: Inputs = None,
    ) -> InverseDynamics:
        """Forces and torques that produce a motion: one state (as of `derivatives`), or arrays with one row per time t.

        `forces`: forces and moments of the model whose magnitudes are sought instead of their laws; without, the
        generalised forces along all independent speeds that are needed besides those of the model.
        """
        return inverse_dynamics(self.plant, q, u, udot, t, forces, parameters, inputs)

    def sensitivity(
        self,
        parameters: Iterable[Any] | str,
        outputs: Iterable[Any] | str | None = None,
        t_end: float | None = None,
        step: float | None = None,
        method: str | None = None,
        values: Parameters = None,
        initial: Mapping[Any, float] | None = None,
        inputs: Inputs = None,
        check: bool = False,
    ) -> Sensitivity:
        """Derivatives of a run with respect to parameters: `s["Ay", "ca1"]` over time, in user units.

        Run options as of `simulate`; `values` sets parameters; `check` compares with central differences of runs
        (`s.checked`).
        """
        return sensitivity(self.plant, parameters, outputs, t_end, step, method, values, initial, inputs, check)
