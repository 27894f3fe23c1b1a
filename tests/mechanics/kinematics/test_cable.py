"""Cables through points: motion next to formulas by hand, energy, momentum, frames, units, wrong
arguments."""

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.mechanics.kinematics.analysis import analyse
from bellcrank.mechanics.kinematics.dimensions import infer_quantities
from bellcrank.model.build_mechanism import build_mechanism
from bellcrank.scene.draft_scene import draft_scene
from bellcrank.verify.check import check


def pulled(tension="3*x"):
    """A body that moves in a plane, on a cable from the ground over an eye of the body to the
    ground."""
    s = bc.System("pulled")
    b = s.add_body("b", translate=(1, 2), rotate=3, mass=2, inertia=(1, 1, 0.3))
    eye = s.add_point("eye", b, at=(0.2, 0.1, 0))
    ends = [s.add_point(f"end{i}", at=at) for i, at in enumerate([(1.5, 0.2, 0), (0.4, 2.0, 0)])]
    s.add_cable("rope", tension=tension, through=(ends[0], eye, ends[1]))
    s.add_outputs("forces")
    return s


def test_generalized_forces_by_hand():
    """Virtual work: minus tension times partial derivatives of the length, by differences."""
    s = pulled("k*(x - x0) + c*v")
    k, c = 40.0, 3.0
    s.set_defaults(k=k, c=c)
    sim = s.equations().compile(backend="python")
    M = np.diag([2, 2, 0.3])  # its mass centre is its origin

    def length(q):
        at = np.array(q[:2]) + [
            0.2 * math.cos(q[2]) - 0.1 * math.sin(q[2]),
            0.2 * math.sin(q[2]) + 0.1 * math.cos(q[2]),
        ]
        return math.dist(at, (1.5, 0.2)) + math.dist(at, (0.4, 2.0))

    q, u, h = np.array([0.1, -0.2, 0.7]), np.array([0.4, 0.3, -0.8]), 1e-6
    J = np.array([(length(q + h * e) - length(q - h * e)) / (2 * h) for e in np.eye(3)])
    held, still = k * (length(q) - length(np.zeros(3))), np.zeros(3)
    rates = np.array([sim.derivatives(0.0, q, e)[0] for e in np.eye(3)]).T  # q' = rates u
    assert sim.outputs(0.0, q, u)["rope"] == pytest.approx(held + c * J @ rates @ u, rel=1e-8)
    assert M @ rates @ sim.derivatives(0.0, q, still)[1] == pytest.approx(-held * J, rel=1e-8)


def over_three_bodies(**options):
    """Three free bodies, one of them drawn turned, and a cable through four points, two of them on
    one body."""
    s = bc.System("in space", **options)
    at = ((0, 0, 0), (1, 0.2, 0), (0.4, 1.1, 0.3))
    bodies = [
        s.add_body(
            f"b{i}",
            translate=(1, 2, 3),
            rotate=(3, 1, 2),
            mass=1 + i,
            inertia=(0.1, 0.2, 0.25),
            joint_at=p,
            orientation=[(1, 0.3 * i), (3, 0.5)],
        )
        for i, p in enumerate(at)
    ]
    points = [
        s.add_point(f"p{i}", bodies[j], at=(0.1, -0.05 * i, 0.1))
        for i, j in enumerate((0, 1, 1, 2))
    ]
    s.add_cable("rope", tension="k*(x - 1.2)", through=points)
    s.set_defaults(k=20)
    s.add_outputs("energy", "momentum", "forces")
    return s


def test_momentum_and_energy_of_free_bodies_are_kept():
    """Rates of both along the motion, from a random state."""
    sim = over_three_bodies().equations().compile(backend="python")
    q, u = np.random.default_rng(3).uniform(-0.3, 0.3, (2, 18))
    rates, h = sim.derivatives(0.0, q, u), 1e-5
    ahead, behind = (sim.outputs(0.0, q + x * rates[0], u + x * rates[1]) for x in (h, -h))
    for found in (ahead, behind):
        found["all"] = found["kinetic"] + found["rope"] ** 2 / (2 * 20)
    change = {name: (ahead[name] - behind[name]) / (2 * h) for name in ahead}
    assert abs(change["kinetic"]) > 1
    assert [change[name] for name in ("all", "p1", "p2", "p3", "h1", "h2", "h3")] == pytest.approx(
        [0] * 7, abs=1e-6
    )


@pytest.mark.parametrize(
    "model", [pulled, pytest.param(over_three_bodies, marks=pytest.mark.campaign)]
)
def test_checked_against_numerical_mechanics(model):
    report = check(model(), states=2, backend="python")
    assert report.passed, str(report)


def test_like_a_strut_between_two_points():
    def model(add):
        s = bc.System("two points")
        b = s.add_body("b", translate=(1, 2, 3), mass="m")
        p = s.add_point("p", at=(1, 2, 3))
        add(s, b, p)
        return (
            s.equations()
            .compile(backend="python")
            .derivatives(0.0, [0.1, 0.2, 0.4], [1, 2, 3], parameters={"m": 2})[1]
        )

    cable = model(
        lambda s, b, p: s.add_cable("c", tension="7*(x - x0) + 2*v", through=[b.origin, p])
    )
    strut = model(
        lambda s, b, p: s.add_strut("c", magnitude="-7*(x - x0) - 2*v", between=(b.origin, p))
    )
    assert cable == pytest.approx(strut, rel=1e-14)


def test_tension_by_inverse_dynamics():
    sim = pulled().equations().compile(backend="python")
    q, u = np.array([0.1, -0.2, 0.7]), np.array([0.4, 0.3, -0.8])
    found = sim.inverse(q, u, sim.derivatives(0.0, q, u)[1], forces=["rope"])
    assert found["rope"] == pytest.approx(sim.outputs(0.0, q, u)["rope"], rel=1e-12)


def test_units_and_picture():
    found = infer_quantities(analyse(*build_mechanism(pulled("k*(x - l0) + c*v").description)))[
        0
    ].unit
    assert [found[name].text for name in ("k", "c", "l0")] == ["N/m", "N-s/m", "m"]
    a = pulled().equations(optimise="none").derived.analysis
    assert [(x.label, x.kind, x.look) for x in a.loads] == [("rope", "cable", "rod")] * 2
    assert [x.kind for x in draft_scene(a).items if x.role == "force"] == ["rod"] * 2


def test_wrong_arguments():
    s = pulled()
    s.add_cable("one", tension=1, through=("eye",))
    s.add_cable("inside", tension=1, through=("eye", "b.origin"))
    s.add_cable("same", tension=1, through=("end0", "eye", "eye"))
    s.add_cable("far", tension="x", through=("end0", "eyes"))
    with pytest.raises(bc.ModelError) as error:
        s.equations()
    told = str(error.value)
    assert "cable 'one': through=('eye',) must be two or more points" in told
    assert "cable 'inside': all its points belong to one body" in told
    assert "cable 'same': its points eye and eye coincide" in told
    assert "cable 'far'" in told and "eyes" in told
