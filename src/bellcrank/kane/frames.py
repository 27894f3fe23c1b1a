"""Frames of a hand-led derivation: orientations are given one after the other, in any order and
direction.

Unlike in `bellcrank.symbolic.vector`, a frame exists before its orientation is known and keeps its
own unit vectors (who writes A3 expects to read A3, even where it equals N3); turns about one axis
add up to the sine and cosine of one angle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from bellcrank.core.errors import ModelError
from bellcrank.kane.printed_results import PrintedResult, latex_matrix
from bellcrank.symbolic.expr import ONE, Expr, add, mul, neg
from bellcrank.symbolic.expr.formula_parser import axis_number
from bellcrank.symbolic.vector import basis
from bellcrank.symbolic.vector.basis import (
    Mat3,
    UnitVector,
    Vector,
    axis_rotation,
    dot_units,
    transpose,
)

AnyFrame = TypeVar("AnyFrame", bound=basis.Frame)


@dataclass(frozen=True, eq=False)
class KaneUnitVector(UnitVector):
    """A unit vector of a frame, written A1, A2 or A3."""

    def __str__(self) -> str:
        return f"{self.frame.name}{self.axis + 1}"

    __repr__ = __str__


class Frame(basis.Frame):
    """Three orthogonal unit vectors `A[1]`, `A[2]`, `A[3]`. `Derivation.frames` makes them.

    Attributes
    ----------
    name : str
        Name.
    parent, R, omega : optional
        Of frames of a `System`; here the orientation is given by steps of the derivation.

    Examples
    --------
    >>> from bellcrank.kane import Derivation
    >>> (B,) = Derivation("top").frames("B")
    >>> 2 * B[1] - B[3]
    2*B1 - B3
    """

    parent: Frame | None
    turn: tuple[int, Expr] | None  # axis (0..2) and angle of a simple rotation from the parent

    def __post_init__(self) -> None:
        self.depth = 0
        self.turn = None
        self.axes = (KaneUnitVector(self, 0), KaneUnitVector(self, 1), KaneUnitVector(self, 2))

    def __getitem__(self, i: int | str) -> Vector:
        number = axis_number(i)
        if number is None:
            raise ModelError(
                f"{self.name}[{i!r}]: the unit vectors of a frame are 1, 2, 3 or 'x', 'y', 'z'"
            )
        return Vector({self.axes[number - 1]: ONE})

    @property
    def x(self) -> Vector:
        """The first unit vector."""
        return self[1]

    @property
    def y(self) -> Vector:
        """The second unit vector."""
        return self[2]

    @property
    def z(self) -> Vector:
        """The third unit vector."""
        return self[3]

    def __str__(self) -> str:
        return self.name


def join_frames(
    parent: Frame,
    child: Frame,
    R: Mat3,
    rotation: tuple[int, Expr] | None,
    everything: Iterable[Frame],
) -> None:
    """Gives the child its orientation in the parent; trees of frames that were apart become one."""
    _make_root(child)
    child.parent, child.R, child.turn = parent, R, rotation
    for frame in everything:
        frame.depth = len(_ancestor_chain(frame)) - 1
    for frame in everything:
        _add_turns(frame)


def are_connected(*frames: basis.Frame) -> bool:
    """Is the orientation of all frames in each other known?"""
    return len({_ancestor_chain(f)[-1] for f in frames}) <= 1


def direction_cosines(a: Frame, b: Frame) -> Mat3:
    """R_AB[i][j] = a_i . b_j of connected frames."""
    rows = [tuple(dot_units(e, f) for f in b.axes) for e in a.axes]
    return rows[0], rows[1], rows[2]  # type: ignore[return-value]


def frames_of(*vectors: Vector) -> list[basis.Frame]:
    """The frames whose unit vectors occur."""
    return list(dict.fromkeys(e.frame for v in vectors for e in v.terms))


@dataclass(frozen=True, repr=False)
class DirectionCosines(PrintedResult):
    """Direction cosines `R[i][j] = a_i . b_j` of two frames, which print as a table.

    Attributes
    ----------
    a, b : Frame
        The frames.
    R : 3 x 3 tuple of Expr
        The cosines.

    Examples
    --------
    >>> from bellcrank.kane import Derivation
    >>> d = Derivation("top")
    >>> (A,), (q,) = d.frames("A"), d.coordinates("q")
    >>> d.rotate("N", A, 3, q).R[0]
    (cos(q), -sin(q), 0)
    """

    a: Frame
    b: Frame
    R: Mat3

    def __getitem__(self, index: tuple[int, int]) -> Expr:
        i, j = index
        return self.R[i - 1][j - 1]

    def __str__(self) -> str:
        head = ["", *(str(e) for e in self.b.axes)]
        rows = [
            head,
            *([str(e), *(str(c) for c in row)] for e, row in zip(self.a.axes, self.R, strict=True)),
        ]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        return "\n".join(
            "  ".join(f"{x:{w}}" for x, w in zip(row, widths, strict=True)).rstrip() for row in rows
        )

    def latex(self) -> str:
        """Write the table in LaTeX.

        Returns
        -------
        str
            The text, for display mode.
        """
        return latex_matrix(self.R)


def _ancestor_chain(frame: AnyFrame) -> list[AnyFrame]:
    """A frame, its parent and so on to the root of its tree."""
    chain = [frame]
    while (parent := chain[-1].parent) is not None:
        chain.append(parent)  # type: ignore[arg-type]
    return chain


def _make_root(frame: Frame) -> None:
    """Turns the links from a frame to the root of its tree around."""
    chain = _ancestor_chain(frame)
    links = [(f.R, f.turn) for f in chain]
    frame.parent, frame.R, frame.turn = None, basis.IDENTITY, None
    for child, parent, (R, rotation) in zip(chain, chain[1:], links, strict=False):
        parent.parent, parent.R = child, transpose(R)
        parent.turn = None if rotation is None else (rotation[0], neg(rotation[1]))


def _add_turns(frame: Frame) -> None:
    """Direction cosines to ancestors behind turns about one and the same axis: those of the sum of
    the angles."""
    if frame.turn is None or frame.parent is None:
        return
    axis, angle = frame.turn
    ancestor = frame.parent
    while ancestor.turn is not None and ancestor.turn[0] == axis and ancestor.parent is not None:
        angle = add(angle, ancestor.turn[1])
        ancestor = ancestor.parent
        R = axis_rotation(axis, angle)
        for i, e in enumerate(ancestor.axes):
            for j, f in enumerate(frame.axes):
                frame._dots.setdefault((f, e), R[i][j])


def name_cosines(f: basis.Frame, g: basis.Frame, name: Callable[[Expr], Expr]) -> None:
    """Gives direction cosines of two frames that are not neighbours a name, built on those of the
    frames between."""
    pending = [(f, g)]
    while pending:
        f, g = pending.pop()
        if f.depth < g.depth:
            f, g = g, f
        parent = f.parent
        if parent is None or _has_known_cosines(f, g):
            continue
        if not _has_known_cosines(parent, g):
            pending += [(f, g), (parent, g)]
            continue
        for e in f.axes:
            for k in g.axes:
                terms = [mul(f.R[i][e.axis], dot_units(parent.axes[i], k)) for i in range(3)]
                f._dots[(e, k)] = name(add(*terms))


def _has_known_cosines(f: basis.Frame, g: basis.Frame) -> bool:
    """Are the cosines of two frames known, or those of neighbours?"""
    if f is g or f.parent is g or g.parent is f:
        return True
    return (f.axes[0], g.axes[0]) in f._dots or (g.axes[0], f.axes[0]) in g._dots
