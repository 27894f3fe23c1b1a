"""What follows from a motorcycle's data by hand formulas: loads, trails, wheel rates, squat."""

from __future__ import annotations

import math

from bellcrank.vehicles.cars.metrics.handling_metrics import Figures, VehicleMetric
from bellcrank.vehicles.motorcycles.motorcycle_data import MotorcycleData, strut_lever


def motorcycle_metrics(data: MotorcycleData) -> Figures:
    """All figures of a motorcycle at rest with its rider."""
    keys, (front, rear), (x, z) = data.sections, data.loads, data.centre
    rake = keys.front.rake
    normal = data.trail * math.cos(rake)
    metrics = {
        "mass": VehicleMetric(data.mass, "kg", "mass with rider", (20, 500)),
        "wheelbase": VehicleMetric(data.wheelbase, "m", "wheelbase", (0.8, 1.8)),
        "cg_x": VehicleMetric(x, "m", "mass centre before the rear contact"),
        "cg_height": VehicleMetric(z, "m", "height of the mass centre", (0.4, 1.2)),
        "load_front": VehicleMetric(front, "N", "load of the front wheel at rest"),
        "load_rear": VehicleMetric(rear, "N", "load of the rear wheel at rest"),
        "front_share": VehicleMetric(
            front / (front + rear), "", "fraction of the weight on the front wheel", (0.3, 0.6)
        ),
        "trail": VehicleMetric(1000 * data.trail, "mm", "ground trail", (30, 180)),
        "normal_trail": VehicleMetric(1000 * normal, "mm", "trail across the steering axis"),
        "offset": VehicleMetric(1000 * data.offset, "mm", "offset of the fork"),
    }
    if keys.front.spring is not None:
        rate = keys.front.spring.stiffness / math.cos(rake) ** 2 / 1000
        metrics["rate_front"] = VehicleMetric(
            rate, "N/mm", "vertical rate of the front wheel without tyre", (5, 60)
        )
    arm, strut = keys.rear.arm, keys.rear.spring
    if arm is not None and strut is not None:
        ratio = strut_lever(strut, arm.pivot) / arm.pivot[0]
        rate = strut.stiffness * ratio**2 / 1000
        metrics["rate_rear"] = VehicleMetric(
            rate, "N/mm", "vertical rate of the rear wheel, without tyre and preload", (5, 80)
        )
        if keys.chain is not None:
            metrics["squat_ratio"] = VehicleMetric(
                squat_ratio(data),
                "",
                "squat ratio: load transfer over the moment of chain and swing arm",
            )
    return Figures(metrics)


def squat_ratio(data: MotorcycleData) -> float:
    """Slope of the load-transfer line over that of the squat line, which leads from the rear
    contact to where the upper run of the chain meets the line of the swing arm. 1: the arm keeps
    its angle under drive; more: it squats. Cossalter, Motorcycle Dynamics (2nd ed., 2006), section
    6.4."""
    chain, arm = data.sections.chain, data.sections.rear.arm
    assert chain is not None and arm is not None
    axle = (0.0, data.heights[1])
    dx, dz = chain.sprocket[0] - axle[0], chain.sprocket[2] - axle[1]
    distance = math.hypot(dx, dz)
    sin = (chain.rear_radius - chain.front_radius) / distance
    cos = math.sqrt(1 - sin**2)
    ex, ez = (
        (cos * dx + sin * dz) / distance,
        (cos * dz - sin * dx) / distance,
    )  # along the upper run
    px, pz = axle[0] - chain.rear_radius * ez, axle[1] + chain.rear_radius * ex  # a point of it
    ax, az = arm.pivot[0] - axle[0], arm.pivot[2] - axle[1]
    determinant = ax * ez - az * ex
    if abs(determinant) < 1e-9 * distance:
        slope = az / ax  # parallel: the squat line has their slope
    else:
        fraction = ((px - axle[0]) * ez - (pz - axle[1]) * ex) / determinant
        slope = (axle[1] + fraction * az) / (axle[0] + fraction * ax)
    return data.centre[1] / data.wheelbase / slope
