"""The picture of a car at rest with its trailers: shell, wheels, links and springs, without
equations.

In:  the data of a car and how it stands. Out: a figure, drawn as pages and animations are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bellcrank.scene.build_scene import car_items, wheel_items
from bellcrank.scene.draft import STEEL, TYRE
from bellcrank.scene.picture import draw_scene
from bellcrank.scene.scene import (
    UPRIGHT,
    Scene,
    SceneGround,
    SceneItem,
    SceneMark,
    rotation_to_axis,
)
from bellcrank.vehicles.cars.building.car_model import (
    PAINT,
    SHELL,
    shell_size,
    tyre_width,
    unloaded_tyre_radius,
)
from bellcrank.vehicles.cars.building.trailer_building import PAINT as PALE
from bellcrank.vehicles.cars.building.trailer_building import WIDE
from bellcrank.vehicles.cars.design.car_data import CarData
from bellcrank.vehicles.cars.design.trailer_data import SIDES, SimpleAxle
from bellcrank.vehicles.cars.statics.static_equilibrium import CarStatics
from bellcrank.vehicles.cars.suspension_view import axle_view
from bellcrank.vehicles.tyres.steady_tyre import ARRAYS

LINK, COIL = 0.012, (0.055, 0.007)  # m, radii of a link, of a spring and of its wire


def car_picture(car: CarData, statics: CarStatics) -> Any:
    """A figure of the car on level ground."""
    marks: list[SceneMark] = []
    items: list[SceneItem] = []
    centres = []

    def add(
        kind: str,
        size: tuple[float, ...],
        color: str,
        role: str,
        *positions: np.ndarray,
        **options: Any,
    ) -> SceneItem:
        first = len(marks)
        marks.extend(SceneMark(0, (float(p[0]), float(p[1]), float(p[2]))) for p in positions)
        return SceneItem(kind, tuple(range(first, len(marks))), size, color, role, **options)

    def on_wheel(
        centre: np.ndarray, offsets: tuple[float, ...], size: tuple[float, float]
    ) -> list[SceneItem]:
        positions = [centre + np.array([0.0, y, 0.0]) for y in offsets]
        return [
            i
            for position in positions
            for i in wheel_items(
                add("wheel", size, TYRE, "wheel", position, axes=rotation_to_axis((0, 1, 0)))
            )
        ]

    for axle in (car.front, car.rear):
        view, tyre = axle_view(axle, statics), (unloaded_tyre_radius(axle), tyre_width(axle))
        for wheel in (view.left, view.right):
            items += [add("rod", (LINK,), STEEL, "body", *link) for link in wheel.links]
            items.append(add("coil", COIL, STEEL, "force", *wheel.spring))
            items += on_wheel(wheel.centre, axle.tyre_offsets, tyre)
            centres.append(wheel.centre)

    def on_axle(
        axle: SimpleAxle, ahead: float, travel: Mapping[str, float] | None = None
    ) -> list[SceneItem]:
        """Wheels of an axle `ahead` of its unit's origin; without travels they stand on the
        ground."""
        radius, (x, y, z) = float(axle.tyre.free_radius(ARRAYS, 0.0)), axle.record.at
        wheels = []
        for side, sign in SIDES.items():
            z_centre = (
                radius if travel is None else z + travel[axle.wheel_name(side)] + statics.height
            )
            wheels += on_wheel(
                np.array([ahead + x, sign * y, z_centre]),
                axle.tyre_offsets,
                (radius, WIDE * radius),
            )
        return wheels

    for added_axle in car.added_axles:
        assert statics.added is not None
        items += on_axle(added_axle, 0.0, statics.added.travel)
    hitch = 0.0  # x of the last one
    for trailer, trailer_statics in zip(car.trailers, statics.trailers, strict=True):
        hitch += float(trailer.hitch_point[0])
        record, x_axle = trailer.record, float(trailer.record.cg[0])
        middle = np.array(
            [hitch + record.body_centre_x, 0.0, trailer_statics.hitch_height + record.height / 2]
        )
        box = (record.length, record.width, record.height)
        items.append(add("box", box, PALE, "body", middle, opacity=SHELL, label=trailer.name))
        bar = np.array([hitch + x_axle / 2, 0.0, trailer_statics.hitch_height])
        items.append(add("box", (-x_axle, 0.1, 0.1), STEEL, "body", bar))
        for towed in trailer.axles:
            items += on_axle(towed, hitch)
    front, height = np.mean(centres[:2], axis=0), float(np.mean([c[2] for c in centres]))
    size = shell_size(car)
    shell = add(
        car.sections.body.style,
        size,
        PAINT,
        "body",
        np.array([front[0], 0.0, height]),
        opacity=SHELL,
        label=car.sections.name,
    )
    items += car_items(shell)
    way = float(front[0]) - 4 * size[0], float(front[0]) + 4 * size[0]
    ground = SceneGround((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), way, (0.0, 0.0))
    scene = Scene(
        car.sections.name,
        ("car",),
        tuple(marks),
        tuple(items),
        size[0] / 2,
        (0.0, 0.0, 1.0),
        ground=ground,
    )
    return draw_scene(scene, np.array([[[0.0, 0.0, 0.0, *UPRIGHT]]]), title="")
