"""Forces of a tyre along the ground from a deflection: relaxation length, friction circle; holds
still at standstill.

The contact patch is joined to the rim by springs along and across the wheel; e is their deflection.
It follows the slip velocity V_s of the rim at the ground, is carried off by rolling, and flows
where the tyre slides entirely:

    e' = -V_s - |V_r|/sigma e - (excess flow),
    F = share(|Q|) Q,  Q = C/sigma (e + t_d e'),  |F| <= mu F_z

V_r is the rolling speed (spin times distance to the ground). Rolling steadily, e = -sigma
V_s/|V_r|, so that Q is -C V_s/|V_r|: linear in slip. At standstill e is an elastic deflection that
holds a load for ever: no slip is divided by a speed, and nothing creeps. Locked, the patch slides
with mu F_z against its velocity. How the force bends off from Q to the friction limit is what laws
differ in: `Slip` follows Q up to the limit. Pacejka, Tyre and Vehicle Dynamics (3rd ed., 2012),
sections 7.2 (single contact point transient model) and 3.2 (slip relative to the rolling speed);
flow along the force above a limit: Simo & Hughes, Computational Inelasticity (1998), section 1.7.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from bellcrank.core.argument_checks import PublicDir
from bellcrank.model.describe.patch import MIN_MAGNITUDE, WORDS, ContactPatch, PatchForces
from bellcrank.model.formula import Formula
from bellcrank.symbolic.expr import Expr

SLIDING_TIME_CONSTANT = 0.005  # s in which a deflection past the one that slides flows back to it


@dataclass(frozen=True)
class DeflectionLaw(ABC, PublicDir):
    """A law over deflections, each value a number or an expression.

    `longitudinal`: force per slip (C_Fkappa); `cornering`: force per rad of slip angle (C_Falpha),
    None for a wheel in a plane, which has no side force. With `per_load` both are divided by the
    load: 1 and 1/rad. `relaxation`: relaxation length, or the two (along, across). `friction`:
    coefficient of the friction circle. `damping`: time t_d of the material's damping.
    """

    longitudinal: Any
    cornering: Any = None
    relaxation: Any = 0.3
    friction: Any = 1.0
    per_load: bool = False
    damping: Any = 0.004

    internals: ClassVar[tuple[str, ...]] = (
        "define_forces",
        "relaxation_lengths",
        "with_parameters",
        "problems",
        "reach",
        "force_fraction",
        "has_side_force",
        "work_fraction",
    )
    reach: ClassVar[float] = (
        1.0  # elastic force at which all of the patch slides, over the friction limit
    )

    @abstractmethod
    def force_fraction(self, elastic: str, limit: str) -> str:
        """The force over the elastic force, from the size of the latter and the friction limit."""

    @abstractmethod
    def work_fraction(self, elastic: str, limit: str) -> str:
        """What the force does on the way to rest, over elastic force times deflection: 1/2 of a
        spring."""

    @property
    def has_side_force(self) -> bool:
        return self.cornering is not None

    @property
    def relaxation_lengths(self) -> tuple[Any, ...]:
        """Relaxation lengths along and across."""
        relaxation = self.relaxation
        return (
            tuple(relaxation) if isinstance(relaxation, tuple | list) else (relaxation, relaxation)
        )

    def problems(self) -> list[str]:
        """What is not allowed."""
        coefficients = {"longitudinal": self.longitudinal, "friction": self.friction}
        if self.cornering is not None:
            coefficients["cornering"] = self.cornering
        messages = [
            f"{key}={value!r} must be positive"
            for key, value in coefficients.items()
            if not _may_be_positive(value)
        ]
        if len(self.relaxation_lengths) != 2:
            messages.append(
                f"relaxation={self.relaxation!r} must be one length or two (along, across)"
            )
        elif not all(map(_may_be_positive, self.relaxation_lengths)):
            messages.append(f"relaxation={self.relaxation!r} must be positive")
        if not _may_be_positive(self.damping) and not (
            isinstance(self.damping, int | float) and self.damping == 0
        ):
            messages.append(f"damping={self.damping!r} must be zero or positive")
        return messages

    def with_parameters(self, parameter: Callable[[str, Any, str], str]) -> Self:
        """The same law with parameters c_long, s_long, mu, c_side and s_side in place of its
        numbers."""
        force = "1" if self.per_load else "F"
        long, length = (
            parameter("c_long", self.longitudinal, force),
            parameter("s_long", self.relaxation_lengths[0], "L"),
        )
        friction = parameter("mu", self.friction, "1")
        side, across = None, length
        if self.has_side_force:
            side, across = (
                parameter("c_side", self.cornering, f"{force}/A"),
                parameter("s_side", self.relaxation_lengths[1], "L"),
            )
        return replace(
            self, longitudinal=long, cornering=side, relaxation=(length, across), friction=friction
        )

    def define_forces(self, patch: ContactPatch) -> PatchForces:
        """Deflections along (x) and across (y), and their forces."""
        stiffness = {"x": self.longitudinal, "y": self.cornering}
        lengths = dict(zip("xy", self.relaxation_lengths, strict=True))
        ratio = {i: f"(({stiffness[i]})/({lengths[i]}))" for i in patch.slip_names}
        mean = f"sqrt({'*'.join(ratio.values())})" if len(ratio) == 2 else ratio["x"]
        grip = f"({self.friction})*{patch.road}" if patch.road else f"({self.friction})"
        limit = patch.define("limit", f"{grip}*{patch.load_name}")
        k = {
            i: patch.define(f"k{i}", f"{r}*{patch.load_name}" if self.per_load else r)
            for i, r in ratio.items()
        }
        e = {i: f"{patch.name}_e{i}" for i in ratio}
        elastic_force = patch.define("hold", smooth_norm([f"{k[i]}*{e[i]}" for i in e]))
        slides = limit if self.reach == 1 else f"{self.reach}*{limit}"
        flow = patch.define(
            "flow",
            f"max(0, {elastic_force} - {slides})/{elastic_force}/{SLIDING_TIME_CONSTANT}/{mean}",
        )
        elastic = {}
        for i, slip in patch.slip_names.items():
            moving = (
                f"-{slip} - abs({patch.rolling_speed_name})/({lengths[i]})*{e[i]} - "
                f"{flow}*{ratio[i]}*{e[i]}"
            )
            rate = patch.define(
                f"e{i}_rate",
                f"where({patch.load_name} > 0, {moving}, -{e[i]}/{SLIDING_TIME_CONSTANT})",
            )
            patch.add_state(f"e{i}", rate, "L", f"deflection of {patch.name} {WORDS[i]}")
            elastic[i] = patch.define(f"q{i}", f"{k[i]}*({e[i]} + ({self.damping})*{rate})")
        fraction = patch.define(
            "share", self.force_fraction(smooth_norm(list(elastic.values())), limit)
        )
        # energy that the springs give back: outside the limit only what the limited force does on
        # the way to rest
        spring_energy = " + ".join(f"{k[i]}*{e[i]}**2" for i in e)
        pushes = {i: f"{fraction}*{q}" for i, q in elastic.items()}
        return PatchForces(
            pushes["x"],
            pushes.get("y", "0"),
            f"({spring_energy})*{self.work_fraction(elastic_force, limit)}",
        )


@dataclass(frozen=True)
class Slip(DeflectionLaw):
    """Forces of a tyre along the ground: proportional to slip, up to the friction circle. For
    `bc.Tyre(slip=...)`.

    Parameters
    ----------
    longitudinal : ScalarLike
        Longitudinal slip stiffness (force per slip).
    cornering : ScalarLike, optional
        Cornering stiffness (force per rad). Default: none, a wheel in a plane.
    relaxation : ScalarLike or pair, default 0.3
        Relaxation length (length), or those along and across the wheel.
    friction : ScalarLike, default 1.0
        Coefficient of friction.
    per_load : bool, default False
        Are both stiffnesses divided by the load (1 and 1/rad)?
    damping : ScalarLike, default 0.004
        Time constant of the damping of the material in s.

    Examples
    --------
    >>> import bellcrank as bc
    >>> slip = bc.Slip(longitudinal=60e3, cornering=45e3, friction=0.9)
    >>> bc.Tyre(2e5, 500, slip).slip.friction
    0.9
    """

    def force_fraction(self, elastic: str, limit: str) -> str:
        return f"min(1, {limit}/{elastic})"

    def work_fraction(self, elastic: str, limit: str) -> str:
        limited = f"min({elastic}, {limit})"
        return f"{limited}*({elastic} - {limited}/2)/{elastic}**2"


def _may_be_positive(value: Any) -> bool:
    """Is it a positive number, or an expression, whose value is not known here?"""
    if isinstance(value, int | float):
        return 0 < value < math.inf
    return isinstance(value, str | Expr | Formula)


def smooth_norm(components: list[str]) -> str:
    """The size of a vector, smooth and not zero where the vector is."""
    return f"sqrt({' + '.join(f'({p})**2' for p in components)} + {MIN_MAGNITUDE**2})"
