"""Bodies on any joint take an orientation in their parent, in any form; equations, check and
programs agree."""

import math

import numpy as np
import pytest

import bellcrank as bc
from tests.late import Late
from tests.models import relative

transform = Late("scipy.spatial.transform")
SHAPES = (
    lambda rng: (
        transform.Rotation.random(random_state=int(rng.integers(1000))).as_matrix().tolist()
    ),
    lambda rng: (3, float(rng.uniform(-2, 2))),
    lambda rng: ((3, "al"), (1, -0.7)),
    lambda rng: ((1, 2, 0.5), 0.3),
    lambda rng: (("cos(be)", "-sin(be)", 0), ("sin(be)", "cos(be)", 0), (0, 0, 1)),
    lambda rng: None,
)
JOINTS = (
    {},
    {"translate": 2},
    {"rotate": 1},
    {"translate": (0.3, -0.5, 0.8)},
    {"translate": (1, 2)},
    {"translate": (1, 2, 3)},
    {"translate": (1,), "rotate": 2},
    {"rotate": "euler-parameters"},
    {"translate": (1, 2, 3), "rotate": (3, 2, 1)},
    {"translate": (1, 2), "rotate": 3},
)


def machine(seed, bodies=5, armature=True):
    """A tree of random joints in frames of their own, some with rotors behind gears."""
    rng = np.random.default_rng(seed)
    s = bc.System("random", units="mks")
    listed = []
    for i in range(bodies):
        joint = JOINTS[rng.integers(len(JOINTS))] if i else JOINTS[1 + seed % 3]
        shape = SHAPES[rng.integers(len(SHAPES))](rng)
        options = {**joint, **({} if shape is None else {"orientation": shape})}
        one = joint in (JOINTS[1], JOINTS[2], JOINTS[3])
        if armature and one and rng.random() < 0.7:
            options["armature"] = float(rng.uniform(0.2, 2))
        R = transform.Rotation.random(random_state=100 * seed + i).as_matrix()
        I = R @ np.diag([1.0, 1.2, 1.5]) @ R.T
        places = {
            "joint_at": rng.uniform(-1, 1, 3).tolist(),
            "cm": rng.uniform(-0.3, 0.3, 3).tolist(),
        }
        parent = listed[rng.integers(len(listed))] if listed else None
        listed.append(
            s.add_body(
                f"b{i}",
                parent,
                mass=1 + i / 2,
                inertia=((I + I.T) / 2).tolist(),
                **places,
                **options,
            )
        )
    s.add_gravity(direction="[n3]")
    for i, b in enumerate(listed):
        s.add_force(f"f{i}", magnitude=f"-{i + 1}*x - v", direction=s.inertial[1 + i % 3], at=b.cm)
    s.add_outputs("energy", "momentum", "reactions")
    s.add_parameter("al", 20.0, units="deg")
    s.add_parameter("be", -40.0, units="deg")
    s.set_run(t_end=0.3, step=0.005)
    return s


@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore:a value is given for")
@pytest.mark.parametrize("solve", [pytest.param("explicit", marks=pytest.mark.campaign), "order-n"])
def test_a_random_tree_passes_the_check(solve):
    report = bc.check(machine(0, bodies=3), states=2, solve=solve, run=False, backend="python")
    assert report.passed, report


@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore:a value is given for")
@pytest.mark.parametrize("seed", range(1, 13))
def test_random_trees_pass_the_check_in_every_form(seed):
    for solve in ("explicit", "order-n", "implicit"):
        report = bc.check(
            machine(seed), states=2, solve=solve, run=solve == "explicit", backend="python"
        )
        assert report.passed, f"{solve}\n{report}"


def arm(orientation, **joint):
    """A body with a skew mass centre in a frame of its own, pushed along and about its own axes."""
    s = bc.System("arm", units="mks")
    base = s.add_body("base", rotate=3, mass=1, inertia=(0.1, 0.1, 0.1))
    b = s.add_body(
        "b",
        base,
        mass=2,
        inertia=(0.2, 0.3, 0.4),
        cm=(0.3, 0.1, -0.2),
        joint_at=(0.5, 0, 0),
        **joint,
        **orientation,
    )
    tip = s.add_point("tip", b, at=(0.2, 0.4, 0.1))
    s.add_gravity(direction="-[n2]")
    s.add_force("push", magnitude="3 - 40*q(b)" if joint else "3", direction=b[2], at=tip)
    s.add_output("x", "dot(pos(tip), [n1])", units="L")
    s.add_output("z", "dot(pos(tip), [n3])", units="L")
    s.add_outputs("energy", "reactions")
    s.set_run(t_end=0.5, step=0.005, initial={"u(base)": 2})
    return s


TURNS = {"orientation": ((3, 0.6), (1, -0.8))}


@pytest.mark.parametrize(
    "joint",
    [{}, pytest.param({"translate": (0.1, 0.7, 0.2)}, marks=pytest.mark.campaign)],
    ids=["fixed", "slides"],
)
def test_an_orientation_is_that_of_a_body_that_was_turned_and_stopped(joint):
    """Against a massless carrier that turns by the same angles, held there by a constraint on its
    speed."""
    found = arm(TURNS, **joint).equations().compile(backend="python").simulate()
    matrix = transform.Rotation.from_euler("ZX", [0.6, -0.8]).as_matrix()
    same = (
        arm({"orientation": matrix.tolist()}, **joint)
        .equations()
        .compile(backend="python")
        .simulate()
    )
    s = bc.System("arm", units="mks")
    base = s.add_body("base", rotate=3, mass=1, inertia=(0.1, 0.1, 0.1))
    slider = s.add_body("slider", base, mass=0, inertia=0, joint_at=(0.5, 0, 0), **joint)
    first = s.add_body("first", slider, rotate=3, mass=0, inertia=0)
    b = s.add_body("b", first, rotate=1, mass=2, inertia=(0.2, 0.3, 0.4), cm=(0.3, 0.1, -0.2))
    s.add_constraint("u(first)")
    s.add_constraint("u(b)")
    tip = s.add_point("tip", b, at=(0.2, 0.4, 0.1))
    s.add_gravity(direction="-[n2]")
    s.add_force("push", magnitude="3 - 40*q(slider)" if joint else "3", direction=b[2], at=tip)
    s.add_output("x", "dot(pos(tip), [n1])", units="L")
    s.add_output("z", "dot(pos(tip), [n3])", units="L")
    s.add_outputs("energy")
    s.set_run(t_end=0.5, step=0.005, initial={"u(base)": 2, "q(first)": 0.6, "q(b)": -0.8})
    held = s.equations().compile(backend="python").simulate()
    for name in ("x", "z", "energy", "q(base)"):
        assert relative(found[name], held[name]) < 1e-10
        assert relative(same[name], found[name]) < 1e-12


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"orientation": 3}, "is not a 3 x 3 rotation matrix, a turn"),
        ({"orientation": ()}, "is not a 3 x 3 rotation matrix"),
        ({"orientation": ((1, 0, 0), (0, 1, 0), (0, 0, 2))}, r"is no rotation \(off by 1\)"),
        ({"orientation": ((1, 0, 0), (0, 1, 0), (0, 0, -1))}, r"is no rotation \(a reflection\)"),
        ({"orientation": (("a", 0, 0), (0, 1, 0), (0, 0, 1))}, "not a rotation for all values"),
        ({"orientation": (4, 0.3)}, "is not a 3 x 3 rotation matrix, a turn"),
        ({"orientation": (3, "q(base)")}, r"must be constant, but q\(base\) varies"),
        ({"orientation": (3, 0.3), "rotation_axis": (0, 1, 0)}, "stands in place of rotation_axis"),
        ({"orientation": (3, 0.3), "joint": bc.Screw(pitch=1)}, "carried by a screw"),
    ],
)
def test_what_is_no_orientation_is_told(options, told):
    s = bc.System("m", units="mks")
    base = s.add_body("base", rotate=3, mass=1, inertia=(1, 1, 1))
    s.add_body("b", base, mass=1, inertia=(1, 1, 1), **options)
    with pytest.raises(bc.ModelError, match=told):
        s.equations()


def _operations(**options):
    s = bc.System("two bodies", units="mks")
    a = s.add_body("a", rotate=3, mass=1, inertia=(1, 2, 3))
    s.add_body(
        "b",
        a,
        rotate=3,
        mass=2,
        inertia=(0.1, 0.2, 0.3),
        **{"joint_at": (1, 0, 0), "cm": (0.5, 0, 0), **options},
    )
    s.add_gravity(direction="-[n3]")
    return s.equations().operation_count()["total"]


QUARTER = np.array(
    [[math.cos(math.pi / 2), -1.0, 0.0], [1.0, math.cos(math.pi / 2), 0.0], [0.0, 0.0, 1.0]]
)
ROUNDED = [
    ({"orientation": (1, math.pi / 2)}, {"orientation": (1, "pi/2")}),
    ({"orientation": ((1, math.pi / 2), (2, math.pi))}, {"orientation": ((1, "pi/2"), (2, "pi"))}),
    ({"orientation": QUARTER @ QUARTER @ QUARTER}, {"orientation": (3, "-pi/2")}),
    ({"orientation": ((2, 0.3), (1, math.pi / 2))}, {"orientation": ((2, 0.3), (1, "pi/2"))}),
    ({"rotation_axis": tuple(QUARTER @ (0, 1 - 1e-16, 0))}, {"rotation_axis": (-1, 0, 0)}),
    ({"cm": tuple(QUARTER @ (0, 0.5, 0))}, {"cm": (-0.5, 0, 0)}),
    ({"joint_at": tuple(QUARTER @ (0, 0.5, 0))}, {"joint_at": (-0.5, 0, 0)}),
]


@pytest.mark.filterwarnings("ignore:.* does no work:bellcrank.core.errors.ModelWarning")
@pytest.mark.parametrize(("rounded", "exact"), ROUNDED)
def test_rounding_of_directions_costs_nothing(rounded, exact):
    assert _operations(**rounded) == _operations(**exact)
