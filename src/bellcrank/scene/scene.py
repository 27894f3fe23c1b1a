"""The scene: everything that a picture of a model shows, as plain data with numbers, which JSON can
carry.

Lengths are in equation units. A mark is a point of a body (-1: the ground) along the body's axes;
where bodies are is reported by poses, 12 numbers each (`program.POSE`). Items stand at marks or
between them:

    box        size: lengths along its own axes           at one mark, turned by `axes` against
                                                          its body
    cylinder   size: radius, length along its third axis  likewise
    tyre, rim, hoop, wires: parts of wheels, thick and thin
               size: radius and width of the wheel along its third axis
    sphere     size: radius                               at one mark
    mesh       size: what its points are multiplied with  at one mark, turned by `axes`
    rod        size: radius                               between two marks, of one body or of two
    coil       size: radius of the coil, of the wire      between two marks
    line       size: thickness                            through all its marks
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.core.files.stl import Mesh

Triple = tuple[float, float, float]
Turned = tuple[
    float, float, float, float, float, float, float, float, float
]  # a rotation matrix by rows
MAX_DRAWN_DISTANCE = 1e6  # reaches from the origin past which nothing is drawn
WHEEL_KINDS = ("tyre", "rim", "hoop", "wires")
UPRIGHT: Turned = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class SceneMark:
    """A point of a body."""

    body: int
    position: Triple


@dataclass(frozen=True)
class SceneItem:
    """A primitive; `color` is #rrggbb, `role` says what it shows: body, joint, force, wheel or
    ground."""

    kind: str
    marks: tuple[int, ...]
    size: tuple[float, ...]
    color: str
    role: str
    label: str = ""
    axes: Turned = UPRIGHT
    mesh: Mesh | None = None
    opacity: float = 1.0


@dataclass(frozen=True)
class SceneGround:
    """Ground below wheels: heights along `up` over the way along `along`, the same across; or,
    where `across` has places to the left, a height for each of them at each place of the way."""

    along: Triple
    up: Triple
    way: tuple[float, ...]
    height: tuple[float, ...]
    across: tuple[float, ...] = ()


@dataclass(frozen=True)
class SceneView:
    """Where a scene is seen from, if not from where it usually is: angles about up from ahead to
    the left and above the ground, in rad, and how much more than what moves is shown."""

    around: float
    above: float
    room: float = 1.0


@dataclass(frozen=True)
class Scene:
    """`bodies` are those of the poses, in order; `reach` is half the size of all at the start, `up`
    points away from the weight, `normal` is that of the plane in which all moves, None where there
    is none."""

    name: str
    bodies: tuple[str, ...]
    marks: tuple[SceneMark, ...]
    items: tuple[SceneItem, ...]
    reach: float
    up: Triple
    normal: Triple | None = None
    ground: SceneGround | None = None
    view: SceneView | None = None

    def mark_positions(self, poses: np.ndarray) -> np.ndarray:
        """The marks in the inertial frame, for poses (..., bodies, 12): (..., marks, 3); nan where
        one flew off."""
        fixed = np.zeros((*poses.shape[:-2], 1, 12))
        fixed[..., 3:] = UPRIGHT
        all_poses = np.concatenate([poses, fixed], axis=-2)  # body -1 is the last
        transforms = all_poses[..., [m.body for m in self.marks], :]
        offsets = np.array([m.position for m in self.marks]).reshape(-1, 3)
        rotations = transforms[..., 3:].reshape(*transforms.shape[:-1], 3, 3)
        positions = transforms[..., :3] + np.einsum("...ij,...j->...i", rotations, offsets)
        return np.where(np.abs(positions) <= MAX_DRAWN_DISTANCE * self.reach, positions, np.nan)

    def to_dict(self) -> dict[str, Any]:
        """The scene as JSON has it: lists, numbers and text."""
        items = [
            {
                "kind": i.kind,
                "marks": list(i.marks),
                "size": list(i.size),
                "color": i.color,
                "role": i.role,
            }
            | ({"label": i.label} if i.label else {})
            | ({"axes": list(i.axes)} if i.axes != UPRIGHT else {})
            | (
                {"points": _nested_lists(i.mesh.points), "faces": _nested_lists(i.mesh.faces)}
                if i.mesh is not None
                else {}
            )
            | ({"opacity": i.opacity} if i.opacity < 1 else {})
            for i in self.items
        ]
        g = self.ground
        facts = (
            "along",
            "up",
            "way",
            "height",
            *(("across",) if g is not None and g.across else ()),
        )
        ground = None if g is None else {k: list(getattr(g, k)) for k in facts}
        return {
            "name": self.name,
            "bodies": list(self.bodies),
            "marks": [{"body": m.body, "at": list(m.position)} for m in self.marks],
            "items": items,
            "reach": self.reach,
            "up": list(self.up),
            "normal": None if self.normal is None else list(self.normal),
            "ground": ground,
        }


def _nested_lists(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    return [list(row) for row in rows]


def rotation_to_axis(axis: Sequence[float]) -> Turned:
    """The rotation of a shape whose third axis shall point along `axis`: about the normal of both;
    if that is mostly downwards, so that the first axis stays nearly what it is."""
    v = np.array(axis, float)
    v = v / np.linalg.norm(v)
    x, y, z = v
    if z < -0.5:
        first = np.eye(3)[0] if abs(x) < 0.8 else np.eye(3)[1]
        first = first - (first @ v) * v
        first = first / np.linalg.norm(first)
        rows = np.column_stack([first, np.cross(v, first), v]).ravel().tolist()
    else:
        k = 1 / (1 + z)
        rows = [1 - k * x * x, -k * x * y, x, -k * x * y, 1 - k * y * y, y, -x, -y, z]
    a = [float(round(e, 15)) + 0.0 for e in rows]
    return (a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8])
