"""Random models pass the check on both backends: all joints, frames turned by any rotation, all
unit systems, tables, states of one's own."""

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.verify.check import check

pytestmark = pytest.mark.filterwarnings("ignore:model .* jumps where:bellcrank.ModelWarning")

SIZES = {
    "mks": (1.0, 1.0),
    "in-lb": (40.0, 0.006),
    "ft-lb": (3.0, 0.07),
    "mm-tonne": (1000.0, 1e-3),
}  # length, mass
LAWS = (
    "-k*(x - x0) - c*v",
    "-curve(x - x0) - c*v",
    "-k*max(x - x0, 0) - c*v*w",
    "-f*sign(v) - k*(x - x0)",
    "where(x > x0, -k*x, k*x0) - f*tanh(v/one)",
)


def numbers(rng, size=1.0):
    return tuple(float(x) for x in rng.uniform(-size, size, 3))


def rotation(rng):
    return Rotation.random(random_state=int(rng.integers(2**31))).as_matrix()


def rows(matrix):
    return tuple(tuple(float(x) for x in row) for row in matrix)


def joint(rng, length):
    """How a body moves in its parent."""
    axis = int(rng.integers(1, 4))
    kinds = (
        {"rotate": axis},
        {"translate": axis},
        {"rotate": tuple(int(x) for x in rng.permutation([1, 2, 3]))},
        {"rotate": "euler-parameters"},
        {"translate": (1, 2), "rotate": 3},
        {"translate": (1, 2, 3), "rotate": (3, 2, 1)},
        {"joint": bc.Screw(pitch=0.1 * length, axis=numbers(rng))},
        {"rotate": (numbers(rng),)},
        {"rotate": axis, "rotation_axis": numbers(rng)},
        {"translate": axis, "orientation": rows(rotation(rng))},
        {"rotate": axis, "orientation": rows(rotation(rng))},
    )
    return kinds[int(rng.integers(len(kinds)))]


def machine(seed):
    rng = np.random.default_rng(seed)
    units = list(SIZES)[seed % 4]
    length, mass = SIZES[units]
    force = 10 * mass * length
    s = bc.System(f"random {seed}", units=units)
    bodies = []
    for name in "abcde"[: int(rng.integers(1, 5))]:
        parent = bodies[int(rng.integers(len(bodies)))] if bodies and rng.random() < 0.8 else None
        R = rotation(rng)
        inertia = R @ np.diag(rng.uniform(0.06, 0.1, 3) * mass * length**2) @ R.T
        bodies.append(
            s.add_body(
                name,
                parent=parent,
                mass=float(rng.uniform(0.5, 2) * mass),
                cm=numbers(rng, 0.4 * length),
                joint_at=numbers(rng, length),
                inertia=rows((inertia + inertia.T) / 2),
                **joint(rng, length),
            )
        )
    points = [s.add_point(f"p{i}", body=b, at=numbers(rng, length)) for i, b in enumerate(bodies)]
    fixed = s.add_point("fixed", at=numbers(rng, 3 * length))
    s.add_gravity(direction=numbers(rng))
    s.define(
        "curve",
        bc.table(length * np.array([-3, -1, 0, 1, 3]), force * np.array([-2, -1, 0, 2, 2.5]), 3),
    )
    s.add_input("w")
    s.add_state("z", rate="-2*z + w + cos(t)")
    laws = [LAWS[int(rng.integers(len(LAWS)))] for _ in points]
    for i, (p, law) in enumerate(zip(points, laws, strict=True)):
        other = points[int(rng.integers(i))] if i and rng.random() < 0.5 else fixed
        s.add_strut(f"s{i}", magnitude=law, between=(p, other))
    s.add_moment("m", magnitude="m1*z*w", direction="[n1] + 0.3*[n3]", on=bodies[-1])
    values = {"k": force / length, "c": 0.1 * force / length, "f": 0.3 * force, "one": length}
    used = {
        name: x for name, x in values.items() if any(re.search(rf"\b{name}\b", law) for law in laws)
    }
    s.set_defaults(m1=0.1 * force * length, **used)
    s.add_output("acceleration", "dot(dxdt(vel(p0)), [n2])")
    s.add_outputs("energy", "momentum", "forces", *(["reactions"] if seed % 2 else []))
    s.set_run(t_end=1.0, step=0.01)
    return s


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(16))
def test_random_models_pass(seed):
    system = machine(seed)
    report = check(system, states=3, backend="auto" if seed % 5 == 0 else "python")
    assert report.passed, str(report)
