"""The description as it was given: plain records, nothing resolved yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import count
from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.model.joints.joint import JointRecord as JointRecord
from bellcrank.model.loads.contact import ContactRecord, RigidContact
from bellcrank.model.loads.load import LoadRecord as LoadRecord
from bellcrank.symbolic.expr import Expr
from bellcrank.symbolic.expr.user_function_value import Rule


@dataclass
class BodyRecord:
    name: str
    parent: Any = None
    label: str | None = None
    mass: Any = None
    inertia: Any = None
    translate: Any = ()
    rotate: Any = ()
    rotation_axis: Any = None
    reference_axis: Any = None
    joint_at: Any = (0, 0, 0)
    cm: Any = (0, 0, 0)
    coordinates_of: Any = None
    small_angles: Any = False
    small_translations: Any = False
    joint: Any = None  # a `JointRecord`: a joint of another kind instead of translate and rotate
    orientation: Any = None  # in the parent at zero coordinates: a matrix or turns
    armature: Any = 0  # inertia of a geared rotor, as it acts on the one speed of the joint


@dataclass
class PointRecord:
    name: str
    body: Any
    at: Any = (0, 0, 0)
    coordinates_of: Any = None
    label: str | None = None


@dataclass
class ParameterRecord:
    name: str
    value: float | None = None
    units: str | None = None
    label: str | None = None
    positive: bool = False  # a run with another value is rejected
    range: tuple[float, float] | None = None  # usual values, user units
    written: tuple[float, str] | None = field(
        default=None, compare=False, repr=False
    )  # number and unit of the value
    declared: bool = field(default=False, compare=False, repr=False)  # it may stand in no formula


@dataclass
class VariableRecord:
    name: str
    units: str | None = None
    label: str | None = None
    range: tuple[float, float] | None = None  # usual values, user units


@dataclass
class StateRecord:
    """A state of the user's own: `rate` is its time derivative."""

    name: str
    rate: Any
    units: str | None = None
    label: str | None = None


@dataclass
class ConstraintRecord:
    expression: Any
    eliminate: Any = None
    label: str | None = None


@dataclass
class LoopRecord:
    """A loop closed at two points: no relative movement along `directions`, or a joint with its
    axis."""

    first: Any
    second: Any
    directions: tuple[Any, ...] = ()
    joint: str | None = None
    axis: Any = None
    length: Any = None
    label: str | None = None


@dataclass
class OutputRecord:
    expression: Any
    name: str
    label: str | None = None
    units: str | None = None
    body: Any = None
    generic: str | None = None


@dataclass
class ShapeRecord:
    """What a body looks like: `kind` is box, cylinder, sphere, line, mesh, wheel or car."""

    kind: str
    body: Any
    size: Any = None
    at: Any = (0, 0, 0)
    axis: Any = None
    color: str | None = None
    label: str | None = None
    mesh: Any = None
    opacity: Any = 1.0


@dataclass(frozen=True)
class RangeRecord:
    """Within which limits what stands in an output is known, in units of the equations; outside,
    the end is used."""

    output: str
    low: float
    high: float
    words: str


@dataclass(frozen=True, eq=False)
class UserFunction:
    """A user function. Without `returns` it is a function of its arguments in formulas; with
    `returns` those names are variables that it sets, called with the expressions given as
    `arguments`."""

    name: str
    arguments: tuple[Any, ...]
    returns: tuple[str, ...] = ()
    memory: int | None = None
    when: str = "derivatives"
    python: Callable[..., Any] | None = None
    c: str | None = None
    fortran: str | None = None
    formulas: Any = None  # from which it is printed in any language (`program.routine.Formulas`)
    rule: Callable[[int], Rule] | None = None  # of its i-th value: partial derivatives by arguments
    lanes: str | None = (
        None  # C of the same over vectors of runs, behind `c`: arguments and returns are `lanes`
    )
    kernel: Any = (
        None  # what the kernel knows of it, if it evaluates it (`codegen.kernel_function`)
    )

    varies = True  # its value may change although its arguments do not

    @property
    def sets_parameters(self) -> bool:
        """Are its values parameters, found when those that are given have been read?"""
        return self.when == "input"

    @property
    def is_sampled(self) -> bool:
        """Are its values kept from one call to the next, which comes at the start of a run or at
        the end of a step?"""
        return self.when in ("init", "update")

    def known_in(self, language: str) -> bool:
        """Is it given in "c", "python" or "fortran", or can be written so?"""
        if language == "python":
            return self.formulas is not None or self.python is not None
        return self.formulas is not None or bool(self.given_in(language))

    def given_in(self, language: str) -> str:
        """Its text in "c", "fortran" or "lanes", empty where there is none."""
        sources = {"c": self.c, "fortran": self.fortran, "lanes": self.lanes}
        return sources[language] or ""

    @property
    def argument_count(self) -> int:
        return len(self.arguments)

    @property
    def needs(self) -> UserFunction | None:
        """Another routine, which its text in C calls."""
        return None

    def partial(self, index: int, args: Sequence[Expr]) -> Expr:
        raise ModelError(f"the derivative of the user function {self.name}() is not known")


@dataclass(frozen=True)
class EventRecord:
    """An event to look for: an expression that crosses zero or a comparison, and what is set
    then."""

    expression: str
    direction: int = 0
    action: Mapping[str, str] = field(default_factory=dict)
    stop: bool = False
    name: str = ""


@dataclass(frozen=True)
class StartSpeed:
    """A speed (m/s) from which initial values follow: by state the coefficients of its powers, from
    the first on."""

    value: float
    states: Mapping[str, tuple[float, ...]]


@dataclass
class RunRecord:
    """What `bellcrank run` uses."""

    t_end: float | None = None
    step: float | None = None
    method: str | None = None
    output_every: int | None = None
    initial: dict[Any, float] = field(default_factory=dict)
    inputs: dict[str, Any] = field(default_factory=dict)
    events: list[EventRecord] = field(default_factory=list)
    start_speed: StartSpeed | None = None
    shown: tuple[str, ...] = ()  # channels that a live page plots, where the user chooses none


@dataclass
class Description:
    """All that a System was given, in order of entry."""

    name: str
    units: str = "mks"
    axes: str | None = None
    bodies: list[BodyRecord] = field(default_factory=list)
    points: list[PointRecord] = field(default_factory=list)
    forces: list[LoadRecord] = field(default_factory=list)
    parameters: dict[str, ParameterRecord] = field(default_factory=dict)  # by name
    variables: list[VariableRecord] = field(default_factory=list)
    states: list[StateRecord] = field(default_factory=list)
    constraints: list[ConstraintRecord] = field(default_factory=list)
    loops: list[LoopRecord] = field(default_factory=list)
    outputs: list[OutputRecord] = field(default_factory=list)
    output_groups: list[str] = field(default_factory=list)
    externals: list[UserFunction] = field(default_factory=list)
    tables: dict[str, Any] = field(default_factory=dict)
    definitions: dict[str, Any] = field(default_factory=dict)
    gravity: LoadRecord | None = None
    small: list[Any] = field(default_factory=list)
    large: list[Any] = field(default_factory=list)
    small_threshold: int = 2
    run: RunRecord = field(default_factory=RunRecord)
    ranges: list[RangeRecord] = field(default_factory=list)
    shapes: list[ShapeRecord] = field(default_factory=list)
    wheels: list[ContactRecord] = field(default_factory=list)  # on the ground
    number: int = field(
        default_factory=count().__next__, metadata={"content": False}
    )  # which System it is
    problems: list[str] = field(default_factory=list)

    @property
    def rigid_contacts(self) -> list[RigidContact]:
        """Of rigid wheels."""
        return [w for w in self.wheels if isinstance(w, RigidContact)]

    def snapshot(self) -> Description:
        """The description as it is now, which what the user adds later does not change."""
        copies = {f.name: _copy_value(getattr(self, f.name)) for f in fields(self)}
        run = replace(
            self.run,
            initial=dict(self.run.initial),
            inputs=dict(self.run.inputs),
            events=list(self.run.events),
        )
        return Description(**{**copies, "run": run})


def _copy_value(value: Any) -> Any:
    """A list or dictionary of its own; records that can change are copied."""
    if isinstance(value, dict):
        return {
            name: replace(x) if isinstance(x, ParameterRecord) else x for name, x in value.items()
        }
    return list(value) if isinstance(value, list) else value
