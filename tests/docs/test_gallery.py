"""The gallery of the thesis' tests: closed forms, published figures, violations of constraints, and
the page itself."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from examples import thesis_gallery as gallery
from tests.models import needs_compiler, rarely

pytestmark = needs_compiler
PAGE = (Path(__file__).parents[2] / "docs" / "gallery_partial_vehicles.md").read_text(
    encoding="utf-8"
)
CASE = gallery.BY_NAME
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]\d+)?")
QUICK = ("M1 1a", "M1 1b", "M1 2", "M1 3")  # on flat ground: one program
LONGER = ("M2 1a", "M2 1b", "M2 2", "M2 3", "M2 5", "1.7")


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("M1 1a", 4e-3),
        ("M1 1b", 4e-4),
        pytest.param("M2 1a", 2e-9, marks=pytest.mark.campaign),
        pytest.param("M2 1b", 2e-9, marks=pytest.mark.campaign),
    ],
)
def test_released_sides_follow_the_exact_motion_of_two_masses(name, error):
    """The solution of a linear system by its eigenvectors; the error is that of rk4 with the step
    of the thesis, of order 4."""
    assert gallery.deviation(CASE[name])[0] < error


def test_model_1_sinks_by_the_flexibility_of_its_springs_and_does_not_pitch():
    run = CASE["M1 2"].run
    for part, sunk in (("chassis", 0.2), ("rim", 0.1)):
        assert run[f"rear.{part}.z"][-1] - run[f"front.{part}.z"][-1] == pytest.approx(
            sunk, abs=1e-6
        )
    run = CASE["M1 3"].run
    assert np.abs(run["pitch"]).max() < 1e-12
    assert gallery.at(run, "u(rear.contact)", 1) == pytest.approx(
        100 / 6, rel=1e-9
    )  # all six masses are driven
    assert abs(run["u(rear.contact)"][-1]) < 1e-6  # and stopped again


@pytest.mark.campaign
def test_model_2_agrees_with_an_independent_program_and_the_thesis():
    """Rod within 4.5e-12 m (thesis 1.5e-7, gone after 0.4 s), 12.50 m/s after 1 s of 50 N,
    exponential decay by resistance."""
    off = np.abs(CASE["M2 2"].run.residuals.g[:, 0])
    assert off.max() == pytest.approx(4.5e-12, rel=0.2) and off[900] < 1e-14
    assert gallery.at(CASE["M2 3"].run, "u(rear.rim, 1)", 1) == pytest.approx(12.5, rel=1e-6)
    assert [gallery.at(CASE["M2 3"].run, "pitch", t) for t in (1, 3)] == pytest.approx(
        [2.36, -2.39], abs=0.1
    )
    run = CASE["M2 5"].run
    assert run["u(rear.rim, 1)"] == pytest.approx(20 * np.exp(-run.time / 2), rel=4e-3)


@pytest.mark.parametrize("name", rarely([*QUICK, *LONGER], LONGER))
def test_dlmm_keeps_the_motorcycles_within_a_micrometre_of_their_constraints(name):
    case = CASE[name]
    assert case.run.ended == "finished"
    assert case.violation < 1e-6
    if case.step == 0.001:
        assert case.violation < 1e-9


@pytest.mark.campaign
def test_dlmm_and_minimal_coordinates_move_alike_in_every_test():
    """Rough: the hollow is left by a fall onto a crest, where differences grow."""
    for case in gallery.CASES:
        assert case.violation < 1e-6, case.name
        if case.model == 2:
            for channel in ("rear.rim.x", "rear.rim.z", "front.chassis.z"):
                assert np.abs(case.run[channel] - case.minimal[channel]).max() < 2e-5, (
                    case.name,
                    channel,
                )


def test_pendulum_returns_to_its_circle_within_two_steps():
    """Independent program: from 1.25 m (P = 0.5625 m^2) DLMM has P = -2.0e-5 after one step and
    rounding after two."""
    off = gallery.recovery()
    r = 1 + np.array(off["dlmm"])
    assert r[:2] ** 2 - 1 == pytest.approx([0.5625, -2.0e-5], rel=0.03)
    assert np.abs(r[2:] - 1).max() < 1e-12
    assert (1 + np.array(off["post"])) ** 2 - 1 == pytest.approx(
        [0.5625, 0.0506, 6.1e-4, 9e-8], rel=0.05
    )
    assert np.abs((1 + np.array(off["clmm"])) ** 2 - 1 - 0.5625).max() < 1e-6  # stays where it is


def same(line, other):
    """The same words, and numbers that differ by rounding and the last digit at most."""
    assert NUMBER.sub("#", line) == NUMBER.sub("#", other)
    for a, b in zip(NUMBER.findall(line), NUMBER.findall(other), strict=True):
        x, y = float(a), float(b)
        digits = len(a.split("e")[0].partition(".")[2])
        last = 10.0**-digits * (10 ** math.floor(math.log10(abs(x))) if "e" in a and x else 1)
        assert abs(x - y) <= 1.01 * last + 0.02 * abs(x) or max(abs(x), abs(y)) < 1e-10, (
            line,
            other,
        )


def test_page_shows_what_comes_out():
    rows = {line.split("|")[1].strip(): line for line in PAGE.splitlines() if line.startswith("| ")}
    for name in QUICK:
        case = CASE[name]
        row = gallery.Row(f"{name} {case.title}", *gallery.FINDINGS[name](case, case.run))
        same(rows[row.test], f"| {' | '.join(row)} |")


@pytest.mark.campaign
def test_whole_page_and_pictures(tmp_path):
    shown = [line for line in PAGE.splitlines() if line.startswith("|")]
    found = [line for line in gallery.table() if line]
    assert len(found) == len(shown) > 30
    for line, other in zip(shown, found, strict=True):
        same(line, other)
    for path in gallery.draw(tmp_path):
        assert f"images/{path.name}" in PAGE and path.stat().st_size > 10_000
