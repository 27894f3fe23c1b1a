"""Aerodynamic maps over ride heights and flow angle: forces by hand, heights, and values that
cannot be."""

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.errors import ModelError

FRONT, REAR = [100.0, 150.0, 200.0], [120.0, 220.0]  # mm
RIDE = {
    "front_at": ["0.3 m", "0 m", "0.15 m"],
    "rear_at": ["-2.8 m", "0 m", "0.17 m"],
    "front": [f"{h} mm" for h in FRONT],
    "rear": [f"{h} mm" for h in REAR],
    "drag": [[0.5, 0.6], [0.55, 0.65], [0.6, 0.8]],
    "lift_front": [[-2.0, -1.6], [-1.4, -1.0], [-0.8, -0.5]],
    "lift_rear": [[-1.5, -2.5], [-1.2, -2.2], [-1.0, -2.0]],
}
FLOW = {
    "side": [["0 deg", 0.0], ["5 deg", 0.3], ["10 deg", 0.5], ["20 deg", 0.8]],
    "yaw": [["0 deg", 0.0], ["10 deg", 0.06], ["20 deg", 0.02]],
    "drag": [["0 deg", 1.0], ["10 deg", 1.2], ["30 deg", 1.1]],
    "lift_rear": [["0 deg", 1.0], ["15 deg", 0.6]],
}
NONE = {"drag": None, "lift_front": None, "lift_rear": None, "side": None, "yaw": None}
AREA, RHO = 2.15, 1.206


def car_with(**air):
    plain = bc.vehicles.Car.read("passenger")
    return plain.changed(aerodynamics={**NONE, **air})


def bilinear(rows, front, rear):
    """By hand, with the edges held."""
    i = 0 if front < FRONT[1] else 1
    a = min(max((front - FRONT[i]) / (FRONT[i + 1] - FRONT[i]), 0.0), 1.0)
    b = min(max((rear - REAR[0]) / (REAR[1] - REAR[0]), 0.0), 1.0)
    z = np.array(rows)
    return (1 - a) * ((1 - b) * z[i, 0] + b * z[i, 1]) + a * (
        (1 - b) * z[i + 1, 0] + b * z[i + 1, 1]
    )


@pytest.mark.campaign
def test_forces_over_ride_heights_and_flow_angle():
    car = car_with(ride=RIDE, flow={k: v for k, v in FLOW.items() if k != "lift_rear"})
    sim = car.system(speed=50).equations().compile()
    calm = sim.simulate(t_end=4, step=0.001, output_every=20)
    heights = [1000 * calm[f"{axle}.ride_height"] for axle in ("front", "rear")]
    assert heights[0][0] == pytest.approx(
        1000 * (car.stand.height + 0.15), abs=0.6
    )  # level, so by hand
    assert heights[0][0] - heights[0][-1] > 5  # pressed down, which the map sees
    ahead = calm["ground_speed"]
    for name, key in (("front.lift_force", "lift_front"), ("rear.lift_force", "lift_rear")):
        expected = [
            bilinear(RIDE[key], f, r) * RHO / 2 * AREA * v**2
            for f, r, v in zip(*heights, ahead, strict=True)
        ]
        assert calm[name] == pytest.approx(np.array(expected), rel=1e-3)  # V along the car
    load = sum(calm[f"{c}.tyre_load"][-1] for c in ("fl", "fr", "rl", "rr"))
    lift = calm["front.lift_force"][-1] + calm["rear.lift_force"][-1]
    assert load == pytest.approx(car.stand.mass * 9.80665 - lift, rel=2e-3)

    wind = 8.0
    blown = sim.simulate(t_end=0.05, step=0.001, inputs={"wind": -wind})
    v = np.hypot(50.0, wind)
    angle = math.degrees(math.atan2(wind, 50.0))  # from the left
    assert blown["air_angle"][0] == pytest.approx(angle, rel=1e-4)  # along the pitched body
    press = RHO / 2 * AREA * v**2
    factor = np.interp(angle, [0, 10, 30], [1.0, 1.2, 1.1])
    drag = bilinear(RIDE["drag"], heights[0][0], heights[1][0])
    assert -blown["drag_force"][0] == pytest.approx(drag * factor * press, rel=2e-4)
    side = np.interp(angle, [0, 5, 10, 20], [0, 0.3, 0.5, 0.8]) * press
    assert blown["side_force"][0] == pytest.approx(-side, rel=2e-4)
    other = sim.simulate(t_end=0.002, step=0.001, inputs={"wind": wind})
    assert other["side_force"][0] == pytest.approx(side, rel=2e-4)
    assert other["air_angle"][0] == pytest.approx(-angle, rel=1e-4)
    far = sim.simulate(
        t_end=0.002, step=0.001, inputs={"wind": -30.0}
    )  # past the last angle, 31 deg
    assert far["side_force"][0] == pytest.approx(-0.8 * RHO / 2 * AREA * (50**2 + 30**2), rel=2e-4)


@pytest.mark.campaign
def test_a_map_that_is_constant_is_the_coefficient():
    flat = {"drag": [[0.4] * 2] * 3, "lift_front": [[-0.2] * 2] * 3, "lift_rear": [[0.1] * 2] * 3}
    runs = []
    for air in (
        {"drag": 0.4, "lift_front": -0.2, "lift_rear": 0.1},
        {"ride": {**RIDE, **flat}},
    ):
        sim = car_with(**air).system(speed=40, exact=False).equations().compile()
        runs.append(sim.simulate(t_end=0.01, step=0.001))
    for channel in ("ax", "speed", "pitch", "fl.tyre_load"):
        assert runs[0][channel] == pytest.approx(runs[1][channel], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("air", "message"),
    [
        (
            {},
            r"aerodynamics\.drag is missing: the drag coefficient, here or as "
            r"aerodynamics\.ride\.drag",
        ),
        (
            {"drag": 0.3, "ride": RIDE},
            r"aerodynamics\.drag and aerodynamics\.ride\.drag are both given",
        ),
        (
            {"ride": {**RIDE, "drag": [[0.5, 0.6]]}},
            r"ride\.drag has 1 rows of 2 numbers; it must have 3 rows",
        ),
        (
            {"ride": {**RIDE, "drag": [[0.5, 0.6], [0.5]]}},
            r"ride\.drag must be a list of rows of numbers, all of one length",
        ),
        ({"ride": {**RIDE, "drag": []}}, r"ride\.drag must be a list of rows"),
        ({"ride": {**RIDE, "drag": [["a", "b"]]}}, r"ride\.drag must be a list of rows"),
        (
            {"ride": {**RIDE, "drag": [[True, 0.6], [0.5, 0.6]]}},
            r"ride\.drag must be a list of rows",
        ),
        (
            {"ride": {**RIDE, "drag": [[0.5, -0.6], [0.5, 0.6], [0.7, 0.8]]}},
            r"ride\.drag = -0\.6 must not be negative",
        ),
        (
            {"ride": {**RIDE, "front": ["200 mm", "150 mm", "100 mm"]}},
            r"ride\.front must be .* increasing heights.*\[200\.0, 150\.0, 100\.0\] mm",
        ),
        (
            {"ride": {**RIDE, "front": ["100 N", "150 N", "200 N"]}},
            r"ride\.front = '100 N' must be in a unit such as m",
        ),
        (
            {"ride": {**RIDE, "lift_frnt": [[1.0]]}},
            r"'lift_frnt' is not known\. Did you mean 'lift_front'",
        ),
        (
            {
                "drag": 0.3,
                "ride": {
                    k: v for k, v in RIDE.items() if k not in ("drag", "lift_front", "lift_rear")
                },
            },
            r"ride has no map: drag, lift_front, lift_rear",
        ),
        (
            {"drag": 0.3, "side": 2.0, "flow": FLOW},
            r"aerodynamics\.side and aerodynamics\.flow\.side are both given",
        ),
        (
            {"drag": 0.3, "flow": {"side": [["5 deg", 0.1], ["10 deg", 0.4]]}},
            r"flow\.side: angles must begin at 0 .* given 5 to 10 deg",
        ),
        (
            {"drag": 0.3, "flow": {"side": [["0 deg", 0.1], ["10 deg", 0.4]]}},
            r"flow\.side: the coefficient at angle 0 must be 0, given 0\.1",
        ),
        (
            {"drag": 0.3, "flow": {"drag": [["0 deg", 0.3], ["10 deg", 0.4]]}},
            r"flow\.drag: the factor at angle 0 must be 1, given 0\.3",
        ),
        (
            {"drag": 0.3, "flow": {"side": [[0, 0.0], [10, 0.4]]}},
            r"flow\.side = 0: its unit is not stated",
        ),
    ],
)
def test_maps_that_cannot_be(air, message):
    with pytest.raises(ModelError, match=message):
        car_with(**air)


def test_heights_outside_of_the_map_are_reported():
    low = {**RIDE, "front": ["10 mm", "15 mm", "20 mm"]}
    remarks = car_with(ride=low).check()
    assert any(
        "front ride height is" in r and "outside of its map, 10 to 20 mm" in r for r in remarks
    )
    assert not any("ride height" in r for r in car_with(ride=RIDE).check())
