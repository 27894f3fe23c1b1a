"""What all vehicles share: a wheel with its contact, springs by name, and the sentences about wrong values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bellcrank.api.system import System
from bellcrank.describe.contacts import Contact
from bellcrank.describe.handles import BodyHandle


@dataclass(frozen=True)
class PartialVehicle:
    """A quarter of a car, half of a motorcycle: its bodies and its contact with the ground."""

    name: str
    rim: BodyHandle
    chassis: BodyHandle
    contact: Contact


def touch(s: System, name: str, **options: Any) -> Contact:
    contact = s.add_contact(name, **options)
    assert isinstance(contact, Contact)  # all wheels here have tyres
    return contact


def problems_of(contact: Any, masses: dict[str, Any], pairs: dict[str, Any]) -> list[str]:
    found = []
    if contact is not None and contact != 0:
        found.append(f"contact={contact!r}: the contact point has no mass, contact must be 0")
    found += [f"{key}={m!r}: the mass must be positive" for key, m in masses.items() if is_number(m) and not m > 0]
    for key, pair in pairs.items():
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            found.append(f"{key}={pair!r} must be two values, of tyre and suspension")
        elif any(is_number(v) and not (v > 0 if key == "length" else v >= 0) for v in pair):
            found.append(f"{key}={pair!r} must be {'positive' if key == 'length' else 'zero or positive'}")
    return found


def is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def strut(k: Any, c: Any, length: Any) -> str:
    return f"({k})*(({length}) - x) - ({c})*v"


def set_springs(
    s: System, rim: float, k: Sequence[float], c: Sequence[float], length: Sequence[float], roll: float
) -> None:
    s.set_defaults(m_rim=rim, k_tyre=k[0], k_strut=k[1], c_tyre=c[0], c_strut=c[1], l_tyre=length[0], l_strut=length[1])
    s.set_defaults(c_roll=roll)
    s.set_units(c_roll="F*T/L", k_tyre="F/L", k_strut="F/L", c_tyre="F*T/L", c_strut="F*T/L")
