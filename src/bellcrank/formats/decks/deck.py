"""A deck as data: the calls on a System that it stands for, and the System they make."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bellcrank.api.equations import Equations
from bellcrank.api.system import System
from bellcrank.errors import ModelWarning

UNSET = 1.0
"""The value AUTOSIM gives to every parameter that is never set (Sayers 1990, Appendix A.3, set-defaults)."""

Routines = Mapping[str, Callable[..., Any]]
"""External routines of a deck by lower-case name."""


@dataclass(frozen=True)
class Call:
    """One call of a method of System; `comment` is what a reader of the Python model should know."""

    method: str
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    comment: str = ""


@dataclass
class Deck:
    """What a deck says: the head of the System and all calls on it, in order."""

    title: str
    units: str
    calls: list[Call] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    """What a person should know: values for symbols that do not exist, settings without effect."""

    def system(self) -> DeckSystem:
        """A new System, described by the calls."""
        system = DeckSystem(self.title, units=self.units)
        for call in self.calls:
            apply(call, system)
        return system


def apply(call: Call, system: System) -> None:
    """Makes a call on a System."""
    getattr(system, call.method)(*call.args, **call.options)


class DeckSystem(System):
    """A System whose parameters without a value are 1, with a warning each, as in AUTOSIM."""

    def equations(self, *args: Any, **options: Any) -> Equations:
        """Derives the equations of motion; see `System.equations`."""
        result = super().equations(*args, **options)
        for name in unset(self, result):
            self.set_defaults({name: UNSET})
            warnings.warn(f"parameter '{name}' has no value: {UNSET:g} is used", ModelWarning, stacklevel=2)
        return result


def unset(system: System, equations: Equations) -> list[str]:
    """Parameters that the equations use and that have no value."""
    known = {key for key, record in system.description.parameters.items() if record.value is not None}
    return [name for name in equations.parameters if name.lower() not in known]
