"""Random trees of frames, and the same rotations as NumPy arrays."""

import random

import numpy as np

from bellcrank.symbolic.expr import ONE, ZERO, Number, Symbol, evaluate
from bellcrank.symbolic.vector.basis import (
    IDENTITY,
    Frame,
    Vector,
    axis_rotation,
    euler_parameter_rotation,
    rotation_about,
)

# exact unit vectors
AXES = [(2, 2, 1, 3), (3, 0, 4, 5), (-6, 2, 3, 7), (0, 5, -12, 13)]


def random_tree(seed, size=7):
    """Frames with random parents and joints, and values of the coordinates in them."""
    rng = random.Random(seed)
    frames = [Frame("n")]
    values = {}
    for i in range(1, size):
        q = Symbol(f"q{i}", "coordinate")
        values[q] = rng.uniform(-3, 3)
        frames.append(Frame(f"b{i}", rng.choice(frames), _rotation(rng, i, q, values)))
    return frames, values


def _rotation(rng, i, q, values):
    kind = rng.choice(["axis", "axis", "axis", "tilted", "fixed", "same", "euler"])
    if kind == "axis":
        return axis_rotation(rng.randrange(3), q)
    if kind == "tilted":
        *axis, size = rng.choice(AXES)
        return rotation_about(tuple(Number(c) / size for c in axis), q)
    if kind == "fixed":  # axes exchanged: the columns are e2, e3, e1
        return ((ZERO, ZERO, ONE), (ONE, ZERO, ZERO), (ZERO, ONE, ZERO))
    if kind == "same":
        return IDENTITY
    e = [Symbol(f"e{i}_{k}", "coordinate") for k in range(4)]
    numbers = np.array([rng.gauss(0, 1) for _ in e])
    values.update(zip(e, (numbers / np.linalg.norm(numbers)).tolist()))
    return euler_parameter_rotation(tuple(e))


def number(e, values):
    return evaluate([e], values)[0]


def matrix(R, values):
    return np.array([[number(e, values) for e in row] for row in R])


def absolute(frame, values):
    """R_NB: columns are the frame's axes in the root frame."""
    R = matrix(frame.R, values)
    return R if frame.parent is None else absolute(frame.parent, values) @ R


def components(v, values):
    """Components of a vector in the root frame, by rotation matrices."""
    terms = v.terms if isinstance(v, Vector) else {v: ONE}
    total = np.zeros(3)
    for e, c in terms.items():
        total += number(c, values) * absolute(e.frame, values)[:, e.axis]
    return total


def random_vector(rng, frames, values, terms=4):
    """A sum of symbols, numbers and coordinates times unit vectors of several frames."""
    pairs = []
    for i in range(terms):
        c = Symbol(f"c{i}_{rng.randrange(10**6)}")
        values[c] = rng.uniform(-2, 2)
        pairs.append(
            (rng.choice(frames).axes[rng.randrange(3)], c * Number(rng.choice([1, 2, -1])))
        )
    return Vector.from_pairs(pairs)
