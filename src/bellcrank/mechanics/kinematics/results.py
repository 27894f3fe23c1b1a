"""What the kinematical analysis of a description yields: loads, outputs, constraints, as
expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from bellcrank.mechanics.kinematics.body_motion import Kinematics
from bellcrank.mechanics.kinematics.constraint_rows import ConstraintRow
from bellcrank.mechanics.kinematics.speed_constraints import DependentSpeed
from bellcrank.model.loads.contact import Wheel
from bellcrank.model.loads.load import BodyPoint, Load
from bellcrank.model.mechanism import Mechanism
from bellcrank.model.records import UserFunction
from bellcrank.model.scope import make_symbol
from bellcrank.model.shapes import Shape
from bellcrank.symbolic.expr import Expr, Symbol
from bellcrank.symbolic.vector.basis import Vector


@dataclass(frozen=True)
class OutputChannel:
    """A channel: an expression in equation units."""

    name: str
    label: str
    value: Expr
    units: str | None = None
    body: str | None = None
    generic: str | None = None


class ConstraintForm(StrEnum):
    """What becomes of speed constraints. AUTO removes a speed by each where that holds in every
    motion, and keeps all speeds as states otherwise."""

    AUTO = "auto"
    MULTIPLIERS = "multipliers"
    ELIMINATE = "eliminate"


@dataclass(frozen=True)
class LoopElimination:
    """Constraints of a model with closed loops, where all speeds are states: rows, positions first,
    and what they give.

    `used_rows` rows, in order, are solved for the speeds `pivots`; rows that are not used follow
    from them where the loops are closed. `unresolved_rows` says what is wrong with some of these if
    they do not.
    """

    rows: tuple[ConstraintRow, ...]
    used_rows: tuple[ConstraintRow, ...]
    pivots: tuple[Symbol, ...]
    unresolved_rows: tuple[str, ...] = ()


@dataclass(frozen=True)
class SampledCall:
    """A call of a user function whose values are kept over a step, or over the run, or are
    parameters."""

    symbols: tuple[Symbol, ...]
    routine: UserFunction
    arguments: tuple[Expr, ...]


@dataclass
class KinematicAnalysis:
    """Everything the derivation needs, as expressions."""

    mechanism: Mechanism
    kinematics: Kinematics
    points: dict[str, BodyPoint]
    shapes: tuple[Shape, ...] = ()
    wheels: tuple[Wheel, ...] = ()
    loads: list[Load] = field(default_factory=list)
    body_forces: list[Load] = field(default_factory=list)  # gravity, which acts on all bodies
    removed: list[DependentSpeed] = field(default_factory=list)  # speeds that are no states
    solved: list[ConstraintRow] = field(default_factory=list)  # the rows that determine them
    loops: LoopElimination | None = None
    spare: list[ConstraintRow] = field(
        default_factory=list
    )  # redundant constraints that are not among those of the loops
    loose: list[DependentSpeed] = field(
        default_factory=list
    )  # solutions for a speed that fail in some motions
    outputs: list[OutputChannel] = field(default_factory=list)
    reactions: Callable[[], list[OutputChannel]] | None = (
        None  # those among them that depend on which rows are used
    )
    multipliers: tuple[Expr, ...] = ()  # of the rows used, as they stand in reactions
    kept: list[SampledCall] = field(default_factory=list)
    entered: list[SampledCall] = field(
        default_factory=list
    )  # parameters that routines give, in the order of the calls
    echo: list[OutputChannel] = field(default_factory=list)  # what user functions give to the echo
    notes: list[str] = field(default_factory=list)
    parameters: tuple[str, ...] = ()  # names met, in that order

    @property
    def gravity(self) -> Vector:
        """The acceleration of free fall."""
        return sum((x.direction * x.magnitude for x in self.body_forces), Vector({}))

    def set_elimination(self, loops: LoopElimination) -> None:
        """Takes another elimination of the loops."""
        self.loops = loops
        if self.reactions is not None:
            new = {o.name: o for o in self.reactions()}
            self.outputs = [new.get(o.name, o) for o in self.outputs]

    @property
    def parameter_symbols(self) -> list[Symbol]:
        """Every parameter met; some cancel in the equations of motion, but not elsewhere."""
        return self._symbols(
            "parameter", sorted(self.parameters, key=lambda name: (name.lower(), name))
        )

    @property
    def input_symbols(self) -> list[Symbol]:
        """Every input of the description."""
        return self._symbols("variable", [v.name for v in self.mechanism.description.variables])

    def _symbols(self, kind: str, names: list[str]) -> list[Symbol]:
        return [
            make_symbol(self.mechanism.description, self.mechanism.orders, n, kind) for n in names
        ]

    @property
    def independent_speeds(self) -> list[Symbol]:
        return [u for u in self.state_speeds if not self.loops or u not in self.loops.pivots]

    @property
    def state_speeds(self) -> list[Symbol]:
        """The speeds that are integrated: with loops all of them."""
        dependent = {r.speed for r in self.removed}
        return [u for u in self.mechanism.speeds if u not in dependent]
