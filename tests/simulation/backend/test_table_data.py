"""Numbers of tables are data of compiled programs: another table needs no compiler, and no two
models share theirs."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.simulation.backend import compiler
from tests.models import needs_compiler, pendulum

LAW = bc.table([-4, 0, 0.5, 4], [12, 0.1, -1, -20])
SURFACE = bc.table([-4, 0.2, 4], [-9, 0, 9], [[1, 2, 3], [2, 0, 2], [0, -1, 1]])
OTHERS = (  # of up to as many points as there is room for
    (bc.table([-4, 0, 0.5, 4], [20, 0, -2, -12]), SURFACE),
    (bc.table([-4, -0.3, 0, 0.2, 0.3, 0.4, 0.5, 4], [10, 1, 0, -1, -1.5, -3, -4, -20]), SURFACE),
    (bc.table([-4, 4], [12, -12]), bc.table([-4, 0.1, 4], [-9, 9], [[2, 0], [1, 1], [0, 3]])),
)


def swinging(law, surface=SURFACE):
    """A pendulum with a table of its angle, and one of angle and speed."""

    def prepare(s):
        s.define("law", law)
        s.define("surface", surface)

    return pendulum("law(q(rod)) + 0.1*surface(q(rod), u(rod))", prepare).equations()


@pytest.fixture
def made(monkeypatch, tmp_path):
    """Commands that made a library."""
    monkeypatch.setenv("BELLCRANK_CACHE", str(tmp_path))
    commands, run = [], compiler.run_program

    def counted(command, *more):
        commands.extend([command] if "-o" in " ".join(command) else [])
        return run(command, *more)

    monkeypatch.setattr(compiler, "run_program", counted)
    return commands


@needs_compiler
def test_other_tables_need_no_compiler(made):
    first = swinging(LAW).compile()
    before, count = first.simulate()["q(rod)"], len(made)
    assert count
    found = [(eom, eom.compile()) for eom in (swinging(*tables) for tables in OTHERS)]
    for eom, sim in found:  # all are loaded
        angle, alone = sim.simulate()["q(rod)"], eom.compile(backend="python").simulate()["q(rod)"]
        np.testing.assert_allclose(angle, alone, rtol=0, atol=1e-13)
        assert np.abs(angle - before).max() > 1e-3
        assert (
            sim.loaded.model.source != first.loaded.model.source
        )  # checkpoints are of one of them
    assert (first.simulate()["q(rod)"] == before).all()
    assert len(made) == count
    swinging(bc.table(np.linspace(-4, 4, 9), np.linspace(9, -9, 9))).compile()
    assert len(made) > count  # no room for nine points


@needs_compiler
def test_runs_in_lanes_have_the_tables_of_their_model(made):
    angles, sims, several, counts = [0.3, 0.4, 0.5], [], [], set()
    for tables in ((LAW, SURFACE), *OTHERS[1:]):
        sims.append(swinging(*tables).compile())
        several.append(sims[-1].simulate_many(initial={"q(rod)": angles}, backend="lanes"))
        counts.add(len(made))
    assert len(counts) == 1 and min(counts) > 1
    for sim, many in zip(sims, several, strict=True):
        assert (many.settings["backend"], many.notes) == ("lanes", [])
        for one, angle in zip(many["q(rod)"], angles, strict=True):
            alone = sim.simulate(initial={"q(rod)": angle})["q(rod)"]
            np.testing.assert_allclose(one, alone, rtol=0, atol=1e-12)
