"""The body of a car as a mesh, by its length, width, height, wheelbase and wheels: a shell over
sections along the car, with arches over the wheels, glass, lamps and a dark floor.

The origin is the middle of the front axle at the height of the wheel centres; x forward, y to the
left, z up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from bellcrank.core.files.stl import Mesh

Profile = tuple[tuple[float, float], ...]
ARCH = 1.13  # radius over that of the wheel
WITHIN = 9  # stations of an arch
FLOOR, WALL, SIDE, WINDOW, ROOF = range(5)  # between the points of a section
GLASS, TRIM, LAMP, TAIL = "#27333f", "#25282c", "#e9eff4", "#b01e28"
NOWHERE = (2.0, 2.0)


@dataclass(frozen=True)
class BodyStyle:
    """A kind of body. Profiles over the length, from the front: fractions of the height above the
    ground, and of half the width; where glass is, and what is open; `wings`: x from and to, z,
    thickness, half width, as such fractions."""

    top: Profile
    belt: Profile
    wide: Profile
    sill: Profile
    screen: tuple[float, float] = NOWHERE
    rear: tuple[float, float] = NOWHERE
    pillars: tuple[tuple[float, float], ...] = ()
    opening: tuple[float, float] = NOWHERE
    taper: float = 0.17  # of the roof against the belt
    arched: bool = True
    windows: bool = True
    lamps: bool = True
    wings: tuple[tuple[float, float, float, float, float], ...] = ()

    @property
    def profile_curves(self) -> tuple[Profile, ...]:
        return self.top, self.belt, self.wide, self.sill

    @property
    def stations(self) -> list[float]:
        """Fractions of the length at which something changes."""
        marks = [
            *self.screen,
            *self.rear,
            *self.opening,
            *(x for pair in self.pillars for x in pair),
        ]
        return [x for profile in self.profile_curves for x, _ in profile] + [
            x for x in marks if x <= 1
        ]


STYLES = {
    "car": BodyStyle(
        top=((0, 0.37), (0.004, 0.4), (0.012, 0.45), (0.05, 0.5), (0.16, 0.6), (0.285, 0.655),
             (0.36, 0.8), (0.445, 0.955), (0.49, 0.977), (0.53, 0.995), (0.62, 1), (0.74, 0.97),
             (0.84, 0.895), (0.935, 0.7), (0.975, 0.655), (0.99, 0.58), (0.996, 0.52), (1, 0.47)),
        belt=((0, 0.34), (0.012, 0.39), (0.05, 0.45), (0.16, 0.555), (0.285, 0.62), (0.5, 0.635),
              (0.8, 0.66), (0.975, 0.62), (0.99, 0.54), (1, 0.45)),
        wide=((0, 0.5), (0.012, 0.72), (0.05, 0.88), (0.13, 0.965), (0.3, 1), (0.72, 1),
              (0.88, 0.97), (0.96, 0.9), (0.99, 0.78), (1, 0.6)),
        sill=((0, 0.25), (0.012, 0.18), (0.04, 0.14), (0.2, 0.125), (0.8, 0.13), (0.95, 0.16),
              (0.985, 0.2), (1, 0.3)),
        screen=(0.285, 0.445), rear=(0.84, 0.935),
        pillars=((0.285, 0.36), (0.555, 0.575), (0.765, 0.84)),
    ),
    "utility": BodyStyle(
        top=((0, 0.46), (0.008, 0.56), (0.06, 0.6), (0.3, 0.625), (0.33, 0.64), (0.375, 0.96),
             (0.41, 1), (0.9, 1), (0.97, 0.985), (0.99, 0.93), (1, 0.6)),
        belt=((0, 0.44), (0.008, 0.52), (0.06, 0.57), (0.3, 0.6), (0.5, 0.615), (0.98, 0.615),
              (1, 0.52)),
        wide=((0, 0.93), (0.008, 0.97), (0.04, 1), (0.96, 1), (0.99, 0.985), (1, 0.96)),
        sill=((0, 0.34), (0.03, 0.3), (0.2, 0.27), (0.8, 0.27), (0.97, 0.32), (1, 0.4)),
        screen=(0.33, 0.375), pillars=((0.33, 0.4), (0.57, 0.595), (0.77, 0.795), (0.93, 1)),
        taper=0.06,
    ),
    "van": BodyStyle(
        top=((0, 0.26), (0.008, 0.34), (0.05, 0.4), (0.13, 0.46), (0.16, 0.49), (0.26, 0.88),
             (0.31, 0.96), (0.38, 1), (0.97, 1), (0.99, 0.96), (1, 0.9)),
        belt=((0, 0.24), (0.008, 0.31), (0.05, 0.37), (0.13, 0.44), (0.16, 0.46), (0.4, 0.5),
              (1, 0.5)),
        wide=((0, 0.78), (0.008, 0.86), (0.04, 0.95), (0.12, 1), (0.97, 1), (1, 0.97)),
        sill=((0, 0.14), (0.03, 0.1), (0.2, 0.09), (0.8, 0.1), (0.97, 0.13), (1, 0.16)),
        screen=(0.16, 0.26), pillars=((0.16, 0.23), (0.38, 3.0)), taper=0.08,
    ),
    "truck": BodyStyle(  # a cab over the front axle, and the frame behind it
        top=((0, 0.42), (0.006, 0.47), (0.03, 0.86), (0.07, 0.96), (0.12, 1), (0.37, 1),
             (0.385, 0.28), (1, 0.27)),
        belt=((0, 0.4), (0.006, 0.45), (0.37, 0.47), (0.385, 0.26), (1, 0.25)),
        wide=((0, 0.94), (0.03, 1), (0.37, 1), (0.385, 0.4), (1, 0.4)),
        sill=((0, 0.12), (0.37, 0.14), (0.385, 0.2), (1, 0.2)),
        screen=(0.006, 0.03), pillars=((0.006, 0.05), (0.22, 3.0)), taper=0.04,
    ),
    "box_truck": BodyStyle(  # the same with a body on the frame
        top=((0, 0.45), (0.006, 0.5), (0.022, 0.8), (0.05, 0.88), (0.09, 0.91), (0.24, 0.91),
             (0.245, 0.3), (0.265, 0.3), (0.27, 1), (1, 1)),
        belt=((0, 0.43), (0.006, 0.48), (0.24, 0.5), (0.245, 0.28), (0.265, 0.28), (0.27, 0.6),
              (1, 0.6)),
        wide=((0, 0.94), (0.03, 0.98), (0.24, 0.98), (0.245, 0.4), (0.265, 0.4), (0.27, 1), (1, 1)),
        sill=((0, 0.13), (0.24, 0.15), (0.245, 0.22), (0.265, 0.22), (0.27, 0.36), (1, 0.36)),
        screen=(0.006, 0.022), pillars=((0.006, 0.04), (0.15, 3.0)), taper=0.02,
    ),
    "formula": BodyStyle(
        top=((0, 0.16), (0.01, 0.21), (0.1, 0.3), (0.25, 0.42), (0.36, 0.5), (0.42, 0.52),
             (0.44, 0.46), (0.57, 0.46), (0.6, 0.9), (0.63, 1), (0.67, 0.92), (0.78, 0.66),
             (0.9, 0.5), (1, 0.4)),
        belt=((0, 0.14), (0.01, 0.18), (0.1, 0.25), (0.25, 0.36), (0.42, 0.43), (0.6, 0.44),
              (0.78, 0.42), (1, 0.32)),
        wide=((0, 0.1), (0.01, 0.13), (0.1, 0.19), (0.25, 0.27), (0.4, 0.36), (0.55, 0.45),
              (0.7, 0.44), (0.85, 0.32), (1, 0.2)),
        sill=((0, 0.09), (0.1, 0.08), (0.3, 0.06), (0.8, 0.06), (1, 0.14)),
        opening=(0.42, 0.6), taper=0.62, arched=False, lamps=False, windows=False,
        wings=((0.0, 0.11, 0.08, 0.03, 0.92), (0.93, 1.0, 0.86, 0.03, 0.6),
               (0.96, 1.0, 0.4, 0.46, 0.03)),
    ),
    "motorcycle": BodyStyle(
        top=((0, 0.6), (0.02, 0.74), (0.08, 0.9), (0.16, 0.97), (0.24, 0.9), (0.32, 0.96),
             (0.4, 0.93), (0.5, 0.76), (0.68, 0.76), (0.72, 0.82), (0.92, 0.88), (1, 0.84)),
        belt=((0, 0.58), (0.08, 0.7), (0.24, 0.72), (0.4, 0.7), (0.5, 0.66), (0.72, 0.7),
              (0.92, 0.8), (1, 0.82)),
        wide=((0, 0.45), (0.08, 0.8), (0.24, 1), (0.42, 0.85), (0.6, 0.62), (0.9, 0.42), (1, 0.25)),
        sill=((0, 0.56), (0.1, 0.5), (0.2, 0.3), (0.26, 0.2), (0.58, 0.2), (0.66, 0.42),
              (0.76, 0.62), (1, 0.8)),
        screen=(0.06, 0.16), taper=0.3, arched=False, lamps=False, windows=False,
    ),
}  # fmt: skip


@cache
def car_body(
    length: float,
    width: float,
    height: float,
    wheelbase: float,
    radius: float,
    overhang: float,
    kind: str = "car",
) -> tuple[tuple[str, Mesh], ...]:
    """Meshes with their colours, "" for that of the paint. `overhang`: from the front axle to the
    front."""
    style = STYLES[kind]
    share, points = _half_sections(style, length, width, height, wheelbase, radius, overhang)
    half_count = points.shape[1]
    mirrored = points[:, ::-1] * [1, -1, 1]
    sections = np.concatenate([points, mirrored[:, 1:]], axis=1)  # over the roof to the other side
    columns = sections.shape[1]
    colored: dict[str, list[tuple[int, int, int]]] = {}
    for i in range(len(sections) - 1):
        middle = (share[i] + share[i + 1]) / 2
        for j in range(columns - 1):
            part = j if j < half_count - 1 else 2 * (half_count - 1) - 1 - j
            a, b, c, d = (
                i * columns + j,
                (i + 1) * columns + j,
                (i + 1) * columns + j + 1,
                i * columns + j + 1,
            )
            colored.setdefault(_part_color(style, PARTS[part], middle), []).extend(
                [(a, c, b), (a, d, c)]
            )
    for row, backwards in ((0, False), (len(sections) - 1, True)):  # front and rear are closed
        for j in range(1, columns - 1):
            face = row * columns, row * columns + j, row * columns + j + 1
            colored.setdefault(TRIM, []).append(face if backwards else (face[0], face[2], face[1]))
    meshes = [
        (color, _compact_mesh(sections.reshape(-1, 3), faces)) for color, faces in colored.items()
    ]
    for start, end, z, thick, half_width in style.wings:
        low = overhang - end * length, -half_width * width / 2, z * height - radius
        high = overhang - start * length, half_width * width / 2, (z + thick) * height - radius
        meshes.append((TRIM, _box_mesh(low, high)))
    return tuple(meshes)


def _box_mesh(low: Sequence[float], high: Sequence[float]) -> Mesh:
    """A box along the axes."""
    points = np.array(
        list(product(*zip(low, high, strict=True)))
    )  # x, y, z: the last turns over first
    sides = (0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)
    return _compact_mesh(points, [face for a, b, c, d in sides for face in ((a, b, c), (a, c, d))])


PARTS = (
    FLOOR,
    WALL,
    WALL,
    SIDE,
    SIDE,
    SIDE,
    WINDOW,
    ROOF,
    ROOF,
    ROOF,
)  # between points of half a section


def _half_sections(
    style: BodyStyle,
    length: float,
    width: float,
    height: float,
    wheelbase: float,
    radius: float,
    overhang: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Fractions of the length, and half sections (stations, points, 3) from the middle of the floor
    to that of the roof."""
    arch = ARCH * radius * style.arched
    front = overhang / length
    angles = np.linspace(0, np.pi, WITHIN)
    arches = [
        x + arch / length * np.cos(angles) * 0.999 for x in (front, (overhang + wheelbase) / length)
    ]
    edges = [
        x + s * 1.001 * arch / length
        for x in (front, (overhang + wheelbase) / length)
        for s in (-1, 1)
    ]
    share = np.unique(np.round(np.concatenate([style.stations, *arches, edges]), 5))
    share = share[(share >= 0) & (share <= 1)]
    x = overhang - share * length
    ground = -radius
    top, belt, wide, sill = (
        np.interp(share, *np.transpose(t)) for t in (style.top, style.belt, style.wide, style.sill)
    )
    top, belt, sill = (ground + height * z for z in (top, belt, sill))
    outer = wide * width / 2
    low, inner = sill.copy(), 0.9 * outer
    for centre in (0.0, -wheelbase):
        inside = arch**2 - (x - centre) ** 2
        in_arch = inside > 0
        low[in_arch] = np.maximum(low[in_arch], np.sqrt(inside[in_arch]))
        inner[in_arch] = np.minimum(inner[in_arch], 0.56 * width / 2)
    low = np.minimum(low, belt - 0.02 * height)
    cabin = np.clip((top - belt - 0.05 * height) / (0.3 * height), 0, 1)
    shoulder = outer * (0.955 - 0.03 * cabin)
    roof = outer * (0.86 - style.taper * cabin)
    edge = belt + (0.93 - 0.02 * cabin) * (top - belt)
    crown, zero = top - edge, np.zeros_like(x)
    lower, upper = (np.maximum(low, sill + part * (belt - sill)) for part in (0.4, 0.78))
    rows = [
        (zero, sill),
        (inner, sill),
        (inner, low),
        (0.975 * outer, low),
        (outer, lower),
        (0.995 * outer, upper),
        (shoulder, belt),
        (roof, edge),
        (0.86 * roof, edge + 0.7 * crown),
        (0.45 * roof, edge + 0.95 * crown),
        (zero, top),
    ]
    return share, np.stack([np.stack([x, y, z], axis=1) for y, z in rows], axis=1)


def _part_color(style: BodyStyle, part: int, share: float) -> str:
    """What a piece of the shell is made of."""
    if part in (FLOOR, WALL):
        return TRIM
    if part == WINDOW and style.windows:
        glazed = style.screen[0] < share < style.rear[1] and not any(
            a < share < b for a, b in style.pillars
        )
        return GLASS if glazed else ""
    if part == ROOF and any(a < share < b for a, b in (style.screen, style.rear)):
        return GLASS
    if part == ROOF and style.opening[0] < share < style.opening[1]:
        return TRIM
    if part == SIDE and style.lamps and (share < 0.03 or share > 0.985):
        return LAMP if share < 0.5 else TAIL
    return ""


def _compact_mesh(points: np.ndarray, faces: list[tuple[int, int, int]]) -> Mesh:
    """Faces with the points that they have, to a tenth of a millimetre."""
    used_points = sorted({k for face in faces for k in face})
    number = {k: i for i, k in enumerate(used_points)}
    rounded = np.round(points[used_points], 4).tolist()
    vertices = tuple(tuple((x, y, z)) for x, y, z in rounded)
    return Mesh(vertices, tuple((number[a], number[b], number[c]) for a, b, c in faces))
