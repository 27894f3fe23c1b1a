"""What several tests share: example models, random states, values of expressions."""

import zlib
from pathlib import Path

import numpy as np

from bellcrank.symbolic.expr import evaluate

EXAMPLES = Path(__file__).parent.parent / "examples"
NAMES = [
    "quarter_car",
    "double_pendulum",
    "cart",
    "passenger_car",
    "passenger_car_small",
    "spacecraft_1",
    "spacecraft_1_small",
    "spacecraft_2",
    "stanford_arm",
    "stanford_arm_controlled",
    "n_link_chain",
]


def random_state(eom, name=""):
    """Coordinates and speeds away from singular configurations, the same for the same name."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return rng.uniform(-0.8, 0.8, len(eom.coordinates)), rng.uniform(-1, 1, len(eom.speeds))


def stub(eom):
    """Externals replaced by constants."""
    values = {e.name: len(e.returns) for e in eom.analysis.mechanism.description.externals}
    return {n: (lambda *a, k=k: (0.3,) * k if k else 0.3) for n, k in values.items()}


def inputs(eom, value=0.0):
    return dict.fromkeys(eom.inputs, value)


def simulation(eom):
    return eom.compile(backend="python", external=stub(eom))


def values_at(eom, roots, q, u):
    """Values of expressions at a state, parameters at their defaults, inputs at zero, externals
    stubbed."""
    sim = simulation(eom)
    known = dict(zip(sim.loaded.program.parameters, sim.parameter_values(), strict=True))
    for symbols, numbers in ((eom.coordinates, q), (eom.speeds, u)):
        known.update(zip(symbols, numbers, strict=True))
    known.update({s: 0.0 for s in sim.loaded.program.inputs})
    known |= {"t": 0.0}
    user = {name: (lambda *a: 0.3) for name in stub(eom)}
    return evaluate(roots, known, user)
