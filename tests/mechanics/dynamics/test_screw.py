"""A screw against a slide and a rotation that a constraint couples, in closed form, and by the
independent check."""

import math

import numpy as np
import pytest

import bellcrank as bc

AXIS = (0.5, 1, 1)


def machine(screwed: bool) -> bc.System:
    """A nut with a pendulum on a swinging bolt; the axis of the screw is no axis of the bolt."""
    s = bc.System("nut", axes="SAE")
    s.add_gravity()
    bolt = s.add_body("bolt", rotate=2, cm=(0.1, 0, 0.4), mass=2, inertia=(0.3, 0.2, 0.1))
    free = {"joint": bc.Screw("pitch", AXIS)} if screwed else {"translate": AXIS, "rotate": AXIS}
    nut = s.add_body(
        "nut",
        bolt,
        joint_at=(0.1, 0.2, 0.6),
        cm=(0.05, 0, 0.1),
        mass=1.5,
        inertia=(0.04, 0.05, 0.06),
        **free,
    )
    s.add_body(
        "bob",
        nut,
        rotate=1,
        joint_at=(0, 0.1, 0),
        cm=(0, 0, 0.3),
        mass=0.4,
        inertia=(0.01, 0.01, 0.002),
    )
    s.add_point("tip", nut, (0.2, 0.1, 0))
    s.add_point("base", None, (0.5, 0, 1))
    s.add_strut("spring", between=("tip", "base"), magnitude="-k*(x - x0) - c*v")
    s.add_moment("motor", magnitude="m0*cos(3*t)", direction=nut[3], on=nut, against=bolt)
    s.set_defaults(pitch=0.3, k=50, c=2, m0=1.5)
    if not screwed:
        s.add_constraint(f"u(nut, 1) - pitch/{2 * math.pi!r}*u(nut, 2)", eliminate="u(nut, 1)")
    s.add_outputs("energy")
    return s


@pytest.mark.parametrize("backend", ["c", "python"])
@pytest.mark.parametrize("solve", ["explicit", "implicit"])
@pytest.mark.campaign
def test_screw_moves_like_a_slide_and_a_rotation_that_are_coupled(backend, solve):
    screw, coupled = (
        machine(x).equations(solve=solve).compile(backend=backend) for x in (True, False)
    )
    lead = 0.3 / (2 * math.pi)
    for q, u in (([0.3, 0.8, -0.4], [0.5, -1.2, 0.7]), ([-0.2, 2.5, 0.1], [-0.4, 3.0, -2.0])):
        qd, ud = screw.derivatives(0.2, q, u)
        assert qd == pytest.approx(u)
        _, expected = coupled.derivatives(0.2, [q[0], lead * q[1], q[1], q[2]], u)
        np.testing.assert_allclose(ud, expected, rtol=1e-11)
        ours, theirs = (
            screw.outputs(0.2, q, u),
            coupled.outputs(0.2, [q[0], lead * q[1], q[1], q[2]], u),
        )
        assert ours["energy"] == pytest.approx(theirs["energy"], rel=1e-12)


def test_nut_falls_along_a_thread():
    s = bc.System("thread", axes="SAE")
    s.add_gravity()
    s.add_body("nut", mass=2, inertia=(1, 1, 0.01), joint=bc.Screw(0.2))
    sim = s.equations().compile()
    lead = 0.2 / (2 * math.pi)
    (qd,), (ud,) = sim.derivatives(0, [0.4], [1.5])
    assert (qd, ud) == pytest.approx((1.5, 2 * 9.80665 * lead / (0.01 + 2 * lead**2)))
    run = sim.simulate(t_end=0.5, step=0.01)
    assert run["q(nut)"][-1] == pytest.approx(0.5 * ud * 0.5**2)


@pytest.mark.campaign
def test_independent_check_passes():
    for screwed in (True, False):
        assert bc.check(machine(screwed), states=5).passed


def test_independent_check_of_a_nut_alone_passes():
    s = bc.System("nut", axes="SAE")
    free = bc.Screw(0.3, AXIS)
    s.add_body(
        "nut",
        joint=free,
        joint_at=(0.1, 0.2, 0.6),
        cm=(0.05, 0, 0.1),
        mass=1.5,
        inertia=(0.04, 0.05, 0.06),
    )
    s.add_gravity()
    assert bc.check(s, states=1, backend="python", run=False).passed


def test_pitch_is_a_length_and_the_joint_has_words():
    eom = machine(True).equations()
    assert eom.interface.find_or_none("pitch", ("parameter",)).unit.text == "m"
    assert eom.analysis.mechanism.bodies[1].joint.text == "screw"
    assert (
        "Rotation of nut relative to bolt"
        in eom.interface.find_or_none("q(nut)", ("coordinate",)).description
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"joint": bc.Screw(1), "rotate": 3}, "carried by a screw"),
        ({"joint": bc.Screw("q(nut)")}, "pitch: q(nut) must be constant"),
        ({"joint": bc.Screw(1, axis=4)}, "axis of the screw: 4 is not an axis"),
        ({"joint": "screw"}, "joint='screw' is not a joint"),
    ],
)
def test_what_is_wrong_is_said(options, told):
    s = bc.System("wrong")
    s.add_body("nut", mass=1, inertia=(1, 1, 1), **options)
    with pytest.raises(bc.ModelError) as error:
        s.equations()
    assert told in str(error.value)


def test_order_n_is_refused():
    with pytest.raises(bc.ModelError, match="models with screws"):
        machine(True).equations(solve="order-n")
