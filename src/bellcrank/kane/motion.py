"""Kinematics by hand: angular velocities, positions, velocities and accelerations, given or
derived.

Kane & Levinson, Dynamics: Theory and Applications (1985), chapters 1 and 2. Quantities are stored
for pairs: w[B, A] is the angular velocity of B in A, p[P, Q] the position vector from P to Q, v[P,
A] the velocity of P in A.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from bellcrank.core.errors import ModelError
from bellcrank.kane.frames import Frame, are_connected, frames_of, name_cosines
from bellcrank.kane.missing_quantities import MissingError, MissingQuantity, run_steps
from bellcrank.kane.scalars import DerivationScalars
from bellcrank.symbolic.expr import Expr, add, mul
from bellcrank.symbolic.vector.basis import Frame as AnyFrame
from bellcrank.symbolic.vector.basis import Vec3, Vector, cross, dot

Node = TypeVar("Node", bound=Hashable)
NOTHING = Vector({})


@dataclass(frozen=True, eq=False)
class Point:
    """A point. `Derivation.points` makes them.

    Attributes
    ----------
    name : str
        Name.

    Examples
    --------
    >>> from bellcrank.kane import Derivation
    >>> [p.name for p in Derivation("linkage").points("P", "Q")]
    ['P', 'Q']
    """

    name: str

    def __repr__(self) -> str:
        return self.name


class KaneMotion:
    """What is known of the motion of frames and points."""

    def __init__(self, scalars: DerivationScalars) -> None:
        self.scalars = scalars
        self.frames: list[Frame] = []
        self.w: dict[tuple[Frame, Frame], Vector] = {}
        self.alf: dict[tuple[Frame, Frame], Vector] = {}
        self.p: dict[tuple[Point, Point], Vector] = {}
        self.v: dict[tuple[Point, Frame], Vector] = {}
        self.a: dict[tuple[Point, Frame], Vector] = {}
        self.derive_w = True  # angular velocities may be derived from orientations
        self.derive_v = (
            True  # velocities and accelerations may be derived from positions and velocities
        )
        self.agreed: set[tuple[object, ...]] = set()  # givens that follow from others
        self.instant: set[tuple[Point, Point]] = (
            set()
        )  # pairs that were points of one body for an instant only
        self._derived: dict[tuple[object, ...], Vector] = {}
        self._stamp: tuple[int, ...] = ()

    def _cached_vector(self, key: tuple[object, ...], compute: Callable[[], Vector]) -> Vector:
        """A derived vector, kept until something new is given."""
        stamp = (
            self.scalars.version,
            len(self.w),
            len(self.alf),
            len(self.p),
            len(self.v),
            len(self.a),
        )
        if stamp != self._stamp:
            self._derived.clear()
            self._stamp = stamp
        if key not in self._derived:
            self._derived[key] = compute()
        return self._derived[key]

    def clear_cache(self) -> None:
        """Forgets what was derived: a quantity was given in another form."""
        self._stamp = ()

    # ---- rotation

    def angular_velocity(self, b: Frame, a: Frame) -> Vector:
        """w of B in A: as given, by addition along frames, or from the rates of the direction
        cosines."""
        if (b, a) in self.w:
            return self.w[b, a]
        return self._cached_vector(("w", b, a), lambda: self._added_w(b, a))

    def _added_w(self, b: Frame, a: Frame) -> Vector:
        path = _shortest_path(b, a, self._angular_velocity_links)
        if path is None and self.derive_w and are_connected(a, b):
            path = self._chain_of_links(b, a)
        if path is None:
            raise MissingError([MissingQuantity("w", b.name, a.name, self._likely_w(b, a))])
        return (
            self.scalars.tidy_vector(sum(path[::-1], NOTHING))
            if len(path) > 1
            else sum(path, NOTHING)
        )

    def given_w(self, b: Frame, a: Frame) -> Vector:
        """w of B in A, put together from what was given, never from orientations."""
        path = _shortest_path(b, a, self._angular_velocity_links)
        if path is None:
            raise MissingError([MissingQuantity("w", b.name, a.name)])
        return sum(path, NOTHING)

    def _angular_velocity_links(self, b: Frame) -> Iterable[tuple[Frame, Vector]]:
        """Frames in which, or in terms of which, the angular velocity of B is given."""
        for (x, y), w in self.w.items():
            if x is b:
                yield y, w
            elif y is b:
                yield x, -w

    def _chain_of_links(self, b: Frame, a: Frame) -> list[Vector] | None:
        def neighbours(f: Frame) -> Iterable[tuple[Frame, Vector]]:
            yield from self._angular_velocity_links(f)
            given_frames = {y for y, _ in self._angular_velocity_links(f)}
            for child in self.frames:
                if child.parent is f and child not in given_frames:
                    yield child, -self.link_w(child)
            if f.parent is not None and f.parent not in given_frames:
                yield f.parent, self.link_w(f)

        return _shortest_path(b, a, neighbours)

    def link_w(self, child: Frame) -> Vector:
        """Angular velocity of a frame in the one its orientation was given in, from the rates of
        that orientation."""
        parent = child.parent
        assert parent is not None
        rate = self.scalars.rate
        if child.turn is not None:
            axis, angle = child.turn
            return Vector.from_pairs([(parent.axes[axis], rate(angle))])
        R = child.R
        D = [[rate(x) for x in row] for row in R]

        def product(j: int, k: int) -> Expr:  # (d b_j / dt in A) . b_k
            return add(*(mul(D[i][j], R[i][k]) for i in range(3)))

        return child.vector((product(1, 2), product(2, 0), product(0, 1)))

    def _likely_w(self, b: Frame, a: Frame) -> str:
        if not are_connected(a, b):
            return ""
        try:
            path = self._chain_of_links(b, a)
        except ModelError:
            return ""
        return str(sum(path, NOTHING)) if path else ""

    def derivative(self, v: Vector, frame: Frame) -> Vector:
        """Time derivative of a vector in a frame: components' rates, and w x e for each unit
        vector."""
        result = Vector.from_pairs((e, self.scalars.rate(c)) for e, c in v.terms.items())
        for f in frames_of(v):
            if f is not frame:
                assert isinstance(f, Frame)
                part = Vector({e: c for e, c in v.terms.items() if e.frame is f})
                result = result + self.cross(self.angular_velocity(f, frame), part)
        return self.scalars.tidy_vector(result)

    def angular_acceleration(self, b: Frame, a: Frame) -> Vector:
        """alpha of B in A, as given or the derivative in A of the angular velocity."""
        if (b, a) in self.alf:
            return self.alf[b, a]
        if not self.derive_v:
            raise MissingError([MissingQuantity("alf", b.name, a.name)])
        return self._cached_vector(
            ("alf", b, a), lambda: self.derivative(self.angular_velocity(b, a), a)
        )

    # ---- points

    def position(self, p: Point, q: Point, lasting: bool = False) -> Vector:
        """Position vector from P to Q, put together from those given; `lasting`: none between
        points of an instant."""
        if (p, q) in self.p and not lasting:
            return self.p[p, q]

        def neighbours(x: Point) -> Iterable[tuple[Point, Vector]]:
            for (a, b), r in self.p.items():
                if lasting and ((a, b) in self.instant or (b, a) in self.instant):
                    continue
                if a is x:
                    yield b, r
                elif b is x:
                    yield a, -r

        path = _shortest_path(p, q, neighbours)
        if path is None:
            raise MissingError([MissingQuantity("p", p.name, q.name)])
        return sum(path, NOTHING)

    def velocity(self, p: Point, frame: Frame) -> Vector:
        """v of P in a frame: as given, or that of a known point and the rate of the position from
        it."""
        if (p, frame) in self.v:
            return self.v[p, frame]
        return self._cached_vector(("v", p, frame), lambda: self._derived_v(p, frame))

    def _derived_v(self, p: Point, frame: Frame) -> Vector:
        for x, f in self.v if self.derive_v else ():
            if f is frame:
                try:
                    r = self.position(x, p)
                except MissingError:
                    continue
                return self.scalars.tidy_vector(self.v[x, f] + self.derivative(r, frame))
        raise MissingError([MissingQuantity("v", p.name, frame.name)])

    def acceleration(self, p: Point, frame: Frame) -> Vector:
        """a of P in a frame, as given or the derivative of its velocity."""
        if (p, frame) in self.a:
            return self.a[p, frame]
        if not self.derive_v:
            raise MissingError([MissingQuantity("a", p.name, frame.name)])
        return self._cached_vector(
            ("a", p, frame), lambda: self.derivative(self.velocity(p, frame), frame)
        )

    def two_points(self, frame: Frame, body: Frame, p: Point, q: Point) -> Vector:
        """v of Q in a frame from that of P, both fixed in a body: v_Q = v_P + w x p_PQ (as above,
        2.7.1)."""
        v, w, r = self._two_point_quantities("velocity", "two-point", frame, body, p, q)
        if self._is_moving_in(r, body):
            self.instant.add((p, q))
        return self.scalars.tidy_vector(v + self.cross(w, r))

    def _is_moving_in(self, r: Vector, body: Frame) -> bool:
        """Does a vector change in a body? Then its ends, as on a rolling wheel, belong to it for an
        instant only."""
        autoz, self.scalars.autoz = self.scalars.autoz, False
        try:
            return any(c.fingerprint != 0 for c in self.derivative(r, body).terms.values())
        except ModelError:
            return False
        finally:
            self.scalars.autoz = autoz

    def one_point(self, frame: Frame, body: Frame, p: Point, q: Point) -> Vector:
        """v of Q in a frame, Q moving on a body with the fixed point P (Kane & Levinson 1985,
        2.8.1)."""
        v, w, r = self._two_point_quantities("velocity", "one-point", frame, body, p, q)
        relative = self.v[q, body] if (q, body) in self.v else self.derivative(r, body)
        return self.scalars.tidy_vector(relative + v + self.cross(w, r))

    def two_points_acceleration(self, frame: Frame, body: Frame, p: Point, q: Point) -> Vector:
        """a of Q from that of P, both fixed in a body (Kane & Levinson 1985, 2.7.2)."""
        a, alf, w, r = self._two_point_quantities("acceleration", "two-point", frame, body, p, q)
        return self.scalars.tidy_vector(a + self.cross(alf, r) + self.cross(w, self.cross(w, r)))

    def one_point_acceleration(self, frame: Frame, body: Frame, p: Point, q: Point) -> Vector:
        """a of Q moving on a body with the fixed point P, Coriolis term included (Kane & Levinson
        1985, 2.8.2)."""
        transport = self.two_points_acceleration(frame, body, p, q)
        w, r = self.angular_velocity(body, frame), self.position(p, q)
        v = self.v[q, body] if (q, body) in self.v else self.derivative(r, body)
        a = self.a[q, body] if (q, body) in self.a else self.derivative(v, body)
        return self.scalars.tidy_vector(a + transport + self.cross(w, v) * 2)

    # ---- products

    def cross(self, a: Vector, b: Vector) -> Vector:
        self._require_orientations(a, b)
        return cross(a, b)

    def dot(self, a: Vector, b: Vector) -> Expr:
        self._require_orientations(a, b)
        return dot(a, b)

    def components(self, v: Vector, frame: Frame) -> Vec3:
        """Components of a vector along the axes of a frame."""
        self._require_orientations(v, frame[1])
        return frame.coordinates(v)

    def _require_orientations(self, *vectors: Vector) -> None:
        """Before a product: orientations must be known; with AUTOZ, cosines of distant frames get
        names."""
        require_connected(*vectors)
        if self.scalars.autoz:
            frames = frames_of(*vectors)
            for i, f in enumerate(frames):
                for g in frames[:i]:
                    name_cosines(f, g, self.scalars.intermediate_symbol)

    def express(self, v: Vector, frame: Frame) -> Vector:
        """The vector with components along the axes of one frame."""
        return self.scalars.tidy_vector(frame.vector(self.components(v, frame)))

    def _two_point_quantities(
        self, quantity: str, theorem: str, frame: Frame, body: Frame, p: Point, q: Point
    ) -> list[Vector]:
        """v of P and w of the body (before them a and alpha), p_PQ; what any of them misses is
        reported at once."""
        steps = [lambda: self.velocity(p, frame), lambda: self.angular_velocity(body, frame)]
        if quantity == "acceleration":
            steps[:1] = [
                lambda: self.acceleration(p, frame),
                lambda: self.angular_acceleration(body, frame),
            ]
        vectors, missing = run_steps([*steps, lambda: self.position(p, q)])
        if missing:
            raise MissingError(missing, f"the {quantity} of {q} by the {theorem} theorem")
        return vectors


def require_connected(*vectors: Vector) -> None:
    """Complains where the orientation of the frames of vectors in each other is not known."""
    frames: list[AnyFrame] = frames_of(*vectors)
    for f in frames[1:]:
        if not are_connected(frames[0], f):
            raise MissingError([MissingQuantity("orientation", frames[0].name, f.name)])


def _shortest_path(
    start: Node, end: Node, neighbours: Callable[[Node], Iterable[tuple[Node, Vector]]]
) -> list[Vector] | None:
    """Vectors along the shortest way from start to end."""
    paths: dict[Node, list[Vector]] = {start: []}
    queue = deque([start])
    while queue and end not in paths:
        node = queue.popleft()
        for neighbour, step in neighbours(node):
            if neighbour not in paths:
                paths[neighbour] = [*paths[node], step]
                queue.append(neighbour)
            if neighbour is end:
                break
    return paths.get(end)
