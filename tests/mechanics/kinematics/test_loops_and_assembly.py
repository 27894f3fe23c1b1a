"""Closed loops whose rows repeat each other, or are there by rounding alone, and assemblies on the
wrong side."""

import warnings

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.mechanics.kinematics.analysis import analyse
from bellcrank.mechanics.kinematics.numeric_rank import RandomPosition
from bellcrank.model.build_mechanism import build_mechanism
from bellcrank.symbolic.expr import ZERO, evaluate, free_symbols
from tests.models import derived
from tests.programs import COMPILED_MAINLY_C, build

campaign = pytest.mark.campaign
ROWS = {"revolute": 5, "prismatic": 5, "cylindrical": 4, "universal": 4, "planar": 3}


def rotation(seed):
    """A rotation matrix, orthogonal to the last digit or so."""
    R = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]
    return R * np.sign(np.linalg.det(R))


def frame(R):
    """What gives a body that turns about its third axis the axes R."""
    return {"rotation_axis": tuple(R[:, 2].tolist()), "reference_axis": tuple(R[:, 0].tolist())}


# ---- axes of loop joints


def hung(joint, axis, R, **defaults):
    """A free body in the axes R, joined to the ground."""
    s = bc.System("hung", units="mks")
    own = {"mass": 1, "cm": (0.1, 0.2, 0.3), "inertia": (0.1, 0.2, 0.25), **frame(R)}
    b = s.add_body("b", translate=(1, 2, 3), rotate=(3, 1, 2), **own)
    s.add_loop_joint("loop", joint, between=(b.origin, "o"), axis=axis)
    s.set_defaults(**defaults)
    return s


def rank(s):
    """Of the rows of the loops, at a position drawn at random."""
    k = analyse(*build_mechanism(s.description, True))
    speeds = k.mechanism.speeds
    partials = [dict(row.partials) for row in k.loops.used_rows]
    J = RandomPosition(k.kinematics, 7).evaluate(
        row.get(u, ZERO) for row in partials for u in speeds
    )
    return int(np.linalg.matrix_rank(np.reshape(J, (-1, len(speeds))), 1e-6))


@pytest.mark.parametrize("along", [0, *(pytest.param(i, marks=campaign) for i in (1, 2))])
@pytest.mark.parametrize(
    "joint", ["universal", *(pytest.param(x, marks=campaign) for x in ROWS if x != "universal")]
)
def test_axis_along_an_axis_of_the_other_body(joint, along):
    """An axis with components that were no plain numbers was crossed with itself, and rows were
    lost."""
    R = rotation(1)
    axis = " + ".join(f"({x!r})*[b{i}]" for i, x in enumerate(R[along].tolist(), 1))
    assert rank(hung(joint, axis, R)) == ROWS[joint]


@pytest.mark.parametrize("joint", ["universal", "revolute"])
def test_axis_given_by_parameters(joint):
    """Whatever their values turn out to be, no row is lost."""
    s = hung(joint, "a1*[b1] + a2*[b2] + a3*[b3]", np.eye(3))
    rows = analyse(*build_mechanism(s.description, True)).loops.rows
    assert len(rows) == ROWS[joint]
    for values in ((1, 0, 0), (0.98, 0.1, -0.1), (0, 1, 0), (0, 0, 2), (1, -1, 1)):
        known = dict(zip(("a1", "a2", "a3"), values, strict=True))
        names = {
            x.name: 0.3 + 0.1 * i for i, row in enumerate(rows) for x in free_symbols(row.v)
        } | known
        assert all(
            np.linalg.norm(evaluate(dict(row.partials).values(), names)) > 0.05 for row in rows
        )


def test_points_of_a_universal_joint_meet():
    """They stayed 0.3 m apart."""
    R = rotation(1)
    s = hung("universal", " + ".join(f"({x!r})*[b{i}]" for i, x in enumerate(R[0].tolist(), 1)), R)
    s.add_output("gap", "magnitude(pos(b.origin, o))")
    sim = s.equations(optimise="none").compile(backend="python")
    with pytest.warns(bc.ModelWarning, match="changed"):
        q, u = sim.assemble({"q(b, 1)": 0.2, "q(b, 2)": 0.1, "q(b, 3)": -0.3})
    assert sim.outputs(0.0, q, u)["gap"] < 1e-12


# ---- rows that repeat others


def coupling_rod(n, crank=0.3, turned=None):
    """A rod on n equal cranks."""
    s = bc.System("coupling rod", units="mks")
    R = np.eye(3) if turned is None else turned
    x, y, _ = R.T
    link = {"rotate": 3, "mass": 1, "cm": (0, 0.1, 0), "inertia": (0.1, 0.1, 0.1)}
    own = {} if turned is None else frame(R)
    a = s.add_body("a1", **link, **own)
    rod = s.add_body("rod", parent=a, joint_at=(0, crank, 0), **link)
    for i in range(2, n + 1):
        c = s.add_body(f"a{i}", joint_at=tuple(((i - 1) * x).tolist()), **link, **own)
        p = s.add_point(f"p{i}", body=rod, at=(i - 1, 0, 0))
        r = s.add_point(f"r{i}", body=c, at=(0, crank, 0))
        s.add_loop_joint(
            "loop_2", between=(p, r), directions=(tuple(x.tolist()), tuple(y.tolist()))
        )
    s.add_gravity(direction=tuple((-y).tolist()))
    s.set_run(initial={"q(a1)": 0.4, "u(a1)": 2.0}, t_end=0.3, step=0.002)
    return s


@pytest.mark.parametrize("n", [4, *(pytest.param(n, marks=campaign) for n in (2, 3, 5, 6))])
def test_coupling_rod_on_equal_cranks(n):
    """More rows than speeds counted as a contradiction. The rod stays parallel; all cranks turn as
    one pendulum."""
    eom = coupling_rod(n).equations()
    assert [str(u) for u in eom.independent_speeds] == ["u(a1)"]
    assert len([x for x in eom.notes if "follow" in x]) == (n > 2)
    run = eom.compile(backend="python").simulate(t_end=0.1)
    assert run.ended == "finished"
    for i in range(2, n + 1):
        assert abs(run[f"q(a{i})"] - run["q(a1)"]).max() < 1e-12
    angle, speed = 0.4, 2.0
    inertia, moment = n * (0.1 + 0.1**2) + 0.3**2, n * 0.1 + 0.3
    for _ in range(50):
        h, f = 0.002, lambda a: 9.80665 * moment / inertia * np.sin(a)
        k1, l1 = speed, f(angle)
        k2, l2 = speed + h / 2 * l1, f(angle + h / 2 * k1)
        k3, l3 = speed + h / 2 * l2, f(angle + h / 2 * k2)
        k4, l4 = speed + h * l3, f(angle + h * k3)
        angle, speed = (
            angle + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4),
            speed + h / 6 * (l1 + 2 * l2 + 2 * l3 + l4),
        )
    assert run["q(a1)"][-1] == pytest.approx(angle, abs=1e-9)


def test_rods_of_two_lengths_contradict():
    """Rows that repeat others in a general position are looked at in numbers, and rejected where
    they cannot hold."""
    s = coupling_rod(4)
    s.add_loop_joint("stay", "distance", between=("p2", "r2"), length=0.1)
    with pytest.raises(bc.ModelError, match=r"stay.*contradicts"):
        s.equations()


def test_undecided_rows_ask_for_numbers():
    s = coupling_rod(4, crank="l")
    with pytest.raises(bc.ModelError, match=r"contradicts.*or follows.*default values"):
        s.equations()
    s.set_defaults(l=0.3)
    assert len(s.equations(optimise="none").independent_speeds) == 1


def four_bar(R, tilt=0.0, joint="revolute", lengths=True):
    """A planar four-bar of bodies in the axes R of the ground, closed by a joint that repeats what
    the others hold."""
    s = bc.System("four-bar", units="mks")
    link = {"rotate": 3, "mass": 1, "cm": (0.1, 0.2, 0), "inertia": (0.1, 0.1, 0.1)}
    own = frame(R)
    a = s.add_body("a", **link, **own)
    between = {"rotation_axis": (tilt, 0, 1), "reference_axis": (1, 0, -tilt)} if tilt else {}
    b = s.add_body("b", parent=a, joint_at=(0.4, 0.3, 0), **between, **link)
    c = s.add_body("c", joint_at=tuple((R @ (1.4, 0, 0)).tolist()), **link, **own)
    p = s.add_point("p", body=b, at=(0.9, 0.5, 0))
    r = s.add_point("r", body=c, at=(-0.1 if lengths else "rx", 0.8, 0))
    s.add_loop_joint("loop_3", joint, between=(p, r), axis=b[3])
    s.add_gravity(direction=tuple((-R[:, 1]).tolist()))
    s.set_run(initial={"u(a)": 1.0}, t_end=0.1, step=0.002)
    return s


def test_pin_axis_off_by_rounding():
    """It counted as contradicting: rows that are rounding alone were taken for real ones."""
    plain, *off = (four_bar(np.eye(3), x).equations(optimise="none") for x in (0.0, 1e-17, 1e-12))
    for eom in off:
        assert eom.notes == plain.notes
        assert [str(u) for u in eom.independent_speeds] == [
            str(u) for u in plain.independent_speeds
        ]


@pytest.mark.parametrize(
    "joint", ["revolute", *(pytest.param(x, marks=campaign) for x in ("spherical", "cylindrical"))]
)
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=campaign)])
def test_planar_linkage_in_any_frame(joint, seed):
    """Frames given by a rotation matrix are parallel but for the last digit; ranks, notes, speeds
    and motion are those of exact ones."""
    eoms = [
        four_bar(R, joint=joint).equations(optimise="none") for R in (np.eye(3), rotation(seed))
    ]
    plain, turned = ((sorted(e.notes), [str(u) for u in e.independent_speeds]) for e in eoms)
    assert plain == turned
    a, b = (e.compile(backend="python").simulate() for e in eoms)
    for name in ("q(a)", "q(b)", "q(c)", "u(c)"):
        assert a[name] == pytest.approx(b[name], abs=1e-11)


def test_frames_with_rounding_need_no_default_values():
    """What is rounding is seen without knowing the lengths."""
    eoms = [four_bar(R, lengths=False).equations(optimise="none") for R in (np.eye(3), rotation(3))]
    plain, turned = ((sorted(e.notes), [str(u) for u in e.independent_speeds]) for e in eoms)
    assert plain == turned


def test_links_at_different_heights_are_refused_in_any_frame():
    for R in (np.eye(3), rotation(4)):
        s = four_bar(R)
        s.add_point("high", body="c", at=(-0.1, 0.8, 0.05))
        s.add_loop_joint("bolt", "spherical", between=("p", "high"))
        with pytest.raises(bc.ModelError, match=r"bolt.*(never hold|contradicts)"):
            s.equations()


@pytest.mark.campaign
def test_rolling_in_any_frame():
    """Speed constraints too: the slope of a speed that is rounding alone is not divided by."""
    counts = []
    for R in (np.eye(3), rotation(5)):
        s = bc.System("coin", units="mks")
        own = frame(R)
        slides = tuple(tuple(e.tolist()) for e in R.T)
        s.add_body(
            "coin", translate=slides, rotate=(3, 1, 2), mass=1, inertia=(0.1, 0.2, 0.1), **own
        )
        x, y, z = (" + ".join(f"({v!r})*[n{i}]" for i, v in enumerate(e.tolist(), 1)) for e in R.T)
        for name, e in (("x", x), ("y", y), ("z", z)):
            s.add_constraint(
                f"dot(vel(coin.origin) + cross(rot(coin), -0.3*({z})), {e})", label=name
            )
        s.add_constraint(f"dot(vel(coin.origin), {z})", label="again")
        eom = s.equations(optimise="none", constraints="eliminate")
        q, u = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.3, -0.2, 0.5][: len(eom.speeds)]
        sim = eom.compile(backend="python")
        ignored = [note for note in eom.notes if "again" in note]
        counts.append((len(eom.speeds), len(ignored), np.concatenate(sim.derivatives(0.0, q, u))))
    assert counts[0][:2] == counts[1][:2] == (3, 1)
    assert counts[0][2] == pytest.approx(counts[1][2], rel=1e-12, abs=1e-12)


# ---- inertias


@pytest.mark.parametrize("seed", range(2))
def test_inertia_unsymmetric_by_rounding(seed):
    R, D = rotation(seed), np.diag([0.1, 0.2, 0.25])
    given = R @ D @ R.T
    given[0, 1] = np.nextafter(given[1, 0], 1.0)
    s = bc.System("body", units="mks")
    s.add_body("b", rotate=(1, 2, 3), mass=1, inertia=given.tolist())
    M = s.equations(optimise="none").mass_matrix
    assert M is not None
    mixed = [[f"{x!r}*k" for x in row] for row in given.tolist()]
    s = bc.System("body", units="mks")
    s.add_body("b", rotate=3, mass=1, inertia=mixed)
    s.equations(optimise="none")


@pytest.mark.parametrize(
    ("inertia", "told"),
    [
        (((1, 0.1, 0), (0.1001, 1, 0), (0, 0, 1)), "not symmetric"),
        (((1, 1e-9, 0), (0, 1, 0), (0, 0, 1)), "not symmetric"),
        ((("k", "h", 0), ("2*h", "k", 0), (0, 0, "k")), "not symmetric"),
        (((1, 2, 0), (2, 1, 0), (0, 0, 1)), "not physical"),
        ((1, 1, -1e-6), "not physical"),
    ],
)
def test_wrong_inertias_are_refused(inertia, told):
    s = bc.System("body", units="mks")
    s.add_body("b", rotate=3, mass=1, inertia=inertia)
    with pytest.raises(bc.ModelError, match=told):
        s.equations()


# ---- assembly on the right side


def to_ground(joint, rotate=(1, 2, 3), **start):
    """A free body whose axes are to be parallel to those of the ground."""
    s = bc.System("side", units="mks")
    b = s.add_body("b", translate=(1, 2, 3), rotate=rotate, mass=1, inertia=(0.1, 0.2, 0.3))
    s.add_loop_joint("foot", joint, between=(b.origin, "o"), axis=b[3])
    for i in (1, 2, 3):
        s.add_output(f"c{i}", f"dot([b{i}], [n{i}])")
    s.set_run(initial={f"q(b, {name[1:]})": x for name, x in start.items()}, t_end=0.01, step=0.01)
    return s


STARTS = [
    {"q(b, 4)": 2.5},
    {"q(b, 4)": np.pi},
    {"q(b, 4)": 3.1, "q(b, 5)": 0.2, "q(b, 6)": 1.0},
    {"q(b, 5)": -3.0, "q(b, 3)": 0.4},
    {"q(b, 6)": np.pi},
    {"q(b, 4)": -2.0, "q(b, 5)": -2.0, "q(b, 6)": 3.0, "q(b, 1)": 1.0},
]


@pytest.mark.parametrize(
    "joint",
    [
        "revolute",
        *(pytest.param(x, marks=campaign) for x in ("prismatic", "cylindrical", "planar")),
    ],
)
def test_axes_are_assembled_as_drawn(joint):
    """Rows hold with an axis the other way round too, and a body was hung upside down without a
    word."""
    sim = to_ground(joint).equations(optimise="none").compile(backend="python")
    for start in STARTS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bc.ModelWarning)  # that given values were changed
            q, u = sim.assemble(start)
        found = sim.outputs(0.0, q, u)
        assert found["c3"] == pytest.approx(1.0, abs=1e-12), start
        if joint == "prismatic":
            assert found["c1"] == pytest.approx(1.0, abs=1e-12), start


def turned_round():
    """A body that slides only, drawn with its axis against that of its post."""
    s = bc.System("post", units="mks")
    post = s.add_body("post", rotate=1, mass=1, inertia=(0.1, 0.1, 0.1))
    b = s.add_body("b", translate=(1, 2, 3), mass=1, inertia=(0.1, 0.1, 0.1))
    s.add_loop_joint("sleeve", "cylindrical", between=(b.origin, post.origin), axis=b[3])
    s.set_run(t_end=0.01, step=0.01)
    return s


def test_only_the_other_side_is_refused():
    """The post is held upside down: nothing that may move can bring the axes together as drawn."""
    s = turned_round()
    sim = s.equations(optimise="none").compile(backend="python")
    assert abs(sim.assemble()[0]).max() < 1e-12
    s.add_constraint("q(post) - 3.141592653589793", label="turned")
    s.set_run(initial={"q(post)": 3.0})
    with pytest.raises(
        bc.ModelError, match=r"sleeve.*closes only with its axis the other way round"
    ):
        s.equations(optimise="none").compile(backend="python").assemble()


@pytest.mark.campaign
@pytest.mark.parametrize("language", COMPILED_MAINLY_C)
def test_programs_assemble_as_drawn(tmp_path, language):
    program = build(
        to_ground("prismatic").equations(optimise="none"), language, tmp_path / language
    )
    for i, start in enumerate(STARTS):
        lines = [f"Q({name[5]}) {value!r}" for name, value in start.items()]
        run = program.run(tmp_path / f"{i}", *lines)
        assert [run[f"c{k}"][0] for k in (1, 2, 3)] == pytest.approx([1, 1, 1], abs=1e-12), start


# ---- gimbal lock


def top(rotate=(1, 2, 3), hinge=False):
    """A body that turns freely about its origin."""
    s = bc.System("top", units="mks")
    b = s.add_body("b", rotate=rotate, cm=(0, 0, 0.1), mass=1, inertia=(0.1, 0.2, 0.25))
    if hinge:
        arm = s.add_body("arm", rotate=1, joint_at=(1, 0, 0), mass=1, inertia=(0.1, 0.1, 0.1))
        s.add_loop_joint(
            "loop_4",
            "spherical",
            between=(
                s.add_point("p", body=b, at=(0, 0, 1)),
                s.add_point("r", body=arm, at=(-1, 0, 1)),
            ),
        )
    s.set_run(t_end=1.0, step=0.002)
    return s.equations(optimise="none").compile(backend="python")


@pytest.mark.parametrize(("rotate", "start"), [((1, 2, 3), np.pi / 2), ((3, 1, 3), 0.0)])
def test_a_start_in_gimbal_lock_is_named(rotate, start):
    """It was never named: rates without bound, or a run blamed on its step."""
    sim = top(rotate)
    with pytest.warns(bc.ModelWarning, match=r"body 'b' is in gimbal lock at q\(b, 2\)"):
        sim.assemble({"q(b, 2)": start, "u(b, 1)": 1.0})
    with pytest.warns(bc.ModelWarning, match="gimbal lock"):
        run = sim.simulate(initial={"q(b, 2)": start, "u(b, 1)": 1.0, "u(b, 2)": 1.0})
    assert run.ended == "finished" or "gimbal lock at q(b, 2)" in run.ended


def test_a_run_through_gimbal_lock_is_named():
    sim = top()
    with pytest.warns(
        bc.ModelWarning, match=r"unreliable after gimbal lock of body 'b' \(q\(b, 2\)\) at t = "
    ):
        run = sim.simulate(initial={"u(b, 2)": 3.0, "u(b, 1)": 5e-4})
    assert any("gimbal lock" in e.name and 0.3 < e.time < 0.8 for e in run.events)


def test_turning_about_the_middle_axis_alone_is_no_matter():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = top().simulate(initial={"u(b, 2)": 3.0})
    assert run.ended == "finished" and not run.events


def test_assembly_avoids_gimbal_lock():
    """Drawn in gimbal lock, with closed loops: another assembly is found where there is one."""
    sim = top(rotate=(3, 1, 3), hinge=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        q, u = sim.assemble()
    assert abs(np.sin(q[1])) > 1e-3
    assert np.abs(sim.derivatives(0.0, q, u)[1]).max() < 1e6
    with pytest.raises(bc.ModelError, match=r"gimbal lock at q\(b, 2\) = 0 rad"):
        sim.assemble({"q(b, 2)": 0.0})


@pytest.mark.campaign
@pytest.mark.parametrize("language", COMPILED_MAINLY_C)
def test_loops_are_assembled_from_rough_guesses_alike(tmp_path, language):
    """One row of five repeats others in every assembly, but not in the guesses, from which
    dependent angles move, or all."""
    system, eom = derived("sarrus_linkage")
    program, sim = build(eom, language, tmp_path / "program"), eom.compile(backend="python")
    start = dict(system.description.run.initial)
    rng = np.random.default_rng(3)
    for i in range(4):
        guess = {name: value + float(rng.uniform(-0.3, 0.3)) for name, value in start.items()}
        run = program.run(
            tmp_path / str(i), "stopt 0.002", *(f"{k} {v!r}" for k, v in guess.items())
        )
        with pytest.warns(bc.ModelWarning, match="contradict the constraints"):
            expected = sim.simulate(t_end=0.002, initial=guess)
        for name in guess:
            assert run[name][0] == pytest.approx(expected[name][0], abs=1e-12), name


@pytest.mark.parametrize("length", [None, 0, "l"])
def test_a_distance_of_zero_is_an_error(length):
    """|p - r|^2 = 0 has no derivative where it holds: the joint would be ignored as redundant."""
    s = bc.System("two links", units="mks")
    a = s.add_body("a", rotate=3, cm=(0.5, 0, 0), mass=1, inertia=(0.1, 0.1, 0.1))
    b = s.add_body(
        "b", joint_at=(2, 0, 0), rotate=3, cm=(-0.5, 0, 0), mass=1, inertia=(0.1, 0.1, 0.1)
    )
    ends = s.add_point("p", body=a, at=(1, 0, 0)), s.add_point("r", body=b, at=(-1, 0, 0))
    s.add_loop_joint("tie", "distance", between=ends, length=length)
    s.set_defaults(**({"l": 0} if length == "l" else {}))
    with pytest.raises(
        bc.ModelError, match="the distance of 'tie' is zero: use the kind 'spherical'"
    ):
        s.equations()
