"""A deck as data: the calls on a System that it stands for, and the System they make."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bellcrank.api.equations import Equations
from bellcrank.api.system import System
from bellcrank.choices import Units
from bellcrank.core.errors import ModelError, ModelWarning

UNSET = 1.0
"""The value AUTOSIM gives to every parameter that is never set (Sayers 1990, Appendix A.3,
set-defaults)."""

KINDS = {
    "add_body": "body",
    "add_point": "point",
    "add_force": "force",
    "add_strut": "strut",
    "add_moment": "moment",
    "add_constraint": "constraint",
    "add_output": "output",
    "define": "definition",
    "add_external": "external",
}


@dataclass(frozen=True)
class DeckFunction:
    """A user function of a deck: a Python function, and its texts in C and Fortran, if there are
    any."""

    python: Callable[..., Any] | None = None
    c: str | None = None
    fortran: str | None = None


Routines = Mapping[str, DeckFunction | Callable[..., Any]]
"""User functions of a deck by lower-case name."""


@dataclass(frozen=True)
class SystemCall:
    """One call of a method of System; `comment` is for readers of the Python model, `place` is that
    in the deck."""

    method: str
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    comment: str = ""
    place: str = ""

    @property
    def message_subject(self) -> str:
        """What the problems of a model call that which the call has made."""
        name = self.args[0] if self.args else ""
        return f"{KINDS[self.method]} '{name}'" if self.method in KINDS else ""


@dataclass
class Deck:
    """What a deck says: the head of the System and all calls on it, in order."""

    title: str
    units: Units
    calls: list[SystemCall] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    """What a person should know: values for symbols that do not exist, settings without effect."""

    def system(self) -> DeckSystem:
        """A new System, described by the calls."""
        system = DeckSystem(self.title, units=self.units)
        for call in self.calls:
            apply_call(call, system)
        system.places = {
            call.message_subject: call.place
            for call in self.calls
            if call.message_subject and call.place
        }
        return system


def apply_call(call: SystemCall, system: System) -> None:
    """Makes a call on a System."""
    getattr(system, call.method)(*call.args, **call.options)


class DeckSystem(System):
    """A System whose parameters without a value are 1, with a warning each, as in AUTOSIM.

    `places` reports where in the deck something comes from, for the problems of the model.
    """

    def __init__(self, name: str, units: Units) -> None:
        super().__init__(name, units=units)
        self.places: dict[str, str] = {}

    def equations(self, *args: Any, **options: Any) -> Equations:
        """Derives the equations of motion; see `System.equations`."""
        for record in self.description.parameters.values():
            record.declared = (
                True  # names that nothing uses have been reported with their place in the deck
            )
        try:
            result = super().equations(*args, **options)
        except ModelError as error:
            raise ModelError(
                [self._with_deck_line(p) for p in error.problems], error.model
            ) from None
        for name in parameters_without_value(self, result):
            self.set_defaults({name: UNSET})
            warnings.warn(
                f"parameter '{name}' has no value: {UNSET:g} is used", ModelWarning, stacklevel=2
            )
        result.analysis.mechanism.description.parameters.update(
            self.description.snapshot().parameters
        )
        return result

    def _with_deck_line(self, problem: str) -> str:
        head = problem.split("\n")[0]
        location = next(
            (location for subject, location in self.places.items() if subject in head), None
        )
        return problem if location is None else f"{location}: {problem}"


def parameters_without_value(system: System, equations: Equations) -> list[str]:
    """Parameters that the equations use and that have no value."""
    valued = {
        key for key, record in system.description.parameters.items() if record.value is not None
    }
    return [name for name in equations.parameters if name.lower() not in valued]
