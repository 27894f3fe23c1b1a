"""A derivation led by hand, step by step, and what it leads to.

In:  frames, points, speeds, forces, in the order a person would write them down. Out: `Equations`, the same object that
`System.equations()` gives. Units are the user's own and consistent (angles in rad); `units=` texts are labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bellcrank.errors import ModelError, did_you_mean
from bellcrank.expr import Expr
from bellcrank.kane.declared import RUN
from bellcrank.kane.derived import derive_by_hand
from bellcrank.kane.equations import KaneEquations
from bellcrank.kane.linear import Linear, linearized
from bellcrank.kane.steps import Steps
from bellcrank.names import find_name


class Derivation(Steps):
    """A workspace: what has been said so far, and the questions that can be asked of it."""

    def __repr__(self) -> str:
        u, q = len(self.scalars.independent), len(self.scalars.coordinates)
        return f"Derivation({self.name!r}: {len(self.machine.bodies)} bodies, {q} coordinates, {u} independent speeds)"

    def set_potential_energy(self, value: Any) -> Expr:
        """The potential energy, for the energy channel of runs and for `check`."""
        self.potential_energy = self.scalar(value)
        return self.potential_energy

    def output(self, name: str, value: Any, units: str = "", label: str | None = None) -> None:
        """A further channel; accelerations (u1') are allowed."""
        if name in self.notes.channels or (name in self.scalar_names and self.symbol(name).kind != "defined"):
            raise ModelError(f"the channel '{name}' exists already")
        self.notes.channels[name] = self.scalar(value)
        self.notes.channel_words[name] = (units, label or name)

    def add_outputs(self, *groups: str) -> None:
        """Channels in groups: "energy" (potential too if given), "momentum" (linear p1.., central angular h1..)."""
        for group in groups:
            if group not in ("energy", "momentum"):
                raise ModelError(f"outputs '{group}' are not known.{did_you_mean(group, ('energy', 'momentum'))}")
            self.notes.groups.append(group)

    def set_defaults(self, **values: float) -> None:
        """Values of constants."""
        listed = [s.name for s in self.scalars.constants]
        found = {name: find_name(name, listed, "constant") for name in values}
        if unknown := [name for name, known in found.items() if known is None]:
            raise ModelError([f"no constant has the name '{n}'.{did_you_mean(n, listed)}" for n in unknown])
        self.notes.values.update({known: float(values[name]) for name, known in found.items() if known is not None})

    def set_labels(self, **labels: str) -> None:
        """Words that a person reads, for constants, coordinates, speeds and named quantities."""
        self.notes.labels.update({self.symbol(name).name: str(text) for name, text in labels.items()})

    def set_units(self, **units: str) -> None:
        """Units as a person reads them. Values are taken as they are: units must be consistent, angles in rad."""
        self.notes.units.update({self.symbol(name).name: str(text) for name, text in units.items()})

    def set_run(self, **options: Any) -> None:
        """Defaults of runs, as in System.set_run: t_end, step, method, output_every, initial, inputs."""
        for name, value in options.items():
            if name not in RUN:
                raise ModelError(f"set_run({name}=...) is not known.{did_you_mean(name, RUN)} Known: {', '.join(RUN)}.")
            setattr(self.notes.run, name, dict(value) if name in ("initial", "inputs") else value)

    def equations(self, solve: str = "auto", optimise: str = "default") -> KaneEquations:
        """The equations of motion: counts, code, runs."""
        return KaneEquations(derive_by_hand(self, solve, optimise))

    def linearize(self, at: Mapping[Any, Any] | None = None, *, wrt: Iterable[Any] | None = None) -> Linear:
        """Equations for small deviations from a state, in symbols. `at`: values of states and inputs, others zero;
        `wrt`: what may deviate too, inputs and constants (default: all inputs)."""
        return linearized(self, at or {}, wrt)
