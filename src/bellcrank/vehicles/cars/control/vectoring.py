"""Torque vectoring: torque moved from one wheel of an axle to the other, for a yaw moment without
longitudinal force.

The moment is proportional to the lateral acceleration V r, or to the yaw-rate error to a
single-track car, or the sum. With M = k V r the axles of a steady turn carry F_1 = (m b V r - M)/l
and F_2 = (m a V r + M)/l, so the understeer gradient changes by -k/l (1/C_1 + 1/C_2).
"""

from __future__ import annotations

from bellcrank.vehicles.cars.control.controller_context import (
    ACTIVE,
    YAW_RATE,
    ControllerContext,
    ControllerOutputs,
    clip_formula,
    reference_yaw_rate,
)
from bellcrank.vehicles.cars.keys.controller_keys import TorqueVectoringKeys


def add_vectoring(
    context: ControllerContext, keys: TorqueVectoringKeys, controls: ControllerOutputs
) -> None:
    """States, channels and wheel torques of torque vectoring."""
    s = context.s
    context.add_parameters(
        "vectoring", "torque vectoring", keys, understeer=context.single_track_model.understeer
    )
    s.require_positive("vectoring_lag", "vectoring_slow")
    s.define("vectoring.on", "vectoring_on*max(0, min(1, forward/vectoring_slow - 1))")
    error = f"({reference_yaw_rate(s, 'vectoring')} - {YAW_RATE})"
    s.define(
        "vectoring.moment",
        f"vectoring.on*(vectoring_moment*forward*{YAW_RATE} + vectoring_gain*{error})",
    )
    axles = ("front", "rear") if keys.axle == "both" else (keys.axle,)
    for axle in axles:
        name, lever = (
            f"vectoring.{axle}",
            context.rolling_radius(axle) / (2 * len(axles) * context.half_track(axle)),
        )
        torque = clip_formula(
            f"{lever!r}*vectoring.moment", "-vectoring_torque", "vectoring_torque"
        )
        s.add_state(
            name,
            rate=f"({torque} - {name})/vectoring_lag",
            units="F*L",
            label=f"torque vectoring: torque moved to the right {axle} wheel",
        )
        left_corner, right_corner = (f"{axle[0]}{side}" for side in "lr")
        controls.drive[left_corner].append(f"(-{name})")
        controls.drive[right_corner].append(name)
        s.add_output(
            f"{name}.power",
            f"{name}*(u({right_corner}.wheel) - u({left_corner}.wheel))",
            units="F*L/T",
            label=f"torque vectoring: power that it adds at the {axle} wheels",
        )
    s.add_output(
        "vectoring.yaw_moment",
        "vectoring.moment",
        units="F*L",
        label="torque vectoring: requested yaw moment, positive to the left",
    )
    largest = " + ".join(f"abs(vectoring.{axle})" for axle in axles)
    s.add_output(
        "vectoring.active",
        f"where({largest} > {ACTIVE}, 1, 0)",
        units="1",
        label="torque vectoring: 1 while it moves torque",
    )
