"""Constraints that cannot be meant: each gets an error, or a warning, that names the place and says
what is used or allowed."""

import numpy as np
import pytest

import bellcrank as bc


def linkage():
    """A sound four-bar linkage with a pendulum on its coupler: two degrees of freedom."""
    s = bc.System("spoiled", units="mks")
    rod = {"rotate": 3, "mass": 1, "inertia": (0.1, 0.1, 0.1)}
    a = s.add_body("a", cm=(0.5, 0, 0), **rod)
    b = s.add_body("b", parent=a, joint_at=(1, 0, 0), cm=(1, 0, 0), **rod)
    c = s.add_body("c", joint_at=(2, 0, 0), cm=(0.75, 0, 0), **rod)
    s.add_body("d", parent=b, joint_at=(1, 0, 0), cm=(0, -0.3, 0), **rod)
    s.add_point("p", body=b, at=(2, 0, 0))
    s.add_point("r", body=c, at=(1.5, 0, 0))
    s.add_loop_joint("pin", between=("p", "r"), directions=("[n1]", "[n2]"))
    s.set_run(t_end=0.1, step=0.001, initial={"q(a)": 1.2})
    return s


def tree():
    """A pendulum on a cart."""
    s = bc.System("spoiled", units="mks")
    cart = s.add_body("cart", translate=1, mass=2, inertia=0)
    s.add_body("rod", parent=cart, rotate=3, cm=(0, -1, 0), mass=1, inertia=(0.1, 0.1, 0.1))
    s.set_run(t_end=0.1, step=0.01)
    return s


def neither_speed_nor_coordinate(s):
    s.add_constraint("k - 2*t/t0")


def nonlinear_in_speeds(s):
    s.add_constraint("u(a)*u(d) - w**2", label="governor")


def no_freedom_left(s):
    s.add_constraint("q(a) - k", label="first stop")
    s.add_constraint("q(d) - k", label="second stop")


def loop_of_a_body_with_itself(s):
    s.add_loop_joint("tie", "distance", between=("p", "b.cm"))


def loop_between_rigidly_joined_bodies(s):
    s.add_body("plate", parent="b", joint_at=(0.5, 0.2, 0), mass=1, inertia=(0.1, 0.1, 0.1))
    s.add_loop_joint("tie", "distance", between=("plate.cm", "p"))


def loop_of_the_ground_with_itself(s):
    s.add_point("one", at=(0, 0, 0))
    s.add_point("other", at=(1, 0, 0))
    s.add_loop_joint("tie", "distance", between=("one", "other"))


def driven_twice(s):
    s.add_constraint("q(a) - w*t", label="drive")
    s.add_constraint("q(a) - 2*w*t", label="other drive")


def driven_against_a_stop(s):
    s.add_constraint("u(d) - w", label="motor")
    s.add_constraint("2*u(d) - w", label="brake")


def polygon_in_a_constraint(s):
    s.add_constraint(
        s.expr("q(d)") - bc.table([0, 1, 2], [0, 0.3, 0.1], 1)(s.expr("t*w")), label="cam"
    )


def unknown_loop_joint(s):
    s.add_loop_joint("tie", "sphercal", between=("p", "r"), axis="[b3]")


def joint_without_axis(s):
    s.add_loop_joint("tie", "revolute", between=("d.cm", "r"))


def loop_without_directions(s):
    s.add_loop_joint("tie", between=("d.cm", "r"))


def unknown_point(s):
    s.add_loop_joint("tie", "spherical", between=("d.cm", "rr"))


def eliminated_speed_that_does_not_occur(s):
    s.add_constraint("u(a) + u(b)", eliminate="u(d)")


CASES = [  # spoiler, patterns that the message must hold
    (neither_speed_nor_coordinate, "k - 2", "speed", "coordinate"),
    (nonlinear_in_speeds, r"u\(a\)", "linear", "speed"),
    (no_freedom_left, "freedom"),
    (loop_of_a_body_with_itself, "tie", "one body|itself|both belong"),
    (loop_between_rigidly_joined_bodies, "tie", "rigid|one body"),
    (loop_of_the_ground_with_itself, "tie", "one body|itself|both belong"),
    (driven_twice, r"q\(a\) - w\*t|drive", r"q\(a\) - 2\*w\*t|other drive", "contradict"),
    (driven_against_a_stop, r"u\(d\) - w|motor", r"2\*u\(d\) - w|brake", "contradict"),
    (polygon_in_a_constraint, "table", "straight lines", "second derivative", "order=3"),
    (unknown_loop_joint, "tie", "sphercal", "spherical"),
    (joint_without_axis, "tie", "axis"),
    (loop_without_directions, "tie", "directions", "kind"),
    (unknown_point, "rr", "'r'|no point"),
    (eliminated_speed_that_does_not_occur, r"u\(d\)", "occur"),
]


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: case[0].__name__ if isinstance(case, tuple) else None
)
def test_error_names_the_constraint(case):
    spoil, *patterns = case
    s = linkage()
    for name, value in {"k": 0.3, "w": 1.0}.items():
        s.add_parameter(name, value)
    spoil(s)
    with pytest.raises(bc.ModelError) as caught:
        s.equations()
    for pattern in patterns:
        caught.match(pattern)


@pytest.mark.parametrize(
    ("constraint", "patterns"),
    [
        ("u(cart)*u(rod) - 1", [r"u\(cart\)\*u\(rod\)", "linear"]),
        ("t - 3", ["t - 3", "speed", "coordinate"]),
    ],
)
def test_constraints_of_a_tree(constraint, patterns):
    s = tree()
    s.add_constraint(constraint)
    with pytest.raises(bc.ModelError) as caught:
        s.equations()
    for pattern in patterns:
        caught.match(pattern)


def test_no_freedom_in_a_tree():
    s = tree()
    s.add_constraint("u(cart)")
    s.add_constraint("u(rod)")
    with pytest.raises(bc.ModelError, match="0 degrees of freedom"):
        s.equations()


def test_contradicting_positions_warn_and_say_what_is_used():
    sim = linkage().equations().compile(backend="python")
    q, _ = sim.assemble()
    with pytest.warns(
        bc.ModelWarning, match=r"(?s)q\(b\).*contradict|contradict.*q\(b\)"
    ) as caught:
        used, _ = sim.assemble({"q(a)": 1.2, "q(b)": q[1] + 0.2, "q(c)": q[2]})
    assert used[0] == pytest.approx(1.2)
    assert f"{used[1]:.4g}"[:5] in str(caught[0].message)


def test_contradicting_speeds_warn_and_say_what_is_used():
    sim = linkage().equations().compile(backend="python")
    with pytest.warns(bc.ModelWarning, match="contradict") as caught:
        _, u = sim.assemble({"q(a)": 1.2, "u(a)": 1.0, "u(c)": 50.0})
    said = str(caught[0].message)
    names = [x.name for x in sim.interface.speeds]
    changed = [
        name
        for name, value in (("u(a)", 1.0), ("u(c)", 50.0))
        if abs(u[names.index(name)] - value) > 1e-6
    ]
    assert changed and all(name in said for name in changed)


ROUGH = {"step": bc.signals.step(0.05, 0.3), "straight pieces": ([0.0, 0.05, 0.1], [0.0, 0.0, 0.3])}


def driven(constraint, units):
    s = tree()
    s.add_input("z", units=units)
    s.add_constraint(constraint, label="drive")
    return s


@pytest.mark.parametrize(
    ("constraint", "units", "signal"),
    [
        ("u(cart) - z", "L/T", "step"),
        ("q(cart) - z", "L", "step"),
        ("q(cart) - z", "L", "straight pieces"),
    ],
)
def test_rough_input_of_a_constraint_is_refused(constraint, units, signal):
    """A drive that jumps, or whose speed does, has no acceleration."""
    sim = driven(constraint, units).equations().compile(backend="python")
    with pytest.raises(
        bc.BellcrankError, match=r"(?s)\bz\b.*(smooth|differentiable|cubic|derivative|rate)"
    ):
        sim.simulate(inputs={"z": ROUGH[signal]})


@pytest.mark.parametrize(
    ("constraint", "units", "state"),
    [("u(cart) - z", "L/T", "u(cart)"), ("q(cart) - z", "L", "q(cart)")],
)
def test_smooth_input_of_a_constraint_is_followed(constraint, units, state):
    z = bc.signals.sine(0.2, 3.0)
    s = driven(constraint, units)
    s.add_output("speed", "dot(vel(cart.origin), [n1])")
    run = s.equations().compile(backend="python").simulate(inputs={"z": z}, t_end=0.5)
    channel = "speed" if state == "u(cart)" else state
    assert run[channel] == pytest.approx([z(t) for t in run.time], abs=1e-9)


def test_sound_linkage_is_silent():
    sim = linkage().equations().compile(backend="python")
    q, u = sim.assemble({"q(a)": 1.2, "u(a)": 0.5})
    assert np.isfinite(sim.derivatives(0.0, q, u)[1]).all()
