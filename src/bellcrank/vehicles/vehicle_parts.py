"""What all vehicles share: the partial vehicle, a wheel with its contact, springs by name, words
for wrong values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bellcrank.api.system import System
from bellcrank.core.errors import ModelError
from bellcrank.model.describe.contacts import Tyre
from bellcrank.model.describe.handles import BodyHandle
from bellcrank.vehicles.terrain.terrain import Terrain, flat


@dataclass(frozen=True)
class PartialVehicle:
    """A quarter of a car or half of a motorcycle, as `partial_vehicle` returns it.

    Attributes
    ----------
    name : str
        Name.
    rim, chassis : BodyHandle
        Its two bodies.
    contact : Contact
        Its contact with the ground.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("quarter car", axes="ISO 8855")
    >>> s.add_gravity()
    >>> part = bc.vehicles.partial_vehicle(
    ...     s, "corner", rim=40, chassis=300, k=(2e5, 25e3), length=(0.3, 0.4)
    ... )
    >>> part.rim.name, part.chassis.name
    ('corner.rim', 'corner.chassis')
    """

    name: str
    rim: BodyHandle
    chassis: BodyHandle
    contact: Any  # a `Contact`: all wheels here have tyres


def add_tyre_contact(
    s: System,
    name: str,
    rim: Any,
    chassis: Any,
    terrain: Terrain | None,
    slip: Any = None,
    **acting: Any,
) -> PartialVehicle:
    """A rim set on the ground by a tyre with the parameters of `set_suspension_defaults`."""
    contact = s.add_contact(
        f"{name}.tyre",
        at=rim,
        radius="l_tyre",
        terrain=terrain or flat(),
        tyre=Tyre("k_tyre", "c_tyre", slip),
        rolling_resistance="c_roll",
        **acting,
    )
    return PartialVehicle(name, rim, chassis, contact)


def mass_and_pair_problems(masses: dict[str, Any], pairs: dict[str, Any]) -> list[str]:
    problems = [
        f"{key}={m!r}: the mass must be positive"
        for key, m in masses.items()
        if is_number(m) and not m > 0
    ]
    for key, pair in pairs.items():
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            problems.append(f"{key}={pair!r} must be two values, of tyre and suspension")
        elif any(is_number(v) and not (v > 0 if key == "length" else v >= 0) for v in pair):
            problems.append(
                f"{key}={pair!r} must be {'positive' if key == 'length' else 'zero or positive'}"
            )
    return problems


def is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def strut_force_formula(k: Any, c: Any, length: Any) -> str:
    return f"({k})*(({length}) - x) - ({c})*v"


def set_suspension_defaults(
    s: System,
    rim: float,
    k: Sequence[float],
    c: Sequence[float],
    length: Sequence[float],
    roll: float,
) -> None:
    s.set_defaults(
        m_rim=rim,
        k_tyre=k[0],
        k_strut=k[1],
        c_tyre=c[0],
        c_strut=c[1],
        l_tyre=length[0],
        l_strut=length[1],
    )
    s.set_defaults(c_roll=roll)
    s.set_units(c_roll="F*T/L", k_tyre="F/L", k_strut="F/L", c_tyre="F*T/L", c_strut="F*T/L")


def partial_vehicle(
    s: System,
    name: str,
    *,
    at: Any = 0,
    contact: Any = 0,
    rim: Any,
    chassis: Any,
    k: Sequence[Any],
    c: Sequence[Any] = (0, 0),
    length: Sequence[Any],
    terrain: Terrain | None = None,
    rolling_resistance: Any = 0,
    drive: Any = 0,
    translate: Any = (1, 3),
) -> PartialVehicle:
    """Add a wheel and a chassis part as two point masses over a contact point.

    Parameters
    ----------
    s : System
        The model.
    name : str
        Name, the first part of the names of both bodies.
    at : ScalarLike or triple, default 0
        Position of the contact point: x, or (x, y, z).
    contact : {0}, default 0
        Mass of the contact point, which has none.
    rim, chassis : ScalarLike
        Masses of wheel and chassis part.
    k, c, length : pair of ScalarLike
        Stiffness, damping (default 0) and free length of tyre and suspension.
    terrain : Terrain, optional
        The ground. Default: flat.
    rolling_resistance : ScalarLike, default 0
        Resistance per rolling speed (force per speed).
    drive : ScalarLike, default 0
        Force that pushes the wheel along the ground.
    translate : axes, default (1, 3)
        Axes along which both masses move.

    Returns
    -------
    PartialVehicle
        Bodies and contact.

    Raises
    ------
    ModelError
        If a value is not allowed.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("quarter car", axes="ISO 8855")
    >>> s.add_gravity()
    >>> part = bc.vehicles.partial_vehicle(
    ...     s, "corner", rim=40, chassis=300, k=(2e5, 25e3), length=(0.3, 0.4)
    ... )
    >>> [str(q) for q in s.equations().coordinates]
    ['q(corner.rim, 1)', 'q(corner.rim, 2)', 'q(corner.chassis, 1)', 'q(corner.chassis, 2)']
    """
    position = tuple(at) if isinstance(at, tuple | list) else (at, 0, 0)
    problems = mass_and_pair_problems(
        {"rim": rim, "chassis": chassis}, {"k": k, "c": c, "length": length}
    )
    if contact is not None and contact != 0:
        problems.insert(0, f"contact={contact!r}: the contact point has no mass, contact must be 0")
    if len(position) != 3:
        problems.append(f"at={at!r} must be x or (x, y, z)")
    if problems:
        raise ModelError(f"partial vehicle '{name}': " + "; ".join(problems), s.name)
    x, y, z = position
    low = _sum_formula(z, length[0])
    wheel = s.add_point_mass(f"{name}.rim", mass=rim, translate=translate, joint_at=(x, y, low))
    body = s.add_point_mass(
        f"{name}.chassis",
        mass=chassis,
        translate=translate,
        joint_at=(x, y, _sum_formula(low, length[1])),
    )
    s.add_strut(
        f"{name}.strut",
        magnitude=strut_force_formula(k[1], c[1], length[1]),
        between=(body.origin, wheel.origin),
    )
    contact_point = s.add_contact(
        f"{name}.tyre",
        at=wheel,
        radius=length[0],
        terrain=terrain or flat(),
        tyre=Tyre(k[0], c[0]),
        rolling_resistance=rolling_resistance,
        drive=drive,
    )
    return PartialVehicle(name, wheel, body, contact_point)


def add_named_partial_vehicle(
    s: System, name: str, position: Any, terrain: Terrain | None, translate: Any = (1, 3)
) -> PartialVehicle:
    """A partial vehicle with the parameters of `set_suspension_defaults` and m_chassis, and an
    input <name>.drive."""
    s.add_input(f"{name}.drive", units="F", label=f"driving force, {name}")
    return partial_vehicle(
        s,
        name,
        at=position,
        rim="m_rim",
        chassis="m_chassis",
        k=("k_tyre", "k_strut"),
        c=("c_tyre", "c_strut"),
        length=("l_tyre", "l_strut"),
        terrain=terrain,
        rolling_resistance="c_roll",
        drive=f"{name}.drive",
        translate=translate,
    )


def _sum_formula(*terms: Any) -> Any:
    return " + ".join(f"({p})" for p in terms)
