"""The check passes at every seed, also where loops are redundant and singular configurations are
near."""

import pytest

import bellcrank as bc
from tests.models import derived
from tests.verify.machines import coupling_rod, quadruped

LOOPS = (
    "four_bar",
    "n_four_bar",
    "slider_crank",
    "change_point_four_bar",
    "sarrus_linkage",
    "andrews_squeezer",
)
MECHANISMS = {
    "coupling rod": coupling_rod,
    "coupling rod on four cranks": lambda: coupling_rod(4),
    "coupling rod on a line": lambda: coupling_rod(start=None),
    "quadruped": quadruped,
    "quadruped with angles": lambda: quadruped((3, 2, 1)),
}


def passes(system, eom, seeds, states):
    starts = bool(
        system.description.run.initial
    )  # else it rests on a line, from where no run can begin
    for seed in seeds:
        report = bc.check(
            system,
            states=states,
            seed=seed,
            equations=eom,
            backend="python",
            run=starts and seed == 0,
        )
        assert report.passed, f"seed {seed}: {report}"


@pytest.mark.campaign
def test_coupling_rod():
    system = coupling_rod()
    passes(system, system.equations(optimise="none"), range(1, 4), 2)


@pytest.mark.campaign
@pytest.mark.parametrize("name", MECHANISMS)
def test_every_seed(name):
    system = MECHANISMS[name]()
    passes(system, system.equations(), range(50), 4)


@pytest.mark.campaign
@pytest.mark.parametrize("name", LOOPS)
def test_every_seed_of_examples(name):
    passes(*derived(name), range(50), 4)
