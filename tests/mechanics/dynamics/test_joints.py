"""Every kind of joint, anywhere in the tree: energy is conserved, and all forms of solution
agree."""

import numpy as np
import pytest

import bellcrank as bc
from tests.models import rarely

BALL = {"rotate": (3, 1, 2)}
QUATERNION = {"rotate": "euler-parameters"}
SLIDES_AND_HINGE = {"translate": (1, 3), "rotate": ((1, 2, 2),)}
CARRIED_POINT = {"translate": (1, 2, 3)}
CARRIED_HINGE = {"translate": (1, 2, 3), "rotate": 2}
FREE = {"translate": (1, 2, 3), "rotate": (1, 2, 1)}
PLANAR = {"translate": (1, 2), "rotate": 3}
PLANAR_SIDEWAYS = {"translate": (3, 1), "rotate": 2}
TILTED_SLIDE = {"translate": ((1, -1, 2),)}
WHEEL = {"rotate": 2, "balanced": True}
JOINTS = {
    "ball": BALL,
    "quaternion": QUATERNION,
    "slides and hinge": SLIDES_AND_HINGE,
    "carried point": CARRIED_POINT,
    "carried hinge": CARRIED_HINGE,
    "free": FREE,
    "planar": PLANAR,
    "tilted slide": TILTED_SLIDE,
    "wheel": WHEEL,
}


def machine(base, joint):
    """A base in gravity, a body on the joint in question, and a hinge past it, all held by
    springs."""
    s = bc.System("joint", units="mks")
    parent = None
    for name, options in (("base", base), ("mid", joint), ("tip", {"rotate": 1})):
        options = dict(options)
        balanced = options.pop("balanced", False)
        inertia = (
            (0.4, 0.7, 0.4)
            if balanced
            else ((0.5, 0.05, -0.02), (0.05, 0.6, 0.03), (-0.02, 0.03, 0.8))
        )
        if name == "tip" and balanced:
            break
        s.add_body(
            name,
            parent=parent,
            joint_at=(0.2, -0.1, 0.3) if parent else (0, 0, 0),
            cm=(0, 0, 0) if balanced else (0.1, 0.2, -0.15),
            mass=1.5,
            inertia=inertia,
            **options,
        )
        if balanced:
            s.add_body(
                "side", parent=parent, rotate=3, cm=(0.2, 0, 0), mass=0.7, inertia=(0.1, 0.2, 0.2)
            )
            break
        parent = name
    s.add_gravity(direction=(s.inertial[1] * 0.6 + s.inertial[3] * 0.8))
    s.add_outputs("energy")
    return s


def start(sim, scale=0.4):
    rng = np.random.default_rng(3)
    n_q, n_u = len(sim.loaded.program.coordinates), len(sim.loaded.program.speeds)
    q, u = scale * rng.uniform(-1, 1, n_q), scale * rng.uniform(-1, 1, n_u)
    for scalar in sim.derived.analysis.mechanism.nonzero_reference_values:  # of Euler parameters
        first = sim.loaded.program.coordinates.index(scalar)
        e = np.array([1.0, *q[first + 1 : first + 4]])
        q[first : first + 4] = e / np.linalg.norm(e)
    return q, u


BASES = {
    "hinge": {"rotate": 2},
    "free": FREE,
    "planar": PLANAR,
    "planar sideways": PLANAR_SIDEWAYS,
    "ball": BALL,
}
PAIRS = [(base, joint) for base in BASES for joint in JOINTS]


@pytest.mark.parametrize(
    ("base", "joint"), rarely(PAIRS, [pair for i, pair in enumerate(PAIRS) if i % 7], several=True)
)
def test_energy_rate_is_zero_and_forms_agree(base, joint):
    """dE/dt by central differences along the motion: power of gravity is in the potential, joints
    do no work."""
    system = machine(BASES[base], JOINTS[joint])
    reference = None
    for solve in ("auto", "explicit", "implicit", "order-n"):
        sim = system.equations(solve=solve, optimise="none").compile(backend="python")
        q, u = start(sim)
        qdot, udot = sim.derivatives(0.0, q, u)
        if reference is None:
            reference = udot
            h = 1e-5
            energy = [
                sim.outputs(0.0, q + s * h * qdot, u + s * h * udot)["energy"] for s in (-1, 1)
            ]
            kinetic = [
                sim.outputs(0.0, q + s * h * qdot, u + s * h * udot)["kinetic"] for s in (-1, 1)
            ]
            power = abs(kinetic[1] - kinetic[0]) / (2 * h)
            assert abs(energy[1] - energy[0]) / (2 * h) < 1e-6 * max(power, 1.0)
        assert udot == pytest.approx(reference, rel=1e-9, abs=1e-9 * abs(reference).max())


@pytest.mark.filterwarnings("ignore:.* does no work:bellcrank.core.errors.ModelWarning")
@pytest.mark.parametrize("joint", ["slide", "tilted slide", "carried point", "hinge"])
def test_forces_beside_the_axis_turn_what_carries_them(joint):
    """A force at a point off the axis of a joint, on a body and on what it carries: power as of an
    independent sum."""
    s = bc.System("carried", units="mks", axes="ISO 8855")
    kinds = {
        "slide": {"translate": 1},
        "tilted slide": TILTED_SLIDE,
        "carried point": CARRIED_POINT,
        "hinge": {"rotate": 1},
    }
    a = s.add_body("a", rotate=(3, 1, 2), mass=2, cm=(0.1, 0, 0), inertia=(0.2, 0.3, 0.4))
    b = s.add_body(
        "b",
        parent=a,
        joint_at=(0.3, 0.1, 0.2),
        mass=1,
        cm=(0, 0.1, 0),
        inertia=(0.1, 0.1, 0.1),
        **kinds[joint],
    )
    p = s.add_point("p", body=b, at=(0.2, 0.5, -0.4))
    s.add_force("f", magnitude="3 - u(a, 1)", direction="[n1] + 0.5*[n3]", at=p)
    s.add_force("g", magnitude="2*q(a, 1)", direction=a[2], at=p, against=a.origin)
    s.add_moment("m", magnitude="0.7", direction=b[2], on=b, against=a)
    report = bc.check(s, states=3, backend="python", run=False)
    assert report.passed, str(report)
