"""Kinematics and compliance of an axle of a car: what its linkage does, and what springs, bars and
steering add.

Rates are by virtual work over the travel, with the fraction of the preload, stops and the anti-roll
bar. A wheel gives way by its bushes or the coefficients of the file and, if it is steered, by the
elasticity of column and assistance while the steering wheel is held; forces act on both wheels
alike, to the same side.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bellcrank.linkage.measures import Measures, measure_wheel
from bellcrank.linkage.wheel_motion import WheelMotion, linkage_wheel_motion
from bellcrank.vehicles.cars.design.axles import AxleData
from bellcrank.vehicles.cars.design.car_data import GRAVITY, Array, CarData
from bellcrank.vehicles.cars.keys.car_keys import ComplianceKeys, SteeringKeys
from bellcrank.vehicles.cars.statics.bush_compliance import (
    H,
    axle_compliance,
    carrier_compliance,
    compliance_coefficients,
)
from bellcrank.vehicles.cars.statics.static_equilibrium import (
    CarStatics,
    bar_and_beam_work,
    corner_state,
    drawn_length,
    spring_and_stop_force,
)


def axle_measures(
    car: CarData, statics: CarStatics, linkage: Any, axle: str, travel: Any, rack: Any, mode: str
) -> Measures:
    """Measures of the left wheel of an axle, the other wheel moving by `mode`."""
    m = measure_wheel(linkage, travel, rack, mode)
    z, fitted = m["travel"], car.axle(axle)
    other_travel = {"parallel": z, "opposite": -z, "single": np.zeros_like(z)}[mode]
    bush_rate = axle_compliance(car, statics, fitted).rate
    coupling = {"parallel": 1.0, "opposite": -1.0, "single": 0.0}[mode]
    if fitted.carries_both_wheels:
        coupled = _CoupledWheelRates(fitted, statics, z, other_travel, coupling)
        wheel = linkage_wheel_motion(linkage, z, mode=mode)
        load, rate, far_rate, ground = coupled.load, coupled.rate, coupled.far_rate, coupled.ground
    else:
        load, rate = _wheel_load_and_rate(fitted, statics, z, other_travel, coupling, bush_rate)
        wheel = linkage_wheel_motion(linkage, z, m.columns.get("rack", 0.0))
        far_rate = (
            _wheel_load_and_rate(fitted, statics, other_travel, z, -1.0, bush_rate)[1]
            if mode == "opposite"
            else rate
        )
        ground = (load + _unsprung_weight(fitted, z)) / wheel.v_contact[:, 2]
    m.add("wheel_load", ground, "N", "wheel load, vertical at the ground, with the unsprung weight")
    m.add(
        "suspension_load",
        load,
        "N",
        "suspension load, vertical at the wheel centre, of spring, stops, anti-roll bar and "
        "cross beam",
    )
    m.add(
        "vertical_wheel_rate",
        rate,
        "N/m",
        "vertical wheel rate, derivative of the suspension load with respect to travel",
    )
    if mode == "opposite":
        stiffness = math.radians(1.0) * fitted.half_track**2 * (rate + far_rate)
        m.add(
            "roll_stiffness", stiffness, "N-m/deg", "roll stiffness, of springs and anti-roll bar"
        )
    steering = car.sections.steering if fitted.is_steered and axle == "front" else None
    _add_steering_compliance(
        m, steering, _add_compliance_measures(m, car, statics, fitted, wheel), wheel
    )
    return m


def _wheel_load_and_rate(
    axle: AxleData,
    statics: CarStatics,
    z: Array,
    other_travel: Array,
    coupling: float,
    bushes: float,
) -> tuple[Array, Array]:
    """Load and rate at the wheel; `coupling`: movement of the other wheel per travel of this one;
    `bushes`: their rate at the wheel."""
    pose = axle.linkage.solve(z)
    a, b = (pose.point(p) for p in axle.spring)
    line, v = a.position - b.position, a.d - b.d
    length = np.linalg.norm(line, axis=1)
    u = line / length[:, None]
    ratio = (u * v).sum(1)
    length_dd = ((v * v).sum(1) - ratio**2) / length + (u * (a.dd - b.dd)).sum(1)
    free_length, drawn = statics.free_length[axle.name], drawn_length(axle, axle.spring)

    def spring_and_stop_forces(lengths: Array) -> Array:
        return np.array(
            [spring_and_stop_force(axle, free_length, float(x), drawn) for x in lengths]
        )

    force_partial = (spring_and_stop_forces(length + H) - spring_and_stop_forces(length - H)) / (
        2 * H
    )
    static_travel = statics.travel[0 if axle.name == "front" else 2]
    load = -spring_and_stop_forces(length) * ratio + bushes * (z - static_travel)
    rate = -(force_partial * ratio**2 + spring_and_stop_forces(length) * length_dd) + bushes
    if axle.record.anti_roll_bar is not None:
        k = statics.bar_stiffness[axle.name]
        end, opposite_end = (
            axle.linkage.solve(x).point(axle.record.anti_roll_bar.at) for x in (z, other_travel)
        )
        height_difference = end.position[:, 2] - opposite_end.position[:, 2]
        load = load + k * height_difference * end.d[:, 2]
        rate = rate + k * (
            height_difference * end.dd[:, 2]
            + end.d[:, 2] * (end.d[:, 2] - coupling * opposite_end.d[:, 2])
        )
    return load, rate


class _CoupledWheelRates:
    """Loads and rates at the wheels of an axle whose linkage carries both, over travels of the left
    wheel and the other one, by virtual work over each travel. `load` and `rate`: of the left wheel;
    `far_rate`: change of the load of the right wheel per its travel; `ground`: load of the left
    wheel at the ground."""

    def __init__(
        self, axle: AxleData, statics: CarStatics, z: Array, other_travel: Array, coupling: float
    ) -> None:
        self.axle, self.at_rest = axle, statics
        h, rows = 1e-5, []
        for a, b in zip(map(float, z), map(float, other_travel), strict=True):
            low, high = (self._loads(a + d, b + d * coupling)[0] for d in (-h, h))
            rate = (high - low) / (2 * h)
            loads, ground = self._loads(a, b)
            rows.append((loads[0], rate[0], rate[1] / coupling if coupling else 0.0, ground[0]))
        self.load, self.rate, self.far_rate, self.ground = np.array(rows).reshape(-1, 4).T

    def _loads(self, left_travel: float, right_travel: float) -> tuple[Array, Array]:
        """Loads of both wheels that springs, bar and beam carry, and those at the ground with the
        unsprung weight."""
        axle, vertical = self.axle, np.array([0.0, 0.0, 1.0])
        height = self.at_rest.body_attitude(axle.name).height
        corners = [
            corner_state(axle, side, z, height, vertical, opposite)
            for side, z, opposite in (
                (1, left_travel, right_travel),
                (-1, right_travel, left_travel),
            )
        ]
        free_length, bar = (
            self.at_rest.free_length[axle.name],
            self.at_rest.bar_stiffness[axle.name],
        )
        spring_forces = [
            spring_and_stop_force(axle, free_length, c.length, c.drawn) for c in corners
        ]
        loads, weights, contact_rise = np.zeros(2), np.zeros(2), np.zeros((2, 2))
        for i, (state, opposite) in enumerate((corners, corners[::-1])):
            work = (
                spring_forces[i] * state.spring_motion_ratios[0]
                + spring_forces[1 - i] * opposite.spring_motion_ratios[1]
                + bar_and_beam_work(axle, bar, state, opposite)
            )
            loads[i] = -work
            weights[i] = GRAVITY * (
                sum(p.mass * p.by[0][2] for p in state.masses)
                + sum(p.mass * p.by[1][2] for p in opposite.masses)
            )
            contact_rise[i, i], contact_rise[i, 1 - i] = (
                state.contact_partial[2],
                opposite.slope_other[2],
            )
        return loads, np.linalg.solve(contact_rise, loads + weights)


def _unsprung_weight(axle: AxleData, z: Array) -> Array:
    """Weight of wheel, carrier and links, each by the rise of its mass centre over the travel."""
    vertical = np.array([0.0, 0.0, 1.0])
    corner_masses = [corner_state(axle, 1, float(x), 0.0, vertical).masses for x in z]
    return np.array(
        [
            GRAVITY * sum(part.mass * float(part.by[0][2]) for part in masses)
            for masses in corner_masses
        ]
    )


def _add_compliance_measures(
    m: Measures, car: CarData, statics: CarStatics, axle: AxleData, w: WheelMotion
) -> dict[str, Array]:
    """What the wheel gives over its travel, in rad, N and N m; of bushes its ways and their rate
    are added."""
    if not axle.bushes:
        return {
            k: np.full_like(m["travel"], x)
            for k, x in vars(axle.record.compliance or ComplianceKeys()).items()
        }
    arms = w.in_wheel_axes(w.contact - w.centre)
    compliances = [carrier_compliance(axle, statics, w.pose[i]) for i in range(len(arms))]
    rows = [
        vars(compliance_coefficients(car, axle, f, arm))
        for f, arm in zip(compliances, arms, strict=True)
    ]
    lateral = np.array([0.0, 1.0, 0.0])
    sides = [f.small_displacement(lateral, arm) for f, arm in zip(compliances, arms, strict=True)]
    lateral_values = [
        1e6 * (d[1] + np.cross(d[3:], arm)[1]) for d, arm in zip(sides, arms, strict=True)
    ]
    m.add(
        "lateral_compliance",
        np.array(lateral_values),
        "mm/kN",
        "lateral compliance, displacement of the contact centre per lateral force, on bushes",
    )
    longitudinal_values = [1e6 * f.compliance[0, 0] for f in compliances]
    m.add(
        "longitudinal_compliance",
        np.array(longitudinal_values),
        "mm/kN",
        "longitudinal compliance, displacement of the wheel centre per longitudinal force, "
        "on bushes",
    )
    m.add(
        "bush_rate",
        np.array([f.rate for f in compliances]),
        "N/m",
        "bush rate, vertical at the wheel, added to that of springs",
    )
    return {k: np.array([row[k] for row in rows]) for k in rows[0]}


def _add_steering_compliance(
    m: Measures, steering: SteeringKeys | None, responses: dict[str, Array], w: WheelMotion
) -> None:
    lateral_steer, aligning_steer = (
        responses["steer_by_lateral_force"],
        responses["steer_by_aligning_moment"],
    )
    lateral_camber = responses["camber_by_lateral_force"]
    if steering is not None:
        assert w.pose.delta_rack is not None and w.pose.d_rack is not None
        pinion = steering.rack_per_turn / (2 * math.pi)
        rack_compliance = 2 / (
            (1 + steering.assist) * steering.stiffness / pinion**2
        )  # of the rack, by both wheels
        swing = w.pose.d_rack + np.cross(w.pose.delta_rack, w.in_wheel_axes(w.contact - w.centre))
        lateral_steer = lateral_steer + rack_compliance * swing[:, 1] * w.pose.delta_rack[:, 2]
        aligning_steer = aligning_steer + rack_compliance * w.pose.delta_rack[:, 2] ** 2
        lateral_camber = lateral_camber + rack_compliance * swing[:, 1] * w.pose.delta_rack[:, 0]
    deg = math.degrees(1.0)
    m.add(
        "lateral_force_steer",
        1000 * deg * lateral_steer,
        "deg/kN",
        "lateral force steer, to the left, per lateral force on each wheel",
    )
    m.add(
        "aligning_steer",
        100 * deg * aligning_steer,
        "deg/100 N-m",
        "aligning steer, to the left, per aligning moment of each wheel",
    )
    driving_toe = responses["toe_by_longitudinal_force"]
    m.add(
        "driving_toe",
        1000 * deg * driving_toe,
        "deg/kN",
        "driving toe, toe-in per driving force on each wheel",
    )
    lever = w.centre[:, 2] - w.contact[:, 2]
    braking = lever * responses["toe_by_brake_torque"] - driving_toe
    m.add(
        "braking_toe",
        1000 * deg * braking,
        "deg/kN",
        "braking toe, toe-in per braking force on each wheel, by its brake",
    )
    m.add(
        "camber_compliance",
        1000 * deg * lateral_camber,
        "deg/kN",
        "camber compliance, top to the right, per lateral force to the left",
    )
