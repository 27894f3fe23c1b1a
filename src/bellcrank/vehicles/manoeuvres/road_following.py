"""Along a road of a file, straight or curved, with a driver who follows its line and wheels on its
surface."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bellcrank.core.metrics.metric_values import rms
from bellcrank.simulation.run.result import Run
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.cars.control.driver import PREVIEW, Driver
from bellcrank.vehicles.driver_path import STEP, Path
from bellcrank.vehicles.manoeuvres.compiled_car import compiled_car
from bellcrank.vehicles.manoeuvres.manoeuvre_result import (
    ON_GROUND,
    Criterion,
    Curve,
    Manoeuvre,
    MetricCollector,
    Result,
    Setting,
)
from bellcrank.vehicles.terrain.terrain import Road, Surface

Array = np.ndarray[Any, Any]
BEGINS = 2.0  # s, until the car has settled on the road
ON = 0.5  # m, from the beginning of the road to the rear wheels
LOST = 5.0  # m outside an edge, where the run ends
BEYOND = 200.0  # m behind the end of the road, for drivers to look at


@dataclass(frozen=True)
class _RoadGround:
    """The ground of a road; equal to another that is called alike."""

    called: str
    ground: Surface = field(compare=False)

    def __call__(self) -> Surface:
        return self.ground


def road_path(road: Road) -> tuple[Path, float]:
    """The line of a road as a path, which continues straight behind it, and its own length."""
    length = float(np.hypot(np.diff(road.x), np.diff(road.y)).sum())
    count = max(min(len(road.x), round(length / STEP) + 1), 3)
    indices = np.unique(np.linspace(0, len(road.x) - 1, count).astype(int))
    points = np.column_stack([road.x[indices], road.y[indices]])
    direction = points[-1] - np.array([road.x[-2], road.y[-2]])
    beyond = points[-1] + np.outer(np.arange(STEP, BEYOND, STEP), direction / np.hypot(*direction))
    return Path.through(*np.vstack([points, beyond]).T), length


def follow_road_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """From the beginning of the road to its end at one speed."""
    road, v = Road.read(settings["file"], spacing=settings["spacing"]), settings["speed"] / 3.6
    path, length = road_path(road)
    driver = Driver(
        path, settings["driver"], settings["preview"], delay=settings["delay"] or 0.0, circles=True
    )
    car = compiled_car(vehicle, settings, driver, _RoadGround(road.ground.c[1], road.ground))
    statics = car.at_rest
    rear_overhang = float(car.data.sprung.cg[0] - statics.contact_points[:, 0].min())
    start, steady = car.path_state(
        path, min(rear_overhang + ON, path.s[-1] / 2), v, road.ground.height
    )
    max_error = max(road.left, -road.right) + LOST
    stop_condition = f"max(driver.station/{length!r}, abs(path_error)/{max_error!r}) > 1"
    run = car.simulate(1.5 * length / v + 10.0, start, {"speed_set": v}, until=stop_condition)
    half_track = max(abs(float(y)) for _, y, _ in statics.contact_points)
    error, station = run["path_error"], run["driver.station"]
    clearance = np.minimum(road.left - error, error - road.right) - half_track
    i_min = int(np.argmin(clearance))
    metrics, is_counted = MetricCollector(), run.time > min(BEGINS, float(run.time[-1]) / 2)
    metrics.add("way", station[-1] - station[0], "m", "distance along the road")
    metrics.add("time", run.time[-1], "s", "time")
    metrics.add(
        "edge",
        clearance[i_min],
        "m",
        "smallest distance of the wheels from the edges; negative: outside",
    )
    metrics.add("edge_at", station[i_min], "m", "station where that was")
    metrics.add("path_error", np.abs(error).max(), "m", "largest distance from the line")
    for channel, label in (
        ("steering_wheel", "steering-wheel angle"),
        ("ay", "lateral acceleration"),
        ("side_slip", "side slip"),
        ("roll", "roll"),
        ("pitch", "pitch"),
    ):
        metrics.add(
            f"{channel}_max",
            np.abs(run[channel][is_counted]).max(),
            run.units[channel],
            f"largest {label}",
        )
    metrics.add(
        "az_rms",
        rms(run.time[is_counted], run["az"][is_counted]),
        "m/s2",
        "vertical acceleration, root mean square",
    )
    metrics.add(
        "climb", np.ptp(run["height"][is_counted]), "m", "difference of heights that the car passes"
    )
    lowest = min(float(run[f"{c}.tyre_load"][is_counted].min()) for c in car.data.all_wheels)
    metrics.add("load_min", lowest, "N", "smallest wheel load")
    metrics.add("speed_min", 3.6 * run["speed"].min(), "km/h", "lowest speed")
    through = bool(station[-1] >= length - 1.0)
    criteria = [
        Criterion(
            f"the car comes to the end of the road: {station[-1]:.0f} of {length:.0f} m", through
        ),
        Criterion(
            f"its wheels stay on the road: {1000 * clearance[i_min]:.0f} mm from the edge",
            bool(clearance.min() > 0),
        ),
    ]
    return Result(
        "road",
        vehicle.name,
        settings,
        {"road": run},
        metrics.as_metrics(),
        criteria,
        [
            "the car begins with all its wheels on the road, "
            + (
                "in steady motion"
                if steady
                else "rolling: the road is uneven there, and no motion is steady"
            ),
            f"its first {BEGINS:g} s do not count for accelerations, angles and loads",
        ],
        (
            "path_error",
            "steering_wheel",
            "ay",
            "az",
            "roll",
            "height",
            "speed",
            "fl.tyre_load",
            "fr.tyre_load",
        ),
        (_road_plan_view(run, path, length, road),),
    )


def _road_plan_view(run: Run, path: Path, length: float, road: Road) -> Curve:
    """The way of the mass centre between the edges of the road."""
    on_road = np.array(path.s) <= length
    x, y, heading = (np.array(c)[on_road] for c in (path.x, path.y, path.heading))
    edges = [
        (x - offset * np.sin(heading), y + offset * np.cos(heading))
        for offset in (road.right, road.left)
    ]
    ex, ey = (np.concatenate([edges[0][k], [np.nan], edges[1][k]]) for k in (0, 1))
    return Curve(
        ON_GROUND, "y of the mass centre, m", (("car", run["x"], run["y"]),), (("edges", ex, ey),)
    )


ROAD = Manoeuvre(
    "road",
    "along a road of a file, by a driver who follows its line",
    {
        "file": Setting("", "", "the road, OpenCRG text (.crg)"),
        "speed": Setting(50.0, "km/h", "speed, kept"),
        "spacing": Setting(
            None, "m", "between the points of its ground; as the file has them if not given"
        ),
        "driver": Setting("macadam", "", ", ".join(PREVIEW)),
        "preview": Setting(
            None, "s", "preview time of the driver; the usual one of its kind if not given"
        ),
        "delay": Setting(None, "s", "delay of the driver's eyes; none if not given"),
    },
    follow_road_test,
    first=("path_error", "ay_max"),
    needs=("file",),
)
