"""What stands on the ground next to a vehicle: cones, edges of lanes, and the path of a run, added
to its scene."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from bellcrank.core.files.stl import Mesh
from bellcrank.scene.scene import Scene, SceneItem, SceneMark, SceneView, Triple
from bellcrank.scene.solids import revolve_outline

CONE, WHITE, PATH = "#e8641b", "#fafafa", "#2f6fb3"
TALL, FOOT, LINE, TRACE = (
    0.5,
    0.16,
    0.12,
    0.07,
)  # m: height and radius of a cone, widths of lines and of the path
POINTS = 160  # of a path
FLAT = 0.006  # m, thickness of lines
BEHIND = SceneView(np.radians(-148.0), np.radians(20.0), 1.9)


@dataclass(frozen=True)
class Track:
    """Places on level ground in m, x and y: cones, straight edges of lanes from point to point, and
    a path."""

    cones: Sequence[tuple[float, float]] = ()
    edges: Sequence[tuple[tuple[float, float], tuple[float, float]]] = ()
    path: Sequence[tuple[float, float]] = ()


def with_track(scene: Scene, track: Track) -> Scene:
    """The scene with what stands on its ground, which lies at height zero, seen from behind; shells
    hide what is in them."""
    marks, items = list(scene.marks), [replace(item, opacity=1.0) for item in scene.items]

    def add_track_item(
        kind: str,
        positions: Iterable[Triple],
        size: tuple[float, ...],
        color: str,
        label: str,
        **options: object,
    ) -> None:
        first = len(marks)
        marks.extend(SceneMark(-1, p) for p in positions)
        listed = tuple(range(first, len(marks)))
        items.append(replace(SceneItem(kind, listed, size, color, "ground", label), **options))  # type: ignore[arg-type]

    for (x0, y0), (x1, y1) in track.edges:
        long = float(np.hypot(x1 - x0, y1 - y0))
        c, s = (x1 - x0) / long, (y1 - y0) / long
        axes = (c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0)
        add_track_item(
            "box",
            [((x0 + x1) / 2, (y0 + y1) / 2, 0.0)],
            (long, LINE, FLAT),
            WHITE,
            "edge of a lane",
            axes=axes,
        )
    for x, y in track.cones:
        add_track_item("mesh", [(x, y, 0.0)], (1.0,), CONE, "cone", mesh=cone_mesh())
    if len(track.path) > 1:
        path_rows = np.unique(
            np.linspace(0, len(track.path) - 1, min(len(track.path), POINTS)).round().astype(int)
        )
        path = [(float(track.path[k][0]), float(track.path[k][1]), 0.02) for k in path_rows]
        add_track_item("line", path, (TRACE,), PATH, "path")
    return replace(scene, marks=tuple(marks), items=tuple(items), view=BEHIND)


@cache
def cone_mesh() -> Mesh:
    """A cone on a plate, in m."""
    outline = np.array(
        [
            (0.0, 0.0),
            (FOOT * 1.3, 0.0),
            (FOOT * 1.3, 0.03),
            (FOOT * 0.8, 0.03),
            (0.03, TALL),
            (0.0, TALL),
        ]
    )
    corners = np.round(revolve_outline(outline, 12).corners.reshape(-1, 3), 4)
    points, vertex_of = np.unique(corners, axis=0, return_inverse=True)
    return Mesh(
        tuple((x, y, z) for x, y, z in points.tolist()),
        tuple((a, b, c) for a, b, c in vertex_of.reshape(-1, 3).tolist()),
    )
