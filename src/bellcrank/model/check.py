"""Description to Mechanism: joints resolved, names checked, every problem found reported at once.

In:  a `Description`. Out: a `Mechanism` whose bodies stand in depth-first order (children in order of entry).
The choice of speeds and the composite bodies follow Sayers (1990), sections 8.1.3 to 8.1.6.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bellcrank.errors import ModelError, ModelWarning, did_you_mean
from bellcrank.expr import (
    MINUS_ONE,
    ONE,
    ZERO,
    Expr,
    Number,
    Symbol,
    add,
    derivative,
    div,
    evaluate,
    expression,
    mul,
    sqrt,
    symbols,
)
from bellcrank.model.guide import Guided, given_rate
from bellcrank.model.mechanism import Body, Mechanism
from bellcrank.model.records import BodyRecord, Description
from bellcrank.model.scope import DUMMIES, NAME, RESERVED, Scope
from bellcrank.units import unit_system
from bellcrank.vector.basis import IDENTITY, NULL, Mat3, Vec3, add3, cross3, dot3, matmul, matvec, neg3, transpose

AXES = ((ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE))


@dataclass
class Draft:
    """A body on the way to being resolved."""

    record: BodyRecord
    parent: int
    slides: tuple[Vec3, ...] = ()
    axes: tuple[Vec3, ...] = ()
    euler: bool = False
    C: Mat3 = IDENTITY
    joint_at: Vec3 = NULL
    cm: Vec3 = NULL
    mass: Expr = ZERO
    inertia: Mat3 = (NULL, NULL, NULL)
    R_N: Mat3 = IDENTITY  # nominal orientation and origin
    p_N: Vec3 = NULL
    children: list[int] = field(default_factory=list)


class Checker:
    """Collects problems while resolving a description."""

    def __init__(self, description: Description) -> None:
        self.description = description
        self.problems = list(description.problems)
        self.scope = Scope(description)
        self.scope.kept = {}
        self.index: dict[str, int] = {}
        self.drafts: list[Draft] = []

    def problem(self, where: str, text: str) -> None:
        self.problems.append(f"{where}: {text}")

    # ---- bodies

    def resolve_bodies(self) -> None:
        d = self.description
        for position, record in enumerate(d.bodies):
            key = record.name.lower()
            if key not in self.index:
                self.index[key] = position
        for record in d.bodies:
            self.drafts.append(Draft(record, self._parent(record)))
        self._states()
        for position, draft in enumerate(self.drafts):
            self._resolve(position, draft)

    def body_index(self, given: Any, where: str, what: str) -> int | None:
        """Index of a body given by object or name; -1 is the inertial body."""
        if given is None:
            return -1
        name = given if isinstance(given, str) else getattr(given, "name", None)
        if not isinstance(name, str):
            self.problem(where, f"{what} must be a body or its name, not {given!r}.")
            return None
        if name.lower() == "n":
            return -1
        if name.lower() not in self.index:
            known = [b.name for b in self.description.bodies]
            listed = ", ".join(["n", *known])
            self.problem(
                where,
                f"{what} '{name}' does not exist: no body has that name.{did_you_mean(name, known)} Bodies: {listed}.",
            )
            return None
        return self.index[name.lower()]

    def _parent(self, record: BodyRecord) -> int:
        where = f"body '{record.name}'"
        found = self.body_index(record.parent, where, "parent")
        own = self.index[record.name.lower()]
        if found is not None and found >= 0 and found >= own and self.description.bodies[own] is record:
            if found == own:
                self.problem(where, "a body cannot be its own parent.")
            else:
                self.problem(where, f"parent '{record.parent}' must be added before it.")
            found = -1
        return -1 if found is None else found

    def _states(self) -> None:
        """Coordinates and speeds of every body, before any formula is read."""
        for draft in self.drafts:
            record = draft.record
            where = f"body '{record.name}'"
            slides = self._axis_list(record.translate, where, "translate", 3)
            draft.euler = isinstance(record.rotate, str) and record.rotate.lower() in (
                "euler-parameters",
                "euler parameters",
            )
            axes = [] if draft.euler else self._axis_list(record.rotate, where, "rotate", 3)
            if not draft.euler and not axes and record.rotation_axis is not None:
                axes = [record.rotation_axis]
            if len(axes) == 2:
                self.problem(
                    where,
                    f"rotate={record.rotate!r}: 0, 1 or 3 rotations are allowed; use a massless body between two.",
                )
                axes = axes[:1]
            own = 0 if record.guide is None else record.guide.own
            if record.guide is not None and (slides or axes or draft.euler or record.reference_axis is not None):
                self.problem(
                    where, "it is carried by a linkage, so it can have no translate, rotate or axes of its own."
                )
                slides, axes, draft.euler = [], [], False
            q, u = joint_symbols(record.name, len(slides) + own, len(axes), draft.euler, self.scope)
            self.scope.by_body.setdefault(record.name.lower(), (q, u))
            draft.slides, draft.axes = tuple(slides), tuple(axes)

    def _axis_list(self, given: Any, where: str, what: str, most: int) -> list[Any]:
        """A bare axis, one vector, or a sequence of axes."""
        if given is None or (isinstance(given, Sequence) and not isinstance(given, str) and len(given) == 0):
            return []
        if isinstance(given, int) and not isinstance(given, bool):
            given = (given,)
        elif isinstance(given, str) or not hasattr(given, "__len__"):
            self.problem(
                where, f"{what}={given!r}: an axis is 1, 2, 3 or three components; several are given as a tuple."
            )
            return []
        given = list(given)
        if len(given) == 3 and not all(
            _is_axis_number(a) or (hasattr(a, "__len__") and not isinstance(a, str)) for a in given
        ):
            given = [tuple(given)]  # three components of one vector
        if len(given) > most:
            self.problem(where, f"{what}={given!r} has {len(given)} axes; at most {most} are allowed.")
            given = given[:most]
        return given

    def _resolve(self, position: int, draft: Draft) -> None:
        record = draft.record
        where = f"body '{record.name}'"
        before = len(self.problems)
        slides = [self._direction(a, where, "translate") for a in draft.slides]
        axes = [self._direction(a, where, "rotate") for a in draft.axes]
        draft.slides = tuple(s for s in slides if s is not None)
        draft.axes = tuple(a for a in axes if a is not None)
        if len(draft.axes) == 3:
            self._three_rotations(draft, where)
        if draft.euler and _any(record.small_angles):
            self.problem(
                where, "small_angles cannot be used with Euler parameters; use rotate=(1, 2, 3) for small angles."
            )
        if len(self.problems) == before:
            self._orientation(draft, where)
        parent = self.drafts[draft.parent] if draft.parent >= 0 else None
        R_A, p_A = (parent.R_N, parent.p_N) if parent else (IDENTITY, NULL)
        draft.R_N = matmul(R_A, draft.C)
        joint = self._vector(record.joint_at, where, "joint_at")
        draft.joint_at = self._converted(joint, record.coordinates_of, R_A, p_A, where)
        draft.p_N = add3(p_A, matvec(R_A, draft.joint_at))
        cm = self._vector(record.cm, where, "cm")
        draft.cm = self._converted(cm, record.coordinates_of, draft.R_N, draft.p_N, where)
        draft.mass = self._mass(record, where)
        draft.inertia = self._inertia(record, where)

    def _three_rotations(self, draft: Draft, where: str) -> None:
        numbers = [_coordinate_axis(a) for a in draft.axes]
        if any(n is None for n in numbers):
            self.problem(where, "three rotations need axis numbers 1, 2 or 3.")
        elif numbers[0] == numbers[1] or numbers[1] == numbers[2]:
            shown = tuple(n + 1 for n in numbers)  # type: ignore[operator]
            self.problem(where, f"rotate={shown}: two rotations in a row about the same axis are one rotation.")

    def _direction(self, given: Any, where: str, what: str) -> Vec3 | None:
        """Unit vector of an axis number or of three constant components."""
        if _is_axis_number(given):
            return AXES[given - 1]
        if isinstance(given, int | float | str) or not hasattr(given, "__len__"):
            self.problem(where, f"{what}: {given!r} is not an axis; an axis is 1, 2, 3 or three components.")
            return None
        v = self._vector(given, where, what)
        size = dot3(v, v)
        if size is ZERO or size.fingerprint == 0:
            self.problem(where, f"{what}={tuple(given)!r} has no direction: all components are zero.")
            return None
        if size.fingerprint == 1:
            return v
        length = sqrt(size)
        return tuple(div(x, length) for x in v)  # type: ignore[return-value]

    def _vector(self, given: Any, where: str, what: str) -> Vec3:
        if isinstance(given, str) or not hasattr(given, "__len__") or len(given) != 3:
            self.problem(where, f"{what}={given!r} must have 3 components.")
            return NULL
        result = []
        for x in given:
            result.append(self._constant(x, where, what))
        return tuple(result)  # type: ignore[return-value]

    def _constant(self, given: Any, where: str, what: str) -> Expr:
        try:
            e = self.scope.scalar(given)
        except ModelError as error:
            self.problem(where, f"{what}: {error}")
            return ZERO
        if not e.constant:
            moving = ", ".join(s.name for s in symbols(e) if not s.constant)
            self.problem(where, f"{what}: {e} must be constant, but {moving} varies.")
            return ZERO
        return e

    def _converted(self, v: Vec3, coordinates_of: Any, R: Mat3, p: Vec3, where: str) -> Vec3:
        """Coordinates given in another body's nominal axes, in those of (R, p)."""
        if coordinates_of is None:
            return v
        index = self.body_index(coordinates_of, where, "coordinates_of")
        if index is None:
            return v
        other = self.drafts[index] if index >= 0 else None
        R_C, p_C = (other.R_N, other.p_N) if other else (IDENTITY, NULL)
        r = add3(p_C, matvec(R_C, v), neg3(p))
        return matvec(transpose(R), r)

    def _orientation(self, draft: Draft, where: str) -> None:
        """R_AB at zero coordinates (Sayers 1990, eq. 8.1.4 to 8.1.10)."""
        record = draft.record
        if record.rotation_axis is None and record.reference_axis is None:
            return
        first = draft.axes[0] if draft.axes else AXES[2]
        given = record.rotation_axis
        axis = first if given is None else self._direction(given, where, "rotation_axis")
        if axis is None:
            return
        body_axis = first
        if not record.rotate and not draft.euler and given is not None:
            body_axis = axis if _coordinate_axis(axis) is None else first
            draft.axes = (body_axis,)
        k = _coordinate_axis(body_axis)
        if k is None:
            if record.reference_axis is not None or any(a is not b for a, b in zip(axis, body_axis, strict=True)):
                self.problem(where, "rotation_axis and reference_axis need a rotate axis 1, 2 or 3 of the new body.")
            return
        i, j = (k + 1) % 3, (k + 2) % 3
        reference = AXES[i]
        if record.reference_axis is not None:
            found = self._direction(record.reference_axis, where, "reference_axis")
            if found is None:
                return
            reference = found
        b_j = cross3(axis, reference)
        size = dot3(b_j, b_j)
        if _vanishes(size):
            if record.reference_axis is None:  # the default reference happens to be the axis: take the next one
                reference = AXES[j]
                b_j = cross3(axis, reference)
                size = dot3(b_j, b_j)
            else:
                shown = tuple(map(str, axis))
                self.problem(
                    where, f"the rotation axis {shown} is parallel to the reference axis {record.reference_axis!r}; "
                    "the reference_axis must point another way."
                )  # fmt: skip
                return
        if size.fingerprint != 1:
            length = sqrt(size)
            b_j = tuple(div(x, length) for x in b_j)  # type: ignore[assignment]
        b_i = cross3(b_j, axis)
        columns: list[Vec3] = [NULL, NULL, NULL]
        columns[i], columns[j], columns[k] = b_i, b_j, axis
        draft.C = transpose((columns[0], columns[1], columns[2]))

    def _mass(self, record: BodyRecord, where: str) -> Expr:
        if record.mass is None:
            return self.scope.parameter(f"{record.name}m")
        mass = self._constant(record.mass, where, "mass")
        if isinstance(mass, Number) and mass.value < 0:
            self.problem(where, f"mass={record.mass!r} is negative.")
        return mass

    def _inertia(self, record: BodyRecord, where: str) -> Mat3:
        given = record.inertia
        if given is None:
            names = {(0, 0): "11", (0, 1): "12", (0, 2): "13", (1, 1): "22", (1, 2): "23", (2, 2): "33"}
            return tuple(
                tuple(self.scope.parameter(f"{record.name}i{names[min(r, c), max(r, c)]}") for c in range(3))
                for r in range(3)
            )  # type: ignore[return-value]
        if isinstance(given, int | float) and given == 0:
            return (NULL, NULL, NULL)
        shape = f"inertia={given!r} must be 0, three moments, or a 3 x 3 matrix"
        if isinstance(given, str) or not hasattr(given, "__len__") or len(given) != 3:
            self.problem(where, f"{shape}.")
            return (NULL, NULL, NULL)
        rows = [hasattr(r, "__len__") and not isinstance(r, str) for r in given]
        if all(rows) and all(len(r) == 3 for r in given):
            matrix = tuple(tuple(self._constant(x, where, "inertia") for x in row) for row in given)
        elif not any(rows):
            moments = [self._constant(x, where, "inertia") for x in given]
            matrix = tuple(tuple(moments[r] if r == c else ZERO for c in range(3)) for r in range(3))
        else:
            self.problem(where, f"{shape}.")
            return (NULL, NULL, NULL)
        self._physical(matrix, where)
        return matrix  # type: ignore[return-value]

    def _physical(self, matrix: tuple[tuple[Expr, ...], ...], where: str) -> None:
        for r, c in ((0, 1), (1, 2), (2, 0)):
            if matrix[r][c].fingerprint != matrix[c][r].fingerprint:
                self.problem(
                    where, f"inertia is not symmetric: element ({r + 1}, {c + 1}) is {matrix[r][c]}, "
                    f"element ({c + 1}, {r + 1}) is {matrix[c][r]}."
                )  # fmt: skip
                return
        if not all(isinstance(x, Number) for row in matrix for x in row):
            return
        values = np.array([[float(x.value) for x in row] for row in matrix])  # type: ignore[attr-defined]
        principal = np.linalg.eigvalsh(values)
        if principal[0] < -1e-12 * max(abs(principal[2]), 1e-300):
            shown = ", ".join(f"{p:.6g}" for p in principal)
            self.problem(where, f"inertia is not physical: its principal values are {shown}; none may be negative.")
        elif principal[0] + principal[1] < principal[2] * (1 - 1e-9):
            shown = ", ".join(f"{p:.6g}" for p in principal)
            warnings.warn(
                f"{where}: principal moments of inertia {shown} break the triangle inequality (no real body has them)",
                ModelWarning,
                stacklevel=2,
            )

    def guided(self, draft: Draft) -> Guided:
        """The guide of a body, with the symbols of the coordinates it depends on."""
        record = draft.record
        given = record.guide
        assert given is not None
        q, u = self.scope.by_body[record.name.lower()]
        states = [self.scope.by_body.get(name.lower(), ([], [])) for name, _ in given.follows]
        places = [place for _, place in given.follows]
        for (name, place), (some, _) in zip(given.follows, states, strict=True):
            if place >= len(some):
                self.problem(f"body '{record.name}'", f"it follows '{name}', which has no coordinate {place + 1}.")
        pairs = [(s[0][i], s[1][i]) for s, i in zip(states, places, strict=True) if i < min(len(s[0]), len(s[1]))]
        metre = expression(float(unit_system(self.description.units).parse_unit("m").to_equation(1.0)))
        at: Vec3 = tuple(mul(metre, expression(x)) for x in given.at)  # type: ignore[assignment]
        drawn: Vec3 = tuple(mul(metre, expression(x)) for x in given.drawn)  # type: ignore[assignment]
        offset = add3(draft.joint_at, neg3(add3(at, drawn)))
        return Guided(
            given.guide, given.part, tuple(q), tuple(u), tuple(a for a, _ in pairs), tuple(b for _, b in pairs), metre, at, offset,
            tuple(given.guide.kinds()), None if given.given is None else self._led(given.given, record.name),
        )  # fmt: skip

    def _led(self, formula: Any, name: str) -> tuple[Expr, Expr, Expr]:
        """A function of time that moves a guided body, with its first and second rate."""
        try:
            r = self.scope.scalar(formula)
            moving = [s.name for s in symbols(r) if s.kind not in ("time", "variable", "parameter")]
            if moving:
                raise ModelError(f"it depends on {', '.join(moving)}; a rack that moves by itself is given as a body")
            rate = derivative(r, given_rate)
            return r, rate, derivative(rate, given_rate)
        except ModelError as error:
            self.problem(f"body '{name}'", f"rack: {error}")
            return ZERO, ZERO, ZERO

    # ---- names of everything

    def check_names(self) -> None:
        d = self.description
        spaces = {
            "body": [b.name for b in d.bodies],
            "point": [p.name for p in d.points],
            "force": [f.name for f in d.forces],
            "scalar": [*(v.name for v in d.variables), *(z.name for z in d.states), *d.definitions]
            + [r for e in d.externals for r in e.returns],
        }
        for space, names in spaces.items():
            seen: dict[str, str] = {}
            for name in names:
                if not isinstance(name, str) or not NAME.fullmatch(name):
                    self.problem(
                        f"{space} {name!r}", "a name starts with a letter and holds letters, digits, _ and dots."
                    )
                    continue
                other = seen.get(name.lower())
                if other is not None and other == name:
                    self.problem(f"{space} '{name}'", "the name is used twice.")
                elif other is not None:
                    self.problem(f"{space} '{name}'", f"the name differs from '{other}' by case alone.")
                seen[name.lower()] = name
                if space == "scalar" and name.lower() in RESERVED:
                    self.problem(f"{space} '{name}'", "the name is reserved.")
                if space == "body" and name.lower() == "n":
                    self.problem("body 'n'", "the name is reserved for the inertial body.")
        for e in d.externals:
            if e.when in ("input", "echo") and not e.returns:
                self.problem(f"external '{e.name}'", f"when='{e.when}' needs returns=: the names of what it gives.")
            for name in e.returns if e.entered else ():
                if (record := d.parameters.get(name.lower())) is not None and record.value is not None:
                    self.problem(
                        f"external '{e.name}'", f"it gives '{name}', which has the value {record.value} already."
                    )
        for record in d.parameters.values():
            if (
                record.name.lower() in (RESERVED | DUMMIES) - {"fm", "mag", "dir", "norm"}
                and record.name.lower() not in self._default_names()
            ):
                hint = (
                    " Inside a magnitude it stands for the force's own motion; dummies= renames those."
                    if record.name.lower() in DUMMIES
                    else ""
                )
                self.problem(f"parameter '{record.name}'", f"the name is reserved.{hint}")
            elif not NAME.fullmatch(record.name):
                self.problem(
                    f"parameter {record.name!r}", "a name starts with a letter and holds letters, digits, _ and dots."
                )

    def _default_names(self) -> set[str]:
        return {f"{b.name}m".lower() for b in self.description.bodies if b.mass is None}


def joint_states(record: BodyRecord) -> tuple[list[Symbol], list[Symbol]]:
    """Coordinates and speeds of a body as its joint stands in the record; problems are left to the check of the whole."""
    checker = Checker(Description("", bodies=[record]))
    checker.drafts.append(Draft(record, -1))
    checker._states()
    return checker.scope.by_body[record.name.lower()]


def joint_symbols(name: str, slides: int, axes: int, euler: bool, scope: Scope) -> tuple[list[Symbol], list[Symbol]]:
    """Coordinates and speeds of a body with the given joint."""
    n_q = slides + (4 if euler else axes)
    n_u = slides + (3 if euler else axes)

    def names(letter: str, count: int) -> list[str]:
        return [f"{letter}({name})"] if count == 1 else [f"{letter}({name}, {i})" for i in range(1, count + 1)]

    return (
        [scope.symbol(x, "coordinate") for x in names("q", n_q)],
        [scope.symbol(x, "speed") for x in names("u", n_u)],
    )


def _vanishes(size: Expr) -> bool:
    """Is the square of a length zero, exactly or but for rounding?"""
    return size.fingerprint == 0 or (not symbols(size) and evaluate([size], {})[0] < 1e-20)


def _is_axis_number(a: Any) -> bool:
    return isinstance(a, int) and not isinstance(a, bool) and a in (1, 2, 3)


def _coordinate_axis(axis: Vec3) -> int | None:
    for k in range(3):
        if axis[k] is ONE:
            return k
    return None


def _any(flag: Any) -> bool:
    return any(flag) if hasattr(flag, "__len__") else bool(flag)


def _flags(flag: Any, count: int) -> list[bool]:
    if hasattr(flag, "__len__"):
        return [bool(x) for x in flag][:count] + [False] * (count - len(flag))
    return [bool(flag)] * count


def depth_first(drafts: Sequence[Draft]) -> list[int]:
    for position, draft in enumerate(drafts):
        if draft.parent >= 0:
            drafts[draft.parent].children.append(position)
    order: list[int] = []
    stack = [i for i in reversed(range(len(drafts))) if drafts[i].parent < 0]
    while stack:
        i = stack.pop()
        order.append(i)
        stack.extend(reversed(drafts[i].children))
    return order


def freeze(description: Description, small: bool = True) -> tuple[Mechanism, Checker]:
    """The mechanism of a description; problems found so far stay in the checker until `raise_problems`."""
    checker = Checker(description)
    checker.check_names()
    checker.resolve_bodies()
    order = depth_first(checker.drafts)
    for i in order:
        q, u = checker.scope.by_body[checker.drafts[i].record.name.lower()]
        checker.scope.coordinates.extend(q)
        checker.scope.speeds.extend(u)
    if small:
        _assign_orders(checker)
    position = {i: place for place, i in enumerate(order)}
    bodies: list[Body] = []
    for i in order:
        draft = checker.drafts[i]
        record = draft.record
        q, u = checker.scope.by_body[record.name.lower()]
        k = len(draft.slides)
        bodies.append(
            Body(
                index=position[i],
                name=record.name,
                label=record.label or record.name,
                parent=position.get(draft.parent, -1),
                mass=draft.mass,
                inertia=draft.inertia,
                cm=draft.cm,
                joint_at=draft.joint_at,
                slides=draft.slides,
                axes=draft.axes,
                euler=draft.euler,
                C=IDENTITY if _same(draft.C, IDENTITY) else draft.C,
                q_t=tuple(q[:k]),
                q_r=() if record.guide else tuple(q[k:]),
                u_t=tuple(u[:k]),
                u_r=() if record.guide else tuple(u[k:]),
                guide=checker.guided(draft) if record.guide else None,
            )
        )
    if not checker.problems:
        bodies = choose_speeds(bodies)
    states = tuple(checker.scope.symbol(z.name, "coordinate") for z in description.states)
    checker.scope.coordinates.extend(states)
    orders = dict(checker.scope.orders)
    mechanism = Mechanism(description.name, tuple(bodies), description, orders, description.small_threshold, states)
    return mechanism, checker


def _same(a: Mat3, b: Mat3) -> bool:
    return all(a[i][j] is b[i][j] for i in range(3) for j in range(3))


def _assign_orders(checker: Checker) -> None:
    """Small orders of symbols from small(), large() and the flags of bodies; then symbols are made anew."""
    d, scope = checker.description, checker.scope
    for draft in checker.drafts:
        record = draft.record
        q, u = scope.by_body[record.name.lower()]
        k = len(draft.slides)
        flags = _flags(record.small_translations, k) + _flags(record.small_angles, max(len(q), len(u)) - k)
        for states in (q, u):
            for s, flag in zip(states, flags, strict=False):
                if flag:
                    scope.orders[s.name.lower()] = 1
    for given, order in [(x, 1) for x in d.small] + [(x, -1) for x in d.large]:
        try:
            e = scope.scalar(given)
        except ModelError as error:
            checker.problem("small()" if order > 0 else "large()", str(error))
            continue
        if not isinstance(e, Symbol):
            checker.problem(
                "small()" if order > 0 else "large()", f"{e} is not a parameter, variable, coordinate or speed."
            )
            continue
        scope.orders[e.name.lower()] = order
    if scope.orders:
        for key, (q, u) in scope.by_body.items():
            scope.by_body[key] = (
                [scope.symbol(s.name, s.kind) for s in q],
                [scope.symbol(s.name, s.kind) for s in u],
            )
        scope.forget()
        scope.coordinates[:] = [scope.symbol(s.name, s.kind) for s in scope.coordinates]
        scope.speeds[:] = [scope.symbol(s.name, s.kind) for s in scope.speeds]


def choose_speeds(bodies: list[Body]) -> list[Body]:
    """Composite bodies and the kind of speeds (Sayers 1990, sections 8.1.4 to 8.1.6)."""
    children: dict[int, list[int]] = {}
    for b in bodies:
        children.setdefault(b.parent, []).append(b.index)
    result = list(bodies)
    for b in reversed(bodies):
        mass, moment = b.mass, tuple(mul(b.mass, c) for c in b.cm)
        for i in children.get(b.index, []):
            child = result[i]
            if child.fixed_cm:
                at = add3(child.joint_at, matvec(child.C, child.composite_cm))
                mass = add(mass, child.composite_mass)
                moment = add3(moment, tuple(mul(child.composite_mass, x) for x in at))  # type: ignore[arg-type]
        cm: Vec3 = NULL if mass.fingerprint == 0 else tuple(div(x, mass) for x in moment)  # type: ignore[assignment]
        result[b.index] = replace(
            b, composite_mass=mass, composite_cm=cm, fixed_cm=_fixed(b, mass, cm), rotor=_is_rotor(b)
        )
    for b in bodies:  # parents first
        here = result[b.index]
        free_rotation = here.euler or len(here.axes) == 3
        axes = _speed_axes(here)
        free = len(here.slides) == 3 or bool(axes)
        result[b.index] = replace(
            here,
            free_rotation=free_rotation,
            free_translation=free,
            speed_axes=(0, 1, 2) if len(here.slides) == 3 else axes,
            speed_point=here.composite_cm if free else NULL,
        )
    return result


def _fixed(b: Body, mass: Expr, cm: Vec3) -> bool:
    """Is the composite mass centre fixed in the parent?"""
    if b.slides or b.guide:
        return False
    if mass.fingerprint == 0 or all(x is ZERO for x in cm) or (not b.axes and not b.euler):
        return True
    if len(b.axes) == 1:
        return all(x is ZERO or x.fingerprint == 0 for x in cross3(b.axes[0], cm))
    return False


def _is_rotor(b: Body) -> bool:
    if len(b.axes) != 1 or _coordinate_axis(b.axes[0]) is None:
        return False
    k = _coordinate_axis(b.axes[0])
    assert k is not None
    i, j = (k + 1) % 3, (k + 2) % 3
    off = all(b.inertia[r][c] is ZERO for r in range(3) for c in range(3) if r != c)
    return off and b.inertia[i][i] is b.inertia[j][j]


def _speed_axes(b: Body) -> tuple[int, ...]:
    """Body axes of the translational speeds of a body that moves in a fixed plane, else none."""
    if len(b.slides) != 2 or b.parent != -1 or b.euler or len(b.axes) > 1:
        return ()
    normal = cross3(*b.slides)
    if b.axes:
        in_parent = matvec(b.C, b.axes[0])
        if not all(x is ZERO or x.fingerprint == 0 for x in cross3(normal, in_parent)):
            return ()
    in_body = matvec(transpose(b.C), normal)
    for k in range(3):
        if in_body[k] in (ONE, MINUS_ONE):
            i, j = (k + 1) % 3, (k + 2) % 3
            return (i, j) if k == 2 else tuple(sorted((i, j)))
    return ()
