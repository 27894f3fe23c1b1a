"""Tutorials, concepts and first pages: their code runs as it stands, prints what they say, and what
comes out is right."""

import re

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from bellcrank.api.equations import Equations
from bellcrank.api.system import System
from bellcrank.simulation.run.result import Run
from tests.docs.shown import matches
from website.shown import BLOCK, DOCS, FIGURE, run_blocks, shown_pages

ROOT = DOCS.parent
PAGES = {
    p.stem: p
    for p in shown_pages()
    if p.parent.name in ("tutorials", "concepts") or p.stem == "getting_started"
}
QUICK = ("getting_started", "1_pendulum", "7_kane", "bodies_and_joints", "coordinates_and_speeds")


def getting_started(n):
    assert np.all(np.diff(n["run"]["energy"]) < 1e-9)  # friction takes it away


def pendulum(n):
    """Period of a large swing: elliptic integral, by the arithmetic-geometric mean."""
    a, b = 1.0, np.cos(np.radians(120) / 2)
    for _ in range(6):
        a, b = (a + b) / 2, np.sqrt(a * b)
    run = n["large"]
    assert np.interp(np.pi / 2 / a / np.sqrt(9.80665), run.time, run["q(rod)"]) == pytest.approx(
        0, abs=1e-4
    )


def double_pendulum(n):
    energy = n["run"]["energy"]
    assert np.ptp(energy) < 1e-6 * n["run"]["kinetic"].max()


def quarter_car(n):
    K = np.array([[16800, -16800], [-16800, 206800]]) / [[290], [59]]
    C = np.array([[1000, -1000], [-1000, 1000]]) / [[290], [59]]
    values = np.linalg.eigvals(np.block([[np.zeros((2, 2)), np.eye(2)], [-K, -C]]))
    exact = sorted(x.imag / 2 / np.pi for x in values if x.imag > 0)
    assert [m.frequency for m in n["sim"].modes(inputs={"z_road": 0})] == pytest.approx(
        exact, rel=1e-9
    )
    assert n["many"].values["k"].mean() == pytest.approx(16800, rel=1e-3)


def slider_crank(n):
    """Newton's law of the rod: its mass centre by differences, the crank pin's and the piston's
    forces."""
    run, t = n["run"], n["run"].time
    a = run["q(crank)"] + run["q(rod)"]
    x = 0.05 * np.cos(run["q(crank)"]) + 0.075 * np.cos(a)
    ax = np.gradient(np.gradient(x, t, edge_order=2), t, edge_order=2)
    piston = np.gradient(np.gradient(run["x"], t, edge_order=2), t, edge_order=2)
    along_x = run["F1(rod)"] * np.cos(a) - run["F2(rod)"] * np.sin(a)
    assert along_x[3:-3] == pytest.approx(
        (1.0 * ax + 0.5 * piston)[3:-3], abs=0.02 * abs(along_x).max()
    )


def cart_pole(n):
    total, l = 1.1, 0.5
    tilt = 9.80665 / (l * (4 / 3 - 0.1 / total))  # Barto, Sutton & Anderson (1983)
    assert n["upright"].A[3, 1] == pytest.approx(tilt)
    assert all(abs(r["q(pole)"][-1]) < 1e-3 for r in n["runs"])


def car(n):
    assert n["stiff"].metrics["roll_gradient_springs"] < n["car"].metrics["roll_gradient_springs"]
    run = n["run"]  # a steady turn: ay = v r
    speed = run["speed"][-1] / (3.6 if run.units["speed"] == "km/h" else 1)
    assert run["ay"][-1] == pytest.approx(speed * np.radians(run["yaw_rate"][-1]), rel=0.05)


def kane(n):
    """The mass centre of both stays in place: no horizontal force acts."""
    assert n["run"]["x"].max() == pytest.approx(2 * 0.47943 / 3, rel=1e-3)


def a_study(n):
    assert len(n["result"]["comfort"]) == 12 and n["best"].values == {"k": 10000, "zeta": 0.15}


def a_tyre(n):
    """The wheel locks past the largest force of the tyre at its static load."""
    assert n["f"].Fy[0] > 0 > n["f"].Fy[-1] and n["run"]["tyre.kappa"][-1] < -0.95
    steady = n["likely"].forces(420 * 9.80665, -np.linspace(0.05, 0.3, 251), 0.0).Fx.min()
    assert n["run"]["tyre.fx"].min() == pytest.approx(steady, rel=0.01)


def bodies_and_joints(n):
    assert n["found"]["x_hub"] == pytest.approx(0.5) and n["found"]["w_wheel"] == pytest.approx(5)


def inertia(n):
    w = np.array([1.0, 2.0, 3.0])
    assert (
        n["spinning"](True)
        == pytest.approx(w @ n["tensor"] @ w / 2, rel=1e-12)
        == n["spinning"](False)
    )


def coordinates_and_speeds(n):
    assert n["q_dot"] == pytest.approx([0, 2, 0]) and list(n["u"]) == [2, 0, 0]
    assert 4 * n["run"].events[0].time == pytest.approx(2 * np.pi / np.sqrt(9.80665), rel=1e-6)


def constraints_and_assembly(n):
    """Freudenstein's equation: in both assemblies, and over the run."""
    a, b, c, d = 0.1, 0.3, 0.25, 0.3
    states = [
        n["sim"].assemble({"q(crank)": np.pi / 3}, guess={"q(coupler)": g})
        for g in ("-30 deg", "-150 deg")
    ]
    assert np.ptp([x["q(rocker)"] for x in states]) > 3
    for x in (*states, n["run"]):
        phi, psi = x["q(crank)"], x["q(rocker)"]
        residual = a**2 + c**2 + d**2 - b**2 + 2 * c * d * np.cos(psi) - 2 * a * d * np.cos(phi)
        assert np.max(np.abs(residual - 2 * a * c * np.cos(phi - psi))) < 1e-12


def integrators(n):
    a, b = 1.0, np.cos(0.25)  # period of a swing of 0.5 rad: elliptic integral
    for _ in range(6):
        a, b = (a + b) / 2, np.sqrt(a * b)
    period = 2 * np.pi / a / np.sqrt(9.80665)
    assert CubicSpline(0.1 * np.arange(101), n["exact"])(3 * period) == pytest.approx(0.5, abs=1e-4)
    assert n["run"]["q(wheel)"] == pytest.approx(
        0.01 * np.cos(np.sqrt(100 / 1.1) * n["run"].time), abs=1e-4
    )


CHECKS = {
    f.__name__: f
    for f in (
        getting_started,
        pendulum,
        double_pendulum,
        quarter_car,
        slider_crank,
        cart_pole,
        car,
        kane,
        a_study,
        a_tyre,
        bodies_and_joints,
        inertia,
        coordinates_and_speeds,
        constraints_and_assembly,
        integrators,
    )
}


@pytest.mark.filterwarnings(
    "ignore:a mode of .* limited:bellcrank.ModelWarning"
)  # shown in the page of integrators
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.campaign) for n in PAGES]
)
def test_code_of_a_page(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for owner, drawing in (
        (Run, "plot"),
        (Run, "animate"),
        (System, "picture"),
        (Equations, "export"),
    ):
        monkeypatch.setattr(
            owner, drawing, lambda *_, **__: None
        )  # drawn by `python -m website.shown`
    names = {}
    for printed, shown in run_blocks(PAGES[name], names):
        matches(printed, shown)
    CHECKS[re.sub(r"^\d_", "", name)](names)


def test_tutorials_show_outputs_and_figures():
    tutorials = [p for p in PAGES.values() if p.parent.name == "tutorials"]
    assert len(tutorials) == 9
    for page in tutorials:
        text = page.read_text(encoding="utf-8")
        figures = FIGURE.findall(text)
        assert len(figures) >= 2 and all((page.parent / f).exists() for f in figures), page.name
        assert (
            sum(bool(b["text"]) for b in BLOCK.finditer(text)) >= 2
            and "## What you learned" in text
        ), page.name


def test_code_of_the_first_page():
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    (block,) = BLOCK.finditer(text)
    names = {}
    exec(
        compile(
            block["code"].replace("compile()", "compile(backend='python')"), "index.md", "exec"
        ),
        names,
    )
    assert abs(names["run"]["q(rod)"]).max() == pytest.approx(1.0, abs=1e-3)
