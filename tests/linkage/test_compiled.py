"""Linkages and tables in C against the Python solver: many poses at a time."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.errors import ModelError
from bellcrank.linkage.pose_table import pose_differences
from bellcrank.simulation.backend.compiler import compile_source, find_compiler
from tests.linkage.machines import linkage
from tests.models import STRICT, rarely


@pytest.mark.parametrize(
    ("name", "second"),
    [
        ("five_link", None),
        ("double_wishbone", "rack"),
        pytest.param("solid_axle", "roll", marks=pytest.mark.campaign),
    ],
)
def test_exact_poses_from_c(name, second):
    chain = linkage(name)
    z = np.linspace(-0.15, 0.18, 40)
    other = {} if second is None else {second: np.linspace(0.03, -0.02, 40)}
    links = chain.links[:1]
    a, b = bc.compile_linkage(chain, links=links).solve(z, **other), chain.solve(z, **other)
    for one, two in ((a, b), (a.link[links[0]], b.link[links[0]])):
        found = pose_differences(one, two)
        assert found["position"] < 1e-14 and found["angle"] < 1e-13
        assert max(found["d"], found["delta"]) < 1e-10 and max(found["dd"], found["ddelta"]) < 1e-8
    if second:
        assert np.abs(a.ddelta_mixed - b.ddelta_mixed).max() < 1e-9


@pytest.mark.parametrize("scheme", rarely(["quintic", "cubic"], ["cubic"]))
def test_look_up_in_c(scheme):
    table = linkage("five_link").table(step=0.02, range=(-0.1, 0.1), scheme=scheme)
    compiled = bc.compile_linkage(table, links=["rod_5"])
    z = np.linspace(-0.1, 0.1, 57)
    a, b = compiled.solve(z), table.solve(z)
    assert max(pose_differences(a, b).values()) < 1e-11
    assert max(pose_differences(a.link["rod_5"], b.link["rod_5"]).values()) < 1e-11
    with pytest.raises(ModelError, match=r"travel 0\.11 m lies outside its range"):
        compiled.solve(0.11)


def test_bicubic_look_up_in_c():
    table = linkage("double_wishbone").table(
        step=0.02, range=(-0.04, 0.04), rack=(-0.02, 0.02), links=()
    )
    z, r = np.linspace(-0.04, 0.04, 23), np.linspace(0.02, -0.02, 23)
    a, b = bc.compile_linkage(table).solve(z, r), table.solve(z, r)
    assert max(pose_differences(a, b).values()) < 1e-11
    for name in ("d_rack", "delta_rack", "dd_rack", "ddelta_rack", "dd_mixed", "ddelta_mixed"):
        assert np.abs(getattr(a, name) - getattr(b, name)).max() < 1e-11


@pytest.mark.campaign
def test_generated_c_gives_no_warning(tmp_path):
    table = linkage("five_link").table(step=0.05, range=(-0.1, 0.1))
    racked = linkage("double_wishbone").table(
        step=0.04, range=(-0.04, 0.04), rack=(-0.02, 0.02), links=()
    )
    for i, given in enumerate((linkage("double_wishbone"), table, racked)):
        folder = tmp_path / str(i)
        folder.mkdir()
        compile_source(bc.compile_linkage(given).source, folder, find_compiler(), STRICT)
