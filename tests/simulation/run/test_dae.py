"""Methods for differential-algebraic equations, against independently computed figures, closed
forms and each other.

The figures of the planar pendulum (g = 9.81, m = l = 1, start level at rest, rk4) were computed by
a program of their own in numpy; those of the stabilised ODE and of post stabilisation with one
pseudo-inverse over positions and speeds together, where ours corrects positions, then speeds: these
two agree in size, the others in all digits given.
"""

import pickle
import warnings
from importlib.util import find_spec

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.numeric.fixed_step_methods import HALF_EXPLICIT
from tests.late import Late
from tests.models import STRICT, example, needs_compiler, needs_wasm, rarely, relative, system

special = Late("scipy.special")

MASS = bc.Dae("projection", metric="mass")
ALL = (MASS, "dlmm", "clmm", "baumgarte", "stabilised", "post", "half-explicit", "minimal")
X, Y = "q(bob, 1)", "q(bob, 2)"


@pytest.fixture(scope="module")
def pendulum():
    return example("planar_pendulum").compile()


@pytest.fixture(scope="module")
def reference(pendulum):
    return pendulum.simulate(t_end=10, step=0.0005, output_every=20)


def position_error(run, reference):
    every = round((run.time[1] - run.time[0]) / 0.01)
    return max(np.abs(run[c] - reference[c][::every]).max() for c in (X, Y))


FIGURES = [  # method, step, largest violation, largest error of the position over 10 s
    ("clmm", 0.05, 4.4e-2, 6.1e-2),
    ("clmm", 0.01, 7.2e-5, 9.5e-5),
    ("dlmm", 0.05, 3.9e-6, 1.1e-3),
    ("baumgarte", 0.05, 5.4e-4, 8.6e-3),
    ("baumgarte", 0.01, 7.1e-7, 2.1e-5),
    ("half-explicit", 0.05, 1.5e-4, 2.1e-2),
    ("half-explicit", 0.01, 4.8e-8, 1.5e-4),
]


@pytest.mark.parametrize(("dae", "step", "violation", "error"), FIGURES)
def test_drift_and_error_are_those_of_an_independent_program(
    dae, step, violation, error, pendulum, reference
):
    run = pendulum.simulate(t_end=10, step=step, dae=dae)
    assert run.ended == "finished"
    assert run.settings["dae"] == dae
    assert run.residuals.largest[0] == pytest.approx(violation, rel=0.05)
    assert position_error(run, reference) == pytest.approx(error, rel=0.06)


def test_small_violation_of_dlmm(pendulum):
    assert pendulum.simulate(t_end=10, step=0.01, dae="dlmm").residuals.largest[0] == pytest.approx(
        8.6e-10, rel=0.01
    )


@pytest.mark.parametrize(
    ("dae", "step", "violation", "error"),
    [
        ("stabilised", 0.05, 1.7e-4, 3.3e-3),
        ("stabilised", 0.01, 2.4e-7, 1.3e-5),
        ("post", 0.05, 1.5e-10, 2.2e-3),
        (MASS, 0.05, 1e-13, 2.2e-3),
    ],
)
def test_other_methods_are_within_a_factor_of_four(
    dae, step, violation, error, pendulum, reference
):
    run = pendulum.simulate(t_end=10, step=step, dae=dae)
    assert run.residuals.largest[0] < 4 * violation
    assert error / 4 < position_error(run, reference) < 4 * error


@needs_compiler
@pytest.mark.parametrize(
    ("dae", "violation", "energy"),
    [("dlmm", 8.6e-10, 8.8e-5), ("baumgarte", 7.1e-7, 2.4e-3), ("half-explicit", 5e-6, 2.9e-2)],
)
def test_a_thousand_seconds(dae, violation, energy, pendulum):
    run = pendulum.simulate(t_end=1000, step=0.01, output_every=20, dae=dae)
    assert run.residuals.largest[0] == pytest.approx(violation, rel=0.03)
    assert np.abs(run["energy"] - 9.81).max() == pytest.approx(energy, rel=0.03)


@needs_compiler
@pytest.mark.parametrize("dae", ["projection", MASS, "post"])
def test_projections_stay_exact_for_a_thousand_seconds(dae, pendulum):
    run = pendulum.simulate(t_end=1000, step=0.01, output_every=20, dae=dae)
    assert max(run.residuals.largest) < 1e-13
    assert np.abs(run["energy"] - 9.81).max() < 5e-4  # independent program: 1.2e-4


@needs_compiler
def test_clmm_breaks_down(pendulum):
    """The bob sinks to the pivot, then flies off: the violation becomes positive at 989 s, with the
    coarse step at 40 s."""
    for step, every, when in ((0.01, 20, 989), (0.05, 1, 40)):
        run = pendulum.simulate(t_end=1000, step=step, dae="clmm", output_every=every)
        assert run.time[np.flatnonzero(run.residuals.g[:, 0] > 0.1)[0]] == pytest.approx(
            when, abs=0.5
        )
        assert run.ended.startswith("stopped at t = ")


@pytest.mark.campaign
@needs_compiler
def test_drift_over_1_10_and_100_seconds(pendulum):
    """Without correction the violation grows with time; with any of the others it does not."""
    for dae in ALL:
        drift = [
            pendulum.simulate(t_end=t, step=0.01, output_every=7, dae=dae).residuals.largest[0]
            for t in (1, 10, 100)
        ]
        if dae in ("clmm", "half-explicit"):
            assert drift[0] < 0.5 * drift[1] < 0.25 * drift[2], dae
        else:
            assert drift[2] <= 1.05 * drift[0] + 2e-13, dae


RECOVERY = {  # violations after each step from 1.25 instead of 1
    "clmm": (0.5625, 0.5625, 0.5625),
    "dlmm": (-2.0e-5, 0, 0),
    "post": (0.050625, 6.098e-4, 9.29e-8),
    MASS: (0, 0, 0),
    "stabilised": tuple(0.5625 * np.exp(-0.1 * np.arange(1, 4))),
}


@pytest.mark.parametrize("dae", list(RECOVERY), ids=str)
def test_start_that_violates_the_constraint(dae, pendulum):
    run = pendulum.simulate(t_end=0.1, step=0.01, initial={X: 1.25}, assemble=False, dae=dae)
    assert run.residuals.g[0, 0] == pytest.approx(0.5625)
    tolerance = 0.01 if dae != "stabilised" else 0.02
    assert run.residuals.g[1:4, 0] == pytest.approx(RECOVERY[dae], rel=tolerance, abs=1e-12)


def test_residuals_travel_with_a_run(pendulum):
    run = pendulum.simulate(t_end=0.1, step=0.01, dae="clmm")
    sent = pickle.loads(pickle.dumps(run))
    assert 0 < sent.residuals.largest[0] == run.residuals.largest[0]
    assert sent.residuals.positions == run.residuals.positions


def test_assembled_by_default(pendulum):
    with pytest.warns(bc.ModelWarning, match=r"changed: q\(bob, 1\) 1.25 -> 1"):
        run = pendulum.simulate(t_end=0.1, step=0.01, initial={X: 1.25, Y: 0.0}, dae="clmm")
    assert run.residuals.position[0] < 1e-12


def test_free_fall_as_base_is_wrong_motion(pendulum, reference):
    """The base without multipliers: stabilised, it leaves the circle at 0.35 s whatever the step
    is; projected, it stays there and is wrong."""
    for step in (0.05, 0.01, 0.001):
        run = pendulum.simulate(t_end=1, step=step, dae=bc.Dae("stabilised", base="free fall"))
        left = run.time[np.flatnonzero(run.residuals.position > 0.1)[0]]
        assert 0.33 < left < 0.41
    for method in ("post", "projection"):
        run = pendulum.simulate(t_end=10, step=0.01, dae=bc.Dae(method, base="free fall"))
        assert run.residuals.largest[0] < 1e-5
        assert position_error(run, reference) > 1
        assert np.abs(run["energy"] - 9.81).max() > 1


def chain():
    """A pendulum on the bob of another, with coordinates from bob to bob: three rods bind five
    coordinates, masses are coupled, one rod repeats another."""
    s = bc.System("chain", units="mks")
    first = s.add_point_mass("a", translate=(1, 2), mass="m1")
    second = s.add_point_mass("b", first, translate=(1, 2), mass="m2")
    s.add_body("c", second, rotate=3, mass="m3", cm=("l3", 0, 0), inertia=(0, 0, "i3"))
    s.add_loop_joint("loop", "distance", between=(first.origin, s.inertial.origin), length="l1")
    s.add_loop_joint("loop_2", "distance", between=(second.origin, first.origin), length="l2")
    s.add_loop_joint("again", "distance", between=(s.inertial.origin, first.origin), length="l1")
    s.add_gravity(direction=(0, -1, 0))
    s.set_defaults(m1=1, m2=2, m3=0.7, i3=0.2, l1=0.8, l2=0.5, l3=0.3, g=9.81)
    s.set_run(
        t_end=1, step=0.01, initial={"q(a, 1)": 0.8, "q(b, 1)": 0.3, "q(b, 2)": -0.4, "u(c)": 3.0}
    )
    return s


@needs_compiler
@pytest.mark.parametrize(
    "name, method",
    [
        ("chain", "rk2"),
        pytest.param("planar_pendulum", "rk2", marks=pytest.mark.campaign),
        ("four_bar", "rk4"),
        pytest.param("whipple_bicycle", "rk4", marks=pytest.mark.campaign),
        pytest.param("planar_pendulum", "euler", marks=pytest.mark.campaign),
    ],
)
def test_every_method_follows_the_usual_motion(name, method, monkeypatch):
    """Also: a loop with massless links, and rolling next to a loop; the C compiles without a
    warning. WebAssembly has the same rows."""
    eom = chain().equations() if name == "chain" else example(name)
    compiled = eom.compile(backend="c")
    monkeypatch.setenv(
        "BELLCRANK_CFLAGS", " ".join(STRICT)
    )  # of what is compiled for these methods
    step = eom.interface.run.step
    usual = compiled.simulate(t_end=5.5 * step, step=step / 50, output_every=50)
    wasm = eom.compile(backend="wasm") if find_spec("wasmtime") else None
    for dae in (*ALL, bc.Dae("post", base="free fall")):
        if (method == "euler" and dae == "half-explicit") or (
            name == "four_bar" and getattr(dae, "base", "") == "free fall"
        ):
            continue
        if dae == "minimal" and eom.program.loops.correction is None:
            continue
        options = {"t_end": 5.5 * step, "method": method, "dae": dae}
        if getattr(dae, "base", "") != "free fall":
            fine = compiled.simulate(step=step / 50, output_every=50, **options)
            off = max(relative(fine[x.name], usual[x.name]) for x in compiled.interface.states)
            assert fine.ended == "finished" and off < (0.03 if method == "euler" else 1e-5), (
                dae,
                off,
            )
        a = compiled.simulate(step=step, **options)
        for b in () if wasm is None else (wasm.simulate(step=step, **options),):
            assert a.ended == b.ended == "finished"
            for channel in a:
                assert np.abs(a[channel] - b[channel]).max() < 1e-11 * max(
                    1, np.abs(b[channel]).max()
                ), (dae, channel)


@needs_compiler
@pytest.mark.parametrize("dae", rarely(ALL, ("dlmm", "post", "stabilised")), ids=str)
def test_slider_crank_moves_as_by_default(dae):
    sim = example("slider_crank").compile()
    usual = sim.simulate(t_end=0.2, step=0.0005)
    run = sim.simulate(t_end=0.2, step=0.0005, dae=dae)
    for channel in usual:
        assert relative(run[channel], usual[channel]) < 1e-6


def test_minimal_coordinates_are_those_of_one_equation():
    """The midpoint rule on the crank's angle and speed alone, the linkage assembled anew at every
    stage."""
    sim = example("four_bar").compile()
    crank = np.array([-0.5, 0.0])

    def rates(y):
        q, u = sim.assemble({"q(a)": y[0], "u(a)": y[1], "q(b)": -1.1 * y[0], "q(c)": 1.3 * y[0]})
        return np.array([u[0], sim.derivatives(0.0, q, u)[1][0]])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bc.ModelWarning)  # guesses of the others are guesses
        for _ in range(40):
            crank = crank + 0.005 * rates(crank + 0.0025 * rates(crank))
    run = sim.simulate(t_end=0.2, step=0.005, method="rk2", initial={"q(a)": -0.5}, dae="minimal")
    assert [run["q(a)"][-1], run["u(a)"][-1]] == pytest.approx(crank, rel=1e-9)
    other = sim.simulate(t_end=0.2, step=0.005, method="rk2", initial={"q(a)": -0.5})
    assert abs(other["q(a)"][-1] - crank[0]) > 1e-6  # closed after every step only


def test_event_at_a_quarter_of_the_period(pendulum):
    """The exact period of 90 degrees: 4 K(sin 45 deg) sqrt(l/g)."""
    quarter = special.ellipk(0.5) * np.sqrt(1 / 9.81)
    run = pendulum.simulate(t_end=1, step=0.01, dae="dlmm", events={"bottom": f"{X} < 0"})
    assert run.events[0].time == pytest.approx(quarter, abs=1e-7)


@pytest.mark.campaign
def test_last_step_may_be_short_and_steps_may_be_split():
    s = system("planar_pendulum")
    s.add_input("push", units="F")
    s.add_force("side", magnitude="push", direction=s.inertial[1], at="bob.origin")
    sim = s.equations().compile()
    inputs = {"push": bc.signals.step(at=0.123, height=3.0)}
    fine = sim.simulate(t_end=0.505, step=0.001, inputs=inputs)
    for dae in ALL:
        run = sim.simulate(t_end=0.505, step=0.01, inputs=inputs, dae=dae)
        assert run.time[-1] == 0.505
        assert abs(run[X][-1] - fine[X][-1]) < 2e-5, dae


def spinning_top():
    """A free body in Euler parameters, held at a point by a ball joint."""
    s = bc.System("top", units="mks")
    top = s.add_body(
        "top",
        translate=(1, 2, 3),
        rotate="euler-parameters",
        mass=2,
        inertia=(0.1, 0.2, 0.15),
        label="spinning top",
    )
    foot = s.add_point("foot", body=top, at=(0, 0, -0.5))
    s.add_loop_joint("loop_3", "spherical", between=(foot, s.inertial.origin))
    s.add_gravity(direction=(0, 0, -1))
    s.add_outputs("energy")
    s.set_defaults(g=9.81)
    s.set_run(t_end=1, step=0.002, initial={"q(top, 3)": 0.5, "u(top, 6)": 20.0, "u(top, 4)": 1.0})
    return s


@pytest.mark.campaign
def test_euler_parameters_keep_unit_size():
    sim = spinning_top().equations().compile()
    with pytest.raises(bc.ModelError, match="do not follow one speed each"):
        sim.simulate(dae="minimal")
    for dae in ALL[:-1]:
        run = sim.simulate(dae=dae)
        assert np.abs(run.residuals.g[:, -1]).max() < 1e-13, dae
        assert np.ptp(run["energy"]) < 1e-5 * run["energy"][0], dae


def motorcycle(damping=0.0):
    """Two partial vehicles of three point masses, chassis parts joined by a rod, springs
    perpendicular to it; in flight, without gravity.

    Van Iwaarden (2003), (1.4) and (2.7): 12 coordinates, 3 constraints.
    """
    s = bc.System("motorcycle", units="mks")
    for i, x in ((1, 0), (4, 1)):
        for k, height in enumerate((0, 0.3588, 0.7392)):
            s.add_point_mass(f"m{i + k}", translate=(1, 2), joint_at=(x, height, 0), mass=1)
        for k, (low, high) in enumerate(((i, i + 1), (i + 1, i + 2)), 1):
            magnitude = f"k*(l{k} - x) - {damping}*v"
            s.add_strut(
                f"s{low}", magnitude=magnitude, between=(f"m{high}.origin", f"m{low}.origin")
            )

    def square(a, b):
        return f"magnitude(pos(m{a}.origin, m{b}.origin))**2"

    s.add_constraint(f"magnitude(pos(m3.origin, m6.origin)) - {1.0}")
    s.add_constraint(f"{square(2, 3)} + 1 - {square(2, 6)}")
    s.add_constraint(f"{square(5, 6)} + 1 - {square(5, 3)}")
    s.add_outputs("energy", "momentum")
    s.set_defaults(k=1000, l1=0.4, l2=0.4)
    s.set_run(t_end=0.5, step=0.001, initial={"u(m1, 2)": 0.5, "u(m4, 2)": -0.5, "u(m1, 1)": 0.2})
    return s


@pytest.mark.campaign
@needs_compiler
@needs_wasm
def test_motorcycle(monkeypatch):
    """Momentum is conserved, and dlmm keeps the constraints to a nanometre."""
    eom = motorcycle().equations()
    compiled, wasm = eom.compile(backend="c"), eom.compile(backend="wasm")
    monkeypatch.setenv("BELLCRANK_CFLAGS", " ".join(STRICT))
    assert len(eom.coordinates) - len(eom.constraint_matrix) == 9
    for dae in ALL:
        run = compiled.simulate(t_end=0.05, dae=dae)
        other = wasm.simulate(t_end=0.05, dae=dae)
        assert max(np.abs(run[c] - other[c]).max() for c in run) < 1e-9, dae
    run = compiled.simulate(dae="dlmm")
    assert run.residuals.largest[0] < 1e-9
    assert (
        max(np.ptp(run[c]) for c in ("p1", "p2")) < 1e-13
    )  # corrections in the metric of the masses push no one
    assert np.ptp(run["h3"]) < 1e-8  # of order h^4
    usual = compiled.simulate()
    assert max(np.abs(run[c] - usual[c]).max() for c in usual) < 1e-8


# ---- equations with multipliers


def test_multiplier_is_the_tension():
    """At the bottom after a fall from level the rod carries three times the weight: 2 lambda r = -3
    m g."""
    eom = system("planar_pendulum").equations(constraints="multipliers")
    assert [str(x) for x in eom.forces] == ["0", "-g*m"]
    assert [[str(x) for x in row] for row in eom.mass_matrix] == [["m", "0"], ["0", "m"]]
    assert [[str(x) for x in row] for row in eom.constraint_matrix] == [
        ["2*q(bob, 1)", "2*q(bob, 2)"]
    ]
    assert len(eom.constraint_rates) == len(eom.constraint_rows) == len(eom.position_rows) == 1
    found = eom.compile(backend="python").multipliers(0.0, [0.0, -1.0], [np.sqrt(2 * 9.81), 0.0])
    assert 2 * next(iter(found.values())) == pytest.approx(-3 * 9.81, rel=1e-12)


@pytest.mark.campaign
def test_speed_constraints_with_multipliers():
    """The rolling disc keeps all five speeds and moves as it does with three."""
    usual, kept = (
        example("rolling_disc"),
        system("rolling_disc").equations(constraints="multipliers"),
    )
    assert (len(usual.speeds), len(kept.speeds), len(kept.constraint_matrix)) == (3, 5, 2)
    assert not kept.position_rows
    expected = usual.compile().simulate(t_end=0.5, step=0.005)
    sim = kept.compile()
    for dae in ("projection", "dlmm", "clmm", "half-explicit"):
        run = sim.simulate(t_end=0.5, step=0.005, dae=dae)
        assert max(np.abs(run[c] - expected[c]).max() for c in expected) < 1e-9
        assert run.residuals.largest[1] < 1e-9


def test_tree_has_no_multipliers():
    eom = system("quarter_car").equations(constraints="multipliers")
    assert eom.constraint_matrix == eom.constraint_rates == []
    assert eom.compile(backend="python").multipliers(0.0, [0.0, 0.0], [0.0, 0.0]) == {}


# ---- what cannot be done


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dae": "dllm"}, "method='dllm' is not known. Did you mean 'dlmm'"),
        ({"dae": "dlmm", "method": "RK45"}, "needs a fixed step"),
        (
            {"dae": "half-explicit", "method": "euler"},
            f"available for {', '.join(HALF_EXPLICIT)}, not for euler",
        ),
        ({"dae": 3}, "method='3' is not known"),
    ],
)
def test_wrong_methods_are_told(options, words, pendulum):
    with pytest.raises(bc.ModelError, match=words.replace(".", r"\.")):
        pendulum.simulate(**options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "dlmm", "base": "free fall"}, "belongs to projection, stabilised, post"),
        ({"base": "floating"}, "base='floating' is not known"),
        ({"method": "baumgarte", "alpha": -1}, "alpha=-1 must be a number of at least 0"),
        ({"method": "stabilised", "gamma": float("nan")}, "gamma=nan must be"),
    ],
)
def test_wrong_settings_are_told(options, words):
    with pytest.raises(bc.ModelError, match=words):
        bc.Dae(**options)


def test_models_without_loops_are_told():
    with pytest.raises(bc.ModelError, match="keeps its constraints by itself"):
        example("quarter_car").compile(backend="python").simulate(dae="dlmm")


def test_massless_links_have_no_free_fall():
    with pytest.raises(bc.ModelError, match="the mass matrix is singular"):
        example("four_bar").compile().simulate(dae=bc.Dae("post", base="free fall"))


@pytest.mark.campaign
@needs_compiler
@needs_wasm
def test_coupling_that_outweighs_the_mass_before_it():
    """A light slide with a long arm: elimination exchanges rows behind the first one."""
    s = bc.System("crane", units="mks")
    mast = s.add_body("mast", rotate=3, mass=1, inertia=(50, 50, 50))
    slide = s.add_body("slide", mast, translate=1, mass=1, inertia=(1, 1, 1))
    arm = s.add_body("arm", slide, rotate=3, mass=2, inertia=(1, 1, 1), cm=(0, 10, 0))
    s.add_loop_joint(
        "rope",
        "distance",
        between=(s.add_point("tip", arm, at=(1, 12, 0)), s.add_point("hook", at=(4, 9, 0))),
    )
    s.add_gravity(direction="-[n2]")
    s.set_run(t_end=0.2, step=0.01, initial={"q(slide)": 0.5, "u(mast)": 0.3, "u(arm)": -0.2})
    eom = s.equations()
    for dae, other in (("projection", "python"), (bc.Dae("post", base="free fall"), "wasm")):
        a, b = (eom.compile(backend=backend).simulate(dae=dae) for backend in ("c", other))
        for channel in a:
            assert np.abs(a[channel] - b[channel]).max() < 1e-11 * max(
                1, np.abs(b[channel]).max()
            ), (dae, channel)
