"""The body of a car as a mesh, by its length, width, height, wheelbase and wheels: a shell over sections along the car,
with arches over the wheels, glass, lamps and a dark floor.

The origin is the middle of the front axle at the height of the wheel centres; x forward, y to the left, z up.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from bellcrank.files.stl import Mesh

# Over the length, from the front: fractions of the height above the ground, and of half the width.
TOP = ((0, 0.37), (0.012, 0.45), (0.05, 0.5), (0.16, 0.6), (0.285, 0.655), (0.36, 0.8), (0.445, 0.955), (0.53, 0.995),
       (0.62, 1), (0.74, 0.97), (0.84, 0.895), (0.935, 0.7), (0.975, 0.655), (0.99, 0.58), (1, 0.47))  # fmt: skip
BELT = ((0, 0.34), (0.012, 0.39), (0.05, 0.45), (0.16, 0.555), (0.285, 0.62), (0.5, 0.635), (0.8, 0.66), (0.975, 0.62),
        (0.99, 0.54), (1, 0.45))  # fmt: skip
WIDE = ((0, 0.5), (0.012, 0.72), (0.05, 0.88), (0.13, 0.965), (0.3, 1), (0.72, 1), (0.88, 0.97), (0.96, 0.9),
        (0.99, 0.78), (1, 0.6))  # fmt: skip
SILL = ((0, 0.25), (0.012, 0.18), (0.04, 0.14), (0.2, 0.125), (0.8, 0.13), (0.95, 0.16), (0.985, 0.2), (1, 0.3))
STATIONS = (0, 0.004, 0.012, 0.03, 0.05, 0.09, 0.16, 0.22, 0.27, 0.285, 0.3, 0.36, 0.405, 0.445, 0.49, 0.53, 0.555,
            0.575, 0.62, 0.68, 0.74, 0.765, 0.8, 0.84, 0.9, 0.935, 0.95, 0.975, 0.99, 0.996, 1)  # fmt: skip
ARCH = 1.13  # radius over that of the wheel
WITHIN = 9  # stations of an arch
FLOOR, WALL, SIDE, WINDOW, ROOF = range(5)  # between the points of a section
GLASS, TRIM, LAMP, TAIL = "#27333f", "#25282c", "#e9eff4", "#b01e28"
SCREEN, REAR, PILLARS = (0.285, 0.445), (0.84, 0.935), ((0.285, 0.36), (0.555, 0.575), (0.765, 0.84))


@cache
def car_body(
    length: float, width: float, height: float, wheelbase: float, radius: float, overhang: float
) -> tuple[tuple[str, Mesh], ...]:
    """Meshes with their colours, "" for that of the paint. `overhang`: from the front axle to the front."""
    share, points = _sections(length, width, height, wheelbase, radius, overhang)
    half = points.shape[1]
    mirrored = points[:, ::-1] * [1, -1, 1]
    every = np.concatenate([points, mirrored[:, 1:]], axis=1)  # over the roof to the other side
    columns = every.shape[1]
    colored: dict[str, list[tuple[int, int, int]]] = {}
    for i in range(len(every) - 1):
        middle = (share[i] + share[i + 1]) / 2
        for j in range(columns - 1):
            part = j if j < half - 1 else 2 * (half - 1) - 1 - j
            a, b, c, d = i * columns + j, (i + 1) * columns + j, (i + 1) * columns + j + 1, i * columns + j + 1
            colored.setdefault(_color(PARTS[part], middle), []).extend([(a, c, b), (a, d, c)])
    for row, backwards in ((0, False), (len(every) - 1, True)):  # front and rear are closed
        for j in range(1, columns - 1):
            face = row * columns, row * columns + j, row * columns + j + 1
            colored.setdefault(TRIM, []).append(face if backwards else (face[0], face[2], face[1]))
    return tuple((color, _mesh(every.reshape(-1, 3), faces)) for color, faces in colored.items())


PARTS = (FLOOR, WALL, WALL, SIDE, SIDE, SIDE, WINDOW, ROOF, ROOF, ROOF)  # between points of half a section


def _sections(
    length: float, width: float, height: float, wheelbase: float, radius: float, overhang: float
) -> tuple[np.ndarray, np.ndarray]:
    """Fractions of the length, and half sections (stations, points, 3) from the middle of the floor to that of the
    roof."""
    arch = ARCH * radius
    front = overhang / length
    angles = np.linspace(0, np.pi, WITHIN)
    arches = [x + arch / length * np.cos(angles) * 0.999 for x in (front, (overhang + wheelbase) / length)]
    edges = [x + s * 1.001 * arch / length for x in (front, (overhang + wheelbase) / length) for s in (-1, 1)]
    share = np.unique(np.round(np.concatenate([STATIONS, *arches, edges]), 5))
    share = share[(share >= 0) & (share <= 1)]
    x = overhang - share * length
    ground = -radius
    top, belt, wide, sill = (np.interp(share, *np.transpose(t)) for t in (TOP, BELT, WIDE, SILL))
    top, belt, sill = (ground + height * z for z in (top, belt, sill))
    outer = wide * width / 2
    low, inner = sill.copy(), 0.9 * outer
    for centre in (0.0, -wheelbase):
        inside = arch**2 - (x - centre) ** 2
        within = inside > 0
        low[within] = np.maximum(low[within], np.sqrt(inside[within]))
        inner[within] = np.minimum(inner[within], 0.56 * width / 2)
    low = np.minimum(low, belt - 0.02 * height)
    cabin = np.clip((top - belt - 0.05 * height) / (0.3 * height), 0, 1)
    shoulder = outer * (0.955 - 0.03 * cabin)
    roof = outer * (0.86 - 0.17 * cabin)
    edge = belt + (0.93 - 0.02 * cabin) * (top - belt)
    crown, zero = top - edge, np.zeros_like(x)
    lower, upper = (np.maximum(low, sill + part * (belt - sill)) for part in (0.4, 0.78))
    rows = [(zero, sill), (inner, sill), (inner, low), (0.975 * outer, low), (outer, lower), (0.995 * outer, upper),
            (shoulder, belt), (roof, edge), (0.86 * roof, edge + 0.7 * crown), (0.45 * roof, edge + 0.95 * crown),
            (zero, top)]  # fmt: skip
    return share, np.stack([np.stack([x, y, z], axis=1) for y, z in rows], axis=1)


def _color(part: int, share: float) -> str:
    """What a piece of the shell is made of."""
    if part in (FLOOR, WALL):
        return TRIM
    if part == WINDOW:
        pillar = any(a < share < b for a, b in PILLARS)
        return GLASS if SCREEN[0] < share < REAR[1] and not pillar else ""
    if part == ROOF and (SCREEN[0] < share < SCREEN[1] or REAR[0] < share < REAR[1]):
        return GLASS
    if part == SIDE and share < 0.03:
        return LAMP
    if part == SIDE and share > 0.985:
        return TAIL
    return ""


def _mesh(points: np.ndarray, faces: list[tuple[int, int, int]]) -> Mesh:
    """Faces with the points that they have, to a tenth of a millimetre."""
    used = sorted({k for face in faces for k in face})
    number = {k: i for i, k in enumerate(used)}
    rounded = np.round(points[used], 4).tolist()
    kept = tuple(tuple((x, y, z)) for x, y, z in rounded)
    return Mesh(kept, tuple((number[a], number[b], number[c]) for a, b, c in faces))
