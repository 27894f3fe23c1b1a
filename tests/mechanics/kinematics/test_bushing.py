"""Bushings: loads next to values by hand, energy and its balance at large rotations, frames, wrong
values."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bellcrank as bc

SCALE = np.array([30.0, 30.0, 30.0, 3.0, 3.0, 3.0])


def coupled(seed=1):
    """A symmetric, positive stiffness, full."""
    A = np.random.default_rng(seed).normal(size=(6, 6))
    return (A @ A.T + np.eye(6)) * np.sqrt(np.outer(SCALE, SCALE))


def one_body(**options):
    """A body on a bushing against a second body that moves freely, drawn turned."""
    s = bc.System("on a bushing")
    base = s.add_body(
        "base",
        translate=(1, 2, 3),
        rotate=(3, 1, 2),
        mass=3,
        inertia=(0.3, 0.2, 0.4),
        cm=(0, 0.1, 0),
    )
    part = s.add_body(
        "part", parent=base, translate=(1, 2, 3), rotate=(2, 3, 1), rotation_axis=(0, 0.6, 0.8), joint_at=(0.3, 0.2, 0.1),
        mass=2, inertia=(0.1, 0.2, 0.25), cm=(0.1, 0, 0.05),
    )  # fmt: skip
    p = s.add_point("p", body=part, at=(0.2, -0.1, 0.3))
    s.add_bushing("rubber", at=p, against=base, **options)
    return s


def test_loads_are_slopes_of_the_energy_at_large_rotations():
    """Of the energy by hand over small further movements, the rotation vector by SciPy."""
    K = coupled()
    s = bc.System("held")
    b = s.add_body("b", translate=(1, 2, 3), rotate=(3, 2, 1), mass=2, inertia=(0.1, 0.2, 0.25))
    s.add_bushing("rubber", at=b.origin, stiffness=K)
    s.add_outputs("forces", "moments")
    sim = s.equations().compile(backend="python")

    def energy(x, R):
        d = np.concatenate([x, Rotation.from_matrix(R).as_rotvec()])
        return 0.5 * d @ K @ d

    h = 1e-5
    for angles in (
        (0, 0, 0),
        (1e-6, 0, 2e-6),
        (0.02, -0.03, 0.01),
        (0.7, -0.4, 1.1),
        (2.0, 0.3, -0.5),
    ):
        x, R = np.array([0.02, -0.03, 0.01]), Rotation.from_euler("ZYX", angles).as_matrix()
        found = sim.outputs(0.0, [*x, *angles], np.zeros(6))
        loads = [found[f"rubber.{w}{i}"] for w in "fm" for i in (1, 2, 3)]
        moves = [(energy(x + h * e, R) - energy(x - h * e, R)) / (-2 * h) for e in np.eye(3)]
        turns = [
            (
                energy(x, Rotation.from_rotvec(h * e).as_matrix() @ R)
                - energy(x, Rotation.from_rotvec(-h * e).as_matrix() @ R)
            )
            / (-2 * h)
            for e in np.eye(3)
        ]
        assert loads == pytest.approx([*moves, *turns], rel=1e-7, abs=1e-8 * np.abs(K).max())


def test_torsion_alone_is_in_proportion_to_the_angle():
    s = bc.System("hinge")
    b = s.add_body("b", rotate=3, mass=1, inertia=(1, 1, 2), cm=(0.5, 0, 0))
    s.add_bushing(
        "rubber",
        at=b.origin,
        stiffness=("k", "k", "k", 0, 0, "k_turn"),
        damping=(0, 0, 0, 0, 0, "c_turn"),
    )
    s.set_defaults(k=1e4, k_turn=7, c_turn=0.4)
    s.add_outputs("moments")
    sim = s.equations().compile(backend="python")
    for angle in (0.0, 1e-3, 0.044, 0.045, 0.5, 3.0, -2.0):
        assert sim.outputs(0.0, [angle], [1.5])["rubber.m3"] == pytest.approx(
            -7 * angle - 0.4 * 1.5, rel=1e-13
        )


@pytest.mark.campaign
def test_everything_about_it_is_checked_and_energy_is_kept():
    """A part that tumbles on a moving base: kinetic energy and that of the bushing, momentum."""
    K = coupled()
    s = one_body(stiffness=K)
    x = [f"rubber_{w}{i}" for w in ("x", "turn") for i in (1, 2, 3)]
    s.add_output(
        "stored",
        " + ".join(f"{float(K[i, j]) / 2!r}*{x[i]}*{x[j]}" for i in range(6) for j in range(6)),
        units="F*L",
    )
    s.add_outputs("energy")
    assert bc.check(s).passed
    sim = s.equations().compile()
    run = sim.simulate(
        t_end=3,
        step=0.0005,
        initial={"u(part, 4)": 9.0, "u(part, 6)": -6.0, "u(base, 5)": 2.0, "q(part, 1)": 0.1},
    )
    total = run["kinetic"] + run["stored"]
    assert np.ptp(run["stored"]) > 0.3 * total[0]
    assert total == pytest.approx(total[0], rel=1e-8)


@pytest.mark.campaign
def test_damping_takes_energy_and_the_part_comes_to_rest_as_drawn():
    sim = one_body(stiffness=coupled(), damping=coupled(2) / 30).equations().compile()
    run = sim.simulate(t_end=40, step=0.001, initial={"q(part, 1)": 0.1, "q(part, 5)": 0.5})
    for i in range(1, 7):
        assert run[f"q(part, {i})"][-1] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"stiffness": (1, 2, 3)}, r"stiffness=\(1, 2, 3\) must be six values, three along"),
        ({"stiffness": 5.0}, "must be six values"),
        (
            {"stiffness": (1, 1, 1, 0, 0, -1)},
            r"stiffness has the eigenvalue -1; none may be negative",
        ),
        ({"stiffness": np.triu(np.ones((6, 6)))}, "stiffness must be symmetric"),
        ({"stiffness": (1, 1, math.nan, 0, 0, 0)}, "stiffness must be finite"),
        ({"stiffness": (1,) * 6, "damping": (1, 1, 1, 0, 0, -2)}, "damping has the eigenvalue -2"),
        (
            {"stiffness": (1,) * 6, "at": "q"},
            "at='q' must be a point of s.add_point, or origin or cm of a body",
        ),
        ({"stiffness": (1,) * 6, "against": "b"}, "would act between 'b' and itself"),
    ],
)
def test_wrong_values_are_told(given, told):
    s = bc.System("wrong")
    b = s.add_body("b", translate=1, mass=1, inertia=0)
    with pytest.raises(bc.ModelError, match=told):
        s.add_bushing("rubber", **{"at": b.origin, **given})
