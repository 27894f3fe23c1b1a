"""A derivation led by hand, step by step, and what it leads to.

In:  frames, points, speeds, forces, in the order a person would write them down. Out: `Equations`,
the same object that `System.equations()` gives. Units are the user's own and consistent (angles in
rad); `units=` texts are labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.name_lookup import find_name
from bellcrank.kane.declarations import RUN
from bellcrank.kane.derived import derive_hand_led
from bellcrank.kane.equations import KaneEquations
from bellcrank.kane.linearized_equations import Linear, linearize_derivation
from bellcrank.kane.steps import DerivationSteps
from bellcrank.symbolic.expr import Expr


class Derivation(DerivationSteps):
    """A derivation of equations of motion by Kane's method, step by step.

    Arguments take objects or their names; vectors and expressions also as text ("la*u1*A2"). The
    newtonian frame is
    `d.newtonian`, N.

    Parameters
    ----------
    name : str, default "hand-led derivation"
        Name of the model.
    autoz : bool, default False
        Name intermediate results Z1, Z2, ... as they arise?
    capitals : bool, default True
        Do names differ by case?

    Examples
    --------
    >>> from bellcrank.kane import Derivation
    >>> d = Derivation("pendulum")
    >>> N, A = d.newtonian, d.body("A", inertia=0)
    >>> (q,), (u,), (l, g) = d.coordinates("q"), d.speeds("u"), d.constants("l g")
    >>> table = d.rotate(N, A, 3, q)
    >>> d.set_rate(q, u)
    u
    >>> (O,) = d.points("O")
    >>> d.set_velocity(O, N, 0)
    0
    >>> d.set_position(O, A.cm, l * A[1])
    l*A1
    >>> d.v2pts(N, A, O, A.cm)
    l*u*A2
    >>> d.gravity(g * N[1])
    >>> d.equations().forces
    [-g*l*mA*sin(q)]
    """

    def __repr__(self) -> str:
        u, q = len(self.scalars.independent_speeds), len(self.scalars.coordinates)
        return (
            f"Derivation({self.name!r}: {len(self.machine.bodies)} bodies, {q} coordinates, {u} "
            f"independent speeds)"
        )

    def set_potential_energy(self, value: Any) -> Expr:
        """Define the potential energy, for the energy channel of runs and for `check`.

        Parameters
        ----------
        value : ScalarLike
            The energy.

        Returns
        -------
        Expr
            The energy.
        """
        self.potential_energy = self.scalar(value)
        return self.potential_energy

    def output(self, name: str, value: Any, units: str = "", label: str | None = None) -> None:
        """Add a channel.

        Parameters
        ----------
        name : str
            Name.
        value : ScalarLike
            The quantity; accelerations (u1') are allowed.
        units : str, default ""
            Units.
        label : str, optional
            Description.
        """
        if name in self.notes.channels or (
            name in self.scalar_names and self.symbol(name).kind != "defined"
        ):
            raise ModelError(f"the channel '{name}' exists already")
        self.notes.channels[name] = self.scalar(value)
        self.notes.channel_words[name] = (units, label or name)

    def add_outputs(self, *groups: str) -> None:
        """Add groups of channels.

        Parameters
        ----------
        groups : str
            "energy" (potential energy too if it was given), "momentum" (linear p1 ..., central
            angular h1 ...).
        """
        for group in groups:
            if group not in ("energy", "momentum"):
                raise ModelError(
                    f"outputs '{group}' are not known.{did_you_mean(group, ('energy', 'momentum'))}"
                )
            self.notes.groups.append(group)

    def set_defaults(self, **values: float) -> None:
        """Set values of constants.

        Parameters
        ----------
        values : float
            Values by name, in consistent units.
        """
        listed = [s.name for s in self.scalars.constants]
        constants = {name: find_name(name, listed, "constant") for name in values}
        if unknown := [name for name, constant in constants.items() if constant is None]:
            raise ModelError(
                [f"no constant has the name '{n}'.{did_you_mean(n, listed)}" for n in unknown]
            )
        self.notes.values.update(
            {
                constant: float(values[name])
                for name, constant in constants.items()
                if constant is not None
            }
        )

    def set_labels(self, **labels: str) -> None:
        """Describe constants, coordinates, speeds and named quantities.

        Parameters
        ----------
        labels : str
            Descriptions by name.
        """
        self.notes.labels.update(
            {self.symbol(name).name: str(text) for name, text in labels.items()}
        )

    def set_units(self, **units: str) -> None:
        """Name units. Values are not converted: units must be consistent, angles in rad.

        Parameters
        ----------
        units : str
            Units by name.
        """
        self.notes.units.update({self.symbol(name).name: str(text) for name, text in units.items()})

    def set_run(self, **options: Any) -> None:
        """Set defaults of runs.

        Parameters
        ----------
        options : optional
            As of `System.set_run`: t_end, step, method, output_every, initial, inputs.
        """
        for name, value in options.items():
            if name not in RUN:
                raise ModelError(
                    f"set_run({name}=...) is not known.{did_you_mean(name, RUN)} Known: "
                    f"{', '.join(RUN)}."
                )
            setattr(self.notes.run, name, dict(value) if name in ("initial", "inputs") else value)

    def equations(self, solve: str = "auto", optimise: str = "default") -> KaneEquations:
        """Derive the equations of motion.

        Parameters
        ----------
        solve : str, default "auto"
            As of `System.equations`.
        optimise : str, default "default"
            As of `System.equations`.

        Returns
        -------
        KaneEquations
            An `Equations` object: counts, code, runs.
        """
        return KaneEquations(derive_hand_led(self, solve, optimise))

    def linearize(
        self, at: Mapping[Any, Any] | None = None, *, wrt: Iterable[Any] | None = None
    ) -> Linear:
        """Derive equations for small deviations from a state, in symbols.

        Parameters
        ----------
        at : mapping, optional
            Values of states and inputs. Default: zero.
        wrt : iterable, optional
            Inputs and constants that may deviate, too. Default: all inputs.

        Returns
        -------
        Linear
            The matrices.
        """
        return linearize_derivation(self, at or {}, wrt)
