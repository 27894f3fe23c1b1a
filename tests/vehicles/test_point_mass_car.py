"""The car of point masses: degrees of freedom by count, static rest by closed form, and the same
motion by multipliers."""

import numpy as np
import pytest

import bellcrank as bc
from tests.models import needs_compiler

G = 9.81
CORNERS = ("rl", "fl", "rr", "fr")


@pytest.mark.campaign  # deriving 14 constraints takes some ten seconds
@needs_compiler
def test_car_of_point_masses():
    """Corrected constraints of (2.9) have rank 14: a rigid chassis on four struts; rest as of four
    quarter cars; a hill by two methods."""
    s = bc.vehicles.point_mass_car(terrain=bc.vehicles.terrain.hill(6, 4, 0.3))
    eom = s.equations()
    assert (len(eom.coordinates), len(eom.constraint_matrix), len(eom.independent_speeds)) == (
        24,
        14,
        10,
    )
    sim = eom.compile()
    rest = sim.simulate(t_end=8, output_every=1000, parameters={"g": G})
    for corner in CORNERS:
        sag = 300 * G / 25e3 + 340 * G / 200e3
        assert rest[f"{corner}.z"][-1] == pytest.approx(0.7 - sag, abs=1e-6)
        assert rest[f"{corner}.tyre_load"][-1] == pytest.approx(340 * G, rel=1e-6)
    start = {f"u({corner}.{part}, 1)": 5 for corner in CORNERS for part in ("rim", "chassis")}
    runs = {
        dae: sim.simulate(t_end=2.5, output_every=50, initial=start, dae=dae)
        for dae in ("projection", "dlmm")
    }
    assert np.ptp(runs["dlmm"]["fl.z"]) > 0.2
    for corner in CORNERS:
        assert runs["dlmm"][f"{corner}.z"] == pytest.approx(
            runs["projection"][f"{corner}.z"], abs=1e-7
        )
        assert runs["dlmm"]["fl.z"] == pytest.approx(
            runs["dlmm"]["fr.z"], abs=1e-9
        )  # the hill is the same on both sides
    assert runs["dlmm"].residuals.largest[0] < 1e-6  # m, m^2, m^3


def test_bad_sizes_are_told():
    with pytest.raises(
        bc.ModelError,
        match=r"track=-1 must be a positive number; chassis=0 must be a positive number",
    ):
        bc.vehicles.point_mass_car(track=-1, chassis=0)
