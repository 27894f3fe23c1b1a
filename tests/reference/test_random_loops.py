"""Closed linkages drawn at random against an independent solution with multipliers: planar and
spatial ones, all loop joints, redundant rows, drives, bodies in frames of their own with
rounding."""

import warnings

import numpy as np
import pytest
from random_loops import Independent, linkage

import bellcrank as bc

QUICK = [
    ("planar", 17, 1),
    ("coupled", 1, 1),
    pytest.param("spatial", 20, 31, marks=pytest.mark.campaign),
    ("spatial", 23, 7),
]
LONG = {
    "planar": 90,
    "coupled": 10,
    "spatial": 50,
}  # eight variants of every spatial one: 500 linkages


def check_linkage(drawn, eom, sim, t_end, step):
    """Assembled without flips, as many degrees of freedom as the rank leaves, accelerations to
    1e-8, loops closed in a run."""
    truth, parameters = Independent(drawn, eom), drawn.parameters
    every = round(t_end / step) if t_end < 1 else round(t_end / step) // 4
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", bc.ModelWarning
        )  # that some values of the guess were changed
        run = sim.simulate(
            initial=drawn.guess | drawn.speeds,
            t_end=t_end,
            step=step,
            output_every=every,
            parameters=parameters,
        )
    assert run.ended == "finished"
    states = [
        np.column_stack([run[x.name] for x in listed]) for listed in (eom.coordinates, eom.speeds)
    ]
    for t, q, u in zip(run.time, *states, strict=True):
        position, speed, upright = truth.errors(float(t), q, u)
        assert position < 1e-10 and speed < 1e-10 and upright
    q, u = (x[0] for x in states)
    expected, rank, distance = truth.accelerations(0.0, q, u)
    assert len(u) - len(eom.independent_speeds) == rank
    found = sim.derivatives(0.0, q, u, parameters=parameters)[1]
    size = max(float(np.abs(expected).max()), 1e-3)
    assert np.abs(found - expected).max() < 1e-8 * size / min(1.0, 100 * distance), drawn.kind


@pytest.mark.parametrize(("kind", "seed", "variants"), QUICK)
def test_some_linkages(kind, seed, variants):
    first = linkage(kind, seed)
    eom = first.system.equations(optimise="none")
    sim = eom.compile(backend="python")
    for variant in range(variants):
        check_linkage(linkage(kind, seed, variant), eom, sim, 0.04, 0.02)


@pytest.mark.campaign
@pytest.mark.parametrize("kind", LONG)
def test_many_linkages_over_ten_seconds(kind):
    failed = []
    for seed in range(100, 100 + LONG[kind]):
        first = linkage(kind, seed)
        try:
            eom = first.system.equations(optimise="none")
            sim = eom.compile(backend="c" if kind == "spatial" else "wasm")
            for variant in range(8 if kind == "spatial" else 1):
                check_linkage(linkage(kind, seed, variant), eom, sim, 10.0, 0.02)
        except (AssertionError, bc.BellcrankError) as error:
            failed.append(f"{kind} {seed}, {first.kind}: {str(error)[:300]}")
    assert not failed, "\n".join(failed)
