"""How-to pages and README: their code runs as it stands, prints what they say, and agrees with
closed forms and known numbers."""

import re
import shlex
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import bellcrank as bc
from bellcrank import cli
from bellcrank.api.equations import Equations
from bellcrank.optimize import Fit
from bellcrank.simulation.run.result import Run
from tests.docs.shown import matches
from website.shown import BLOCK, DOCS, FIGURE, run_blocks, shown_pages

G = 9.80665
PAGES = {p.stem: p for p in shown_pages() if p.parent.name == "howto" or p.stem == "README"}
QUICK = ("README", "bouncing_ball", "cart_pole_lqr", "three_masses")


def pendulum_with_friction(n):
    """Dry: the energy lost in a swing is torque times angle. Viscous: equation of motion by
    SciPy."""
    q = n["dry"]["q(rod)"]
    turns = [1.0, *q[1:-1][(np.diff(q[:-1]) * np.diff(q[1:]) < 0) & (abs(q[1:-1]) > 0.1)]]
    assert len(turns) > 6
    for a, b in pairwise(np.abs(turns)):
        end = brentq(lambda x, a=a: G * (np.cos(x) - np.cos(a)) - 0.3 * (a + x), 0, a)
        assert b == pytest.approx(end, abs=2e-3)
    run = n["viscous"]
    exact = solve_ivp(
        lambda t, y: (y[1], -G * np.sin(y[0]) - 0.3 * y[1]),
        (0, 20),
        (1, 0),
        t_eval=run.time,
        rtol=1e-10,
    )
    assert abs(run["q(rod)"] - exact.y[0]).max() < 1e-5


def double_pendulum(n):
    """Lagrange's equations of two equal rods, for the absolute angles of both, by SciPy."""
    run, l = n["run"], 0.5

    def rates(t, y):
        a, b, wa, wb = y
        c, s = np.cos(a - b), np.sin(a - b)
        M = [[4 / 3 * l, l * c / 2], [l * c / 2, l / 3]]
        f = [-l / 2 * s * wb**2 - 1.5 * G * np.sin(a), l / 2 * s * wa**2 - G / 2 * np.sin(b)]
        return (wa, wb, *np.linalg.solve(M, f))

    until = run.time <= 1.5
    exact = solve_ivp(
        rates, (0, 1.5), (2.0, 2.5, 0, 0), t_eval=run.time[until], rtol=1e-11, atol=1e-11
    )
    assert abs(run["q(upper)"][until] - exact.y[0]).max() < 1e-6
    assert abs(run["q(upper)"][until] + run["q(lower)"][until] - exact.y[1]).max() < 1e-6


def overlay_springs(n):
    """Both end on the step. At the undamped limit the first peak of the soft spring is lower and
    later."""
    for run, k in ((n["soft"], 16800), (n["stiff"], 40000)):
        A = [
            [0, 0, 1, 0],
            [0, 0, 0, 1],
            [-k / 290, k / 290, -1000 / 290, 1000 / 290],
            [k / 59, -(k + 190000) / 59, 1000 / 59, -1000 / 59],
        ]
        y = solve_ivp(
            lambda t, y, A=A: A @ y + [0, 0, 0, 190000 * 0.05 / 59],
            (0, 2.5),
            np.zeros(4),
            t_eval=[0.1, 0.4, 2.5],
            rtol=1e-10,
            atol=1e-12,
        ).y
        assert np.interp([0.6, 0.9, 3.0], run.time, run["z_body"]) == pytest.approx(y[0], abs=1e-8)


def four_bar_torque(n):
    """Freudenstein's equation for the rocker; the power of the torque is the rate of the energy."""
    run, a, b, c, d = n["run"], 0.1, 0.3, 0.25, 0.3
    phi, psi = run["q(crank)"], run["q(rocker)"]
    residual = (
        a**2
        + c**2
        + d**2
        - b**2
        + 2 * c * d * np.cos(psi)
        - 2 * a * d * np.cos(phi)
        - 2 * a * c * np.cos(phi - psi)
    )
    assert abs(residual).max() < 1e-12 and phi == pytest.approx(10 * run.time, abs=1e-10)
    power = np.gradient(run["energy"], run.time, edge_order=2)
    assert 10 * run["lambda3"] == pytest.approx(power, abs=2e-3)
    assert n["run"].units["lambda3"] == "N-m"


def cart_pole_lqr(n):
    """The textbook's linear model of a uniform pole (half length l), and the Riccati equation
    solved by its poles."""
    A, B = n["upright"].A, n["upright"].B
    total, l = 1.1, 0.5
    tilt = G / (l * (4 / 3 - 0.1 / total))  # Barto, Sutton & Anderson (1983)
    assert A[3, 1] == pytest.approx(tilt) and A[2, 1] == pytest.approx(-0.1 * l * tilt / total)
    assert B[3, 0] == pytest.approx(-1 / total / (l * (4 / 3 - 0.1 / total)))
    H = np.block([[A, -100 * B @ B.T], [-np.diag([1, 10, 0.1, 0.1]), -A.T]])
    stable = np.sort_complex([x for x in np.linalg.eigvals(H) if x.real < 0])
    assert np.sort_complex(np.linalg.eigvals(A - B @ [n["K"]])) == pytest.approx(stable, rel=1e-6)
    assert abs(n["run"]["q(pole)"][-1]) < 1e-3


def rolling_coin(n):
    """Growth below and none above the critical speed of the thin disc; energy is kept; the wobble
    has its frequency."""
    energy = n["run"]["energy"]
    assert abs(energy / energy[0] - 1).max() < 1e-9
    assert n["critical"] == pytest.approx(np.sqrt(G * 0.012 / 3))
    tilt, time = n["run"]["q(tilt)"], n["run"].time
    up = [
        np.interp(0, tilt[i : i + 2], time[i : i + 2])
        for i in range(1, len(tilt) - 1)
        if tilt[i] < 0 <= tilt[i + 1]
    ]
    omega = np.sqrt(12 / 5 * 30**2 - 4 * G / 5 / 0.012)  # small tilt
    assert 2 * np.pi / np.diff(up).mean() == pytest.approx(omega, rel=0.01)


def bouncing_ball(n):
    first, events = np.sqrt(2 / G), n["run"].events
    exact = first + 2 * first * np.cumsum([0, *0.8 ** np.arange(1, len(events))])
    assert [e.time for e in events] == pytest.approx(list(exact), abs=1e-10)
    assert first + 2 * first * 0.8 / 0.2 == pytest.approx(4.06, abs=0.01)  # all of them


def monte_carlo(n):
    k, c = n["many"].values["k"], n["many"].values["c"]
    zeta = c / 2 / np.sqrt(k)
    assert n["overshoot"] == pytest.approx(np.exp(-np.pi * zeta / np.sqrt(1 - zeta**2)), abs=2e-3)
    assert k.mean() == pytest.approx(100, abs=0.05) and k.std() == pytest.approx(5, rel=0.02)


def three_masses(n):
    exact = 2 * 10 * np.sin(np.arange(1, 4) * np.pi / 8) / 2 / np.pi
    assert [m.frequency for m in n["sim"].modes()] == pytest.approx(list(exact), rel=1e-9)
    run = n["run"]  # of the last mode, over a period
    assert [run[f"q(m{i})"][-1] for i in (1, 2, 3)] == pytest.approx(
        list(0.3 * n["shape"]), abs=1e-3
    )


def slider_crank_gas_force(n):
    run, phi = n["run"], n["run"]["q(crank)"]
    exact = 0.04 * np.cos(phi) + np.sqrt(0.14**2 - (0.04 * np.sin(phi)) ** 2)
    assert run["x"] == pytest.approx(exact, abs=1e-10)
    assert n["gained"] == pytest.approx(n["work"], rel=2e-3)
    assert np.interp(np.radians(90), phi, run["pressure"]) == pytest.approx(-2000, rel=2e-3)


def README(n):
    """Eigenvalues of the matrices of the quarter car."""
    K = np.array([[16800, -16800], [-16800, 206800]]) / [[290], [59]]
    C = np.array([[1000, -1000], [-1000, 1000]]) / [[290], [59]]
    values = np.linalg.eigvals(np.block([[np.zeros((2, 2)), np.eye(2)], [-K, -C]]))
    exact = sorted((x.imag / 2 / np.pi, -x.real / abs(x)) for x in values if x.imag > 0)
    assert np.array(
        [(m.frequency, m.damping) for m in n["sim"].modes(inputs={"z_road": 0})]
    ) == pytest.approx(np.array(exact), rel=1e-9)
    assert n["run"]["z_body"][-1] == pytest.approx(0.05, abs=0.01)


def fit_hard_points(n):
    """The new car, measured as any car is, keeps its toe; its camber changes by the slope."""
    travel = np.linspace(-0.08, 0.08, 33)
    before, after = (n[car].kinematics("front", travel) for car in ("car", "new"))
    assert np.ptp(before["toe"]) > 0.6
    assert abs(after["toe"] - after["toe"][16]).max() < 0.02
    assert abs(after["camber"] - after["camber"][16] + 18 * travel).max() < 0.5


def spring_damper_stop(n):
    """Position at rest by the weight; deepest point and force by SciPy."""
    assert n["rest"] == pytest.approx(-100 * G / 8000)

    def rates(t, y):
        x, v = y
        stop = max(0.0, 2e5 * (-x - 0.2) - 500 * v) if x < -0.2 else 0.0
        return v, (stop - 8000 * x - 400 * v) / 100 - G

    exact = solve_ivp(
        rates, (0, 3), (0.3, 0), t_eval=n["run"].time, rtol=1e-9, atol=1e-9, max_step=1e-3
    )
    assert n["run"]["q(mass)"] == pytest.approx(exact.y[0], abs=5e-5)
    assert n["deepest"] < -0.2 and n["run"]["stop_force"].min() == 0


def equations_as_latex(n):
    """The text has what it must; the centre of mass moves as momentum and energy ask for."""
    text, run = n["eom"].latex(), n["run"]
    assert text.count("\\frac{d}{dt}") == 4 and "\\sin" in text
    x, q, v, w = (run[name] for name in ("q(cart)", "q(rod)", "u(cart)", "u(rod)"))
    assert 3 * v + 0.5 * np.cos(q) * w == pytest.approx(0 * v, abs=1e-7)
    energy = 1.5 * v**2 + 0.5 * v * w * np.cos(q) + 0.125 * w**2 - 0.5 * G * np.cos(q)
    assert energy == pytest.approx(energy[0] + 0 * x, abs=1e-6)


def scipy_solvers(n):
    run, found = n["run"], n["found"]
    assert [run[name][-1] for name in n["f"].state_names] == pytest.approx(
        list(found.y[:, -1]), abs=1e-5
    )
    assert n["f"].jacobian(0, n["start"])[:2, 2:] == pytest.approx(np.eye(2))


def fit_parameters(n):
    """The values of the car that was recorded lie in their intervals, and the errors are the noise
    that was added."""
    for true, (low, high) in zip((21e3, 1400), n["fit"].intervals(0.99).values(), strict=True):
        assert low < true < high
    assert n["fit"].noise == pytest.approx({"az": 0.1, "travel": 5e-4}, rel=0.1)


def van_report(n):
    """Roll steer is the slope of the rods that stand for leaf springs. The commands of the page
    run, with its points."""
    for car, low in ((n["van"], 15), (n["own"], 40)):
        rig = car.kinematics("rear", [-1e-4, 1e-4], mode="opposite")
        roll = np.degrees(1e-4 / 0.86)
        assert np.ptp(rig["toe"]) / 2 == pytest.approx(low / 488 * roll, rel=1e-4)
    page = PAGES["van_report"].read_text(encoding="utf-8")
    new, *others = "".join(re.findall(r"(?ms)^```bash\n(.*?)^```", page)).splitlines()
    assert cli.main(shlex.split(new)[1:]) == 0
    text = Path("van.toml").read_text(encoding="utf-8")
    (points,) = re.findall(r"(?ms)^```toml\n(.*?)^```", page)
    for line in points.splitlines():
        text, count = re.subn(rf"(?m)^{line.partition(' = ')[0]} = .*$", line, text)
        assert count == 1
    Path("van.toml").write_text(text, encoding="utf-8")
    assert bc.vehicles.Car.read("van.toml").metrics == pytest.approx(n["own"].metrics, rel=1e-9)
    for line in others:
        assert cli.main(shlex.split(line)[1:]) == 0, line
    assert "delivery van" in Path("van.html").read_text(encoding="utf-8")


CHECKS = [
    README,
    pendulum_with_friction,
    double_pendulum,
    overlay_springs,
    four_bar_torque,
    cart_pole_lqr,
    rolling_coin,
    bouncing_ball,
    monte_carlo,
    three_masses,
    slider_crank_gas_force,
    fit_hard_points,
    spring_damper_stop,
    equations_as_latex,
    scipy_solvers,
    fit_parameters,
    van_report,
]


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(f, id=f.__name__, marks=() if f.__name__ in QUICK else pytest.mark.campaign)
        for f in CHECKS
    ],
)
def test_how_to_page(check, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for owner, drawing in (
        (Run, "plot"),
        (Run, "animate"),
        (Equations, "export"),
        (Fit, "plot"),
    ):  # drawn by `python -m website.shown`
        monkeypatch.setattr(owner, drawing, lambda *_, **__: None)
    names = {}
    for printed, shown in run_blocks(PAGES[check.__name__], names):
        matches(printed, shown)
    check(names)


def test_every_how_to_page_is_short_and_shows_its_results():
    assert set(PAGES) == {f.__name__ for f in CHECKS}
    for page in PAGES.values():
        text = page.read_text(encoding="utf-8")
        (block,) = BLOCK.finditer(text)
        assert len([line for line in block["code"].splitlines() if line.strip()]) <= 30, page.name
        figures = FIGURE.findall(text)
        assert block["text"] and figures and all((page.parent / f).exists() for f in figures), (
            page.name
        )
    assert len(PAGES["README"].read_text(encoding="utf-8").splitlines()) <= 120
    assert sum(p.stat().st_size for p in (DOCS / "images" / "howto").iterdir()) < 1.5e6
