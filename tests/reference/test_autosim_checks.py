"""Derivatives and histories of the examples of Sayers (1990), chapter 9; data in
autosim_checks.toml."""

import numpy as np
import pytest
from cases import CHECKS, assert_close, sample

from tests.models import example

CAR, SC1, SC2, ARM = (
    CHECKS[name] for name in ("passenger_car", "spacecraft_1", "spacecraft_2", "stanford_arm")
)
CAR_CHANNELS = ("Ay", "r", "alpha f", "alpha r", "FY1", "FY2", "MZ1", "MZ2", "ROLLM")


def compiled(name, external=None, **arguments):
    return example(name, **arguments).compile(backend="python", external=external or {})


def commands(t):
    return SC1["check"]["externals"]["clkcmd"], SC1["check"]["externals"]["camcmd"]


def thrusters(t, axis, err, memory):
    return SC1["check"]["externals"]["thrust"][int(axis) - 1]


STUBS = {"cmd": commands, "thrust": thrusters}


@pytest.mark.parametrize(
    ("name", "check", "up", "external"),
    [
        ("passenger_car", CAR["check"], "up", {}),
        ("passenger_car_small", CAR["check"], "up_small_version", {}),
        ("spacecraft_1", SC1["check"], "up", STUBS),
        ("spacecraft_2", SC2["check"], "up", {}),
        ("stanford_arm", ARM["check"], "up_uncontrolled", {}),
        ("stanford_arm_controlled", ARM["check"], "up_controlled", {}),
    ],
)
def test_derivatives_at_check_state(name, check, up, external):
    sim = compiled(name, external)
    qdot, udot = sim.derivatives(0.0, check["q"], check["u"], parameters=check.get("parameters"))
    assert_close(udot, check[up], 1e-10)
    if "qp" in check and not name.endswith("_small"):
        assert_close(qdot, check["qp"], 1e-10)


@pytest.mark.parametrize("name", ["passenger_car", "passenger_car_small"])
def test_car_at_rest_in_step_steer(name):
    _, udot = compiled(name).derivatives(0.0, np.zeros(4), np.zeros(3))
    assert_close(udot, CAR["check"]["defaults_at_rest_up"], 1e-10)


def test_controlled_arm_at_initial_state():
    q = [0.0, np.pi / 2, 0.0, 0.0, 0.0, 0.0]
    _, udot = compiled("stanford_arm_controlled").derivatives(0.0, q, np.zeros(6))
    assert_close(udot, ARM["check"]["up_controlled_at_initial_state"], 1e-10)


@pytest.mark.parametrize(
    ("name", "key"), [("passenger_car", "full"), ("passenger_car_small", "small")]
)
def test_car_step_steer_history(name, key):
    run = compiled(name).simulate(t_end=2.0, step=0.025, method="rk2", output_every=2)
    # the printed program of the small car leaves a second-order term in Ay: (sin(thetar) q4)**2 / 2
    # = 1.1e-5 of it
    rtol = [1e-5 if key == "full" else 1.5e-5] + [1e-5] * 8
    for t, values in CAR["computed"][key].items():
        for got, expected, r in zip(sample(run, CAR_CHANNELS, float(t)), values, rtol, strict=True):
            np.testing.assert_allclose(got, expected, rtol=r, atol=1e-9)


def test_spacecraft_1_history_with_thrusters():
    eom = example("spacecraft_1")
    run = eom.compile(backend="python").simulate(
        t_end=30.0, step=0.02, method="rk2", initial={"q(c)": 4.0, "q(d)": -0.5}
    )
    for t, values in SC1["computed"]["with_thrusters_midpoint_h002"].items():
        np.testing.assert_allclose(
            sample(run, eom.coordinates, float(t)), values, rtol=1e-5, atol=1e-9
        )


def test_spacecraft_1_history_without_thrusters():
    eom = example("spacecraft_1")
    sim = eom.compile(backend="python", external={"thrust": lambda t, axis, err, memory: 0.0})
    run = sim.simulate(
        t_end=11.0, step=0.005, method="rk4", output_every=20, initial={"q(c)": 4.0, "q(d)": -0.5}
    )
    states = sample(run, (*eom.coordinates, *eom.speeds), 11.0)
    np.testing.assert_allclose(
        states, SC1["computed"]["no_thrusters_converged_t11"], rtol=1e-5, atol=1e-9
    )


@pytest.mark.parametrize(("key", "spin"), [("spin_w1", 4), ("spin_w3", 6)])
def test_spacecraft_2_history(key, spin):
    eom = example("spacecraft_2")
    initial = {f"u(w, {i})": 0.0017 if i == spin else 0.00017 for i in (4, 5, 6)}
    run = eom.compile(backend="python").simulate(
        t_end=1000.0, step=1.0, method="rk2", output_every=10, initial=initial
    )
    for t, values in SC2["computed"][key].items():
        states = sample(run, (*eom.coordinates, *eom.speeds), float(t))
        np.testing.assert_allclose(states, values, rtol=1e-6, atol=1e-12)


def test_controlled_arm_history():
    eom = example("stanford_arm_controlled")
    run = eom.compile(backend="python").simulate(
        t_end=10.0, step=0.002, method="rk4", output_every=25, initial={"q(b)": np.pi / 2}
    )
    for t, values in ARM["computed"]["converged"].items():
        states = sample(run, (*eom.coordinates, *eom.speeds), float(t))
        np.testing.assert_allclose(states, values, rtol=1e-6, atol=1e-9)
