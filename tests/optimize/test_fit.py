"""Parameters from noisy records of a damped oscillator, whose motion and covariance have closed
forms."""

import json

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.files.record import FileChannel
from bellcrank.optimize.least_squares import FitUnknown, solve_least_squares

M, K, C, X0, NOISE = 2.0, 50.0, 2.0, 1.0, 0.01
TIME = np.arange(0, 2.001, 0.02)
START = {"q(mass)": X0}


def motion(t, k=K, c=C, x0=X0, m=M):
    """x of m x'' + c x' + k x = 0 from x(0) = x0 at rest."""
    w, z = np.sqrt(k / m), c / 2 / np.sqrt(k * m)
    d = w * np.sqrt(1 - z**2)
    return x0 * np.exp(-z * w * t) * (np.cos(d * t) + z * w / d * np.sin(d * t))


def partials(t):
    """Derivatives of the closed form by complex steps: columns k, c."""
    h = 1e-30
    return np.column_stack([motion(t, K + 1j * h, C).imag / h, motion(t, K, C + 1j * h).imag / h])


def log(values, unit="m", time=TIME, name="log", **more):
    channels = [
        FileChannel("q(mass)", np.asarray(values), unit, "x"),
        *(FileChannel(n, x, "N", n) for n, x in more.items()),
    ]
    return bc.Run._from_channels(name, time, channels, "finished")


def noisy(seed, **values):
    return motion(TIME, **values) + np.random.default_rng(seed).normal(0, NOISE, len(TIME))


@pytest.fixture(scope="module")
def sim():
    s = bc.System("oscillator")
    mass = s.add_body("mass", translate="x", mass="m", inertia=0)
    s.add_input("push", units="N", default=0)
    s.add_force("spring", magnitude="-k*x - c*v + push", direction=s.inertial.x, at=mass.origin)
    s.add_output("double", "2*q(mass)", units="mm")
    s.set_defaults(k=40, c=1, m=M)
    s.set_run(step=0.005)
    return s.equations().compile()


def test_values_lie_in_their_intervals_and_the_covariance_is_that_of_the_closed_form(sim):
    J = partials(TIME)
    for seed in range(4):
        fit = bc.optimize.fit(sim, log(noisy(seed)), {"k": (10, 100), "c": (0, 10)}, initial=START)
        for true, (low, high) in zip((K, C), fit.intervals(0.99).values(), strict=True):
            assert low < true < high
        exact = np.linalg.inv(J.T @ J) * fit.noise["q(mass)"] ** 2
        assert fit.covariance == pytest.approx(exact, rel=0.05)
        assert (
            fit.noise["q(mass)"] == pytest.approx(NOISE, rel=0.2)
            and fit.converged
            and not fit.notes
        )
    assert fit.after[0]["q(mass)"].rms < 0.1 * fit.before[0]["q(mass)"].rms
    assert fit.correlation[0, 1] == pytest.approx(
        exact[0, 1] / np.sqrt(exact[0, 0] * exact[1, 1]), abs=0.02
    )


@pytest.mark.campaign
def test_covariance_and_coverage_against_monte_carlo(sim):
    fits = [
        bc.optimize.fit(sim, log(noisy(s)), {"k": (10, 100), "c": (0, 10)}, initial=START)
        for s in range(300)
    ]
    found = np.array([[f["k"], f["c"]] for f in fits])
    assert np.cov(found.T) == pytest.approx(np.mean([f.covariance for f in fits], axis=0), rel=0.25)
    inside = np.mean(
        [
            [a < x < b for x, (a, b) in zip((K, C), f.intervals().values(), strict=True)]
            for f in fits
        ],
        0,
    )
    assert np.all(np.abs(inside - 0.95) < 0.04)


def test_exact_data_give_the_exact_values(sim):
    fit = bc.optimize.fit(sim, log(1000 * motion(TIME), "mm"), ["k", "c"], initial=START)
    assert [fit["k"], fit["c"]] == pytest.approx([K, C], rel=1e-6)


def test_several_records_an_input_initial_values_and_fixed_parameters(sim):
    """The same spring in a free and a forced motion: the forced one determines the mass as well."""
    t = np.arange(0, 3.001, 0.01)
    push = 20 * np.sin(4 * t)
    truth = sim.simulate(
        3.0, step=0.01, inputs={"push": (t, push)}, parameters={"k": K, "c": C, "m": 1.5}
    )
    seen = truth["q(mass)"] + np.random.default_rng(5).normal(0, NOISE, len(t))
    data = [
        bc.optimize.Recording(log(noisy(5, m=1.5)), initial=START),
        log(seen, time=t, push=push, name="forced"),
    ]
    fit = bc.optimize.fit(sim, data, ["k", "c", "m"])
    for true, (low, high) in zip((K, C, 1.5), fit.intervals(0.99).values(), strict=True):
        assert low < true < high
    assert [x.measured.name for x in fit.after] == ["log", "forced"]
    begun = bc.optimize.fit(
        sim, log(noisy(6)), ["k", "q(mass)"], fixed={"c": C}, initial={"q(mass)": 0.7}
    )
    assert begun.states == ("q(mass)",) and begun.parameters.keys() == {"k"}
    assert begun.initial["q(mass)"] == pytest.approx(X0, abs=4 * begun.standard_errors["q(mass)"])


def test_scale_offset_and_delay_of_a_sensor(sim):
    seen = (
        1.2 * motion(np.maximum(TIME - 0.03, 0))
        + 0.25
        + np.random.default_rng(7).normal(0, 0.002, len(TIME))
    )
    names = ["k", "c", "q(mass).scale", "q(mass).offset", "q(mass).delay"]
    fit = bc.optimize.fit(sim, log(seen), names, initial=START)
    for true, (low, high) in zip(
        (K, C, 1.2, 0.25, 0.03), fit.intervals(0.999).values(), strict=True
    ):
        assert low < true < high
    assert fit.sensors == tuple(names[2:]) and fit.parameters.keys() == {"k", "c"}
    assert fit.units["q(mass).offset"] == "m" and fit.units["q(mass).delay"] == "s"


def test_what_the_data_cannot_determine_is_reported(sim):
    """A free motion has k/m and c/m alone; the input and its parameter do nothing."""
    with pytest.warns(bc.ModelWarning, match="not identifiable|hardly determined") as found:
        fit = bc.optimize.fit(
            sim, log(noisy(1)), {"k": (10, 100), "c": (0.1, 10), "m": (0.5, 5)}, initial=START
        )
    assert "'k'" in str(found[0].message) and len(fit.notes) >= 1
    errors = fit.standard_errors
    assert all(errors[n] > abs(fit[n]) for n in "kcm")
    assert fit["k"] / fit["m"] == pytest.approx(K / M, rel=0.01)


def test_all_unknowns_of_a_combination_without_effect_have_no_variance():
    """a, b and c may grow by the same value. c has a hundredth of the influence of the others."""
    unknown, t = [FitUnknown(n, 1.0, -np.inf, np.inf, 1.0) for n in "abcd"], np.linspace(0, 1, 50)
    noise = np.random.default_rng(3).normal(0, 0.01, 50)

    def errors(p):
        a, b, c, d = p.T[:, :, None]
        return 100 * (a - b) * t + (b - c) * t**2 + (d - 2) * np.sin(9 * t) - noise

    found = solve_least_squares(unknown, errors, np.zeros(50, int), np.ones(1), ["y"])
    assert np.isinf(np.diag(found.covariance)[:3]).all() and np.isfinite(found.covariance[3, 3])
    assert "'a', 'b', 'c' are not identifiable one by one" in found.problems[0]


def test_an_unknown_without_influence():
    unknown, t = [FitUnknown(n, 1.0, -np.inf, np.inf, 1.0) for n in "ab"], np.linspace(0, 1, 50)
    found = solve_least_squares(
        unknown, lambda p: p[:, :1] * t - 3 * t, np.zeros(50, int), np.ones(1), ["y"]
    )
    assert found.values[0] == pytest.approx(3) and np.isinf(found.covariance[1, 1])
    assert found.problems == ("'b' is not identifiable: it has no influence on the channels",)


def test_a_bound_that_is_met(sim):
    fit = bc.optimize.fit(sim, log(noisy(2)), {"k": (10, 45)}, fixed={"c": C}, initial=START)
    assert fit["k"] == pytest.approx(45, rel=1e-5) and any(
        "upper bound, 45 N/m" in n for n in fit.notes
    )
    assert any("successive errors" in n for n in fit.notes)


def test_channels_of_unlike_noise_count_by_it():
    """Two sensors of one slope: least squares weighted by the noise has the variance of the better
    one."""
    rng, t = np.random.default_rng(4), np.linspace(0, 1, 400)
    channel = np.repeat([0, 1], 400)
    y = np.concatenate([2 * t + rng.normal(0, 0.001, 400), 2 * t + rng.normal(0, 1.0, 400)])
    found = solve_least_squares(
        [FitUnknown("a", 1.0, -np.inf, np.inf, 1.0)],
        lambda p: p[:, :1] * np.tile(t, 2) - y,
        channel,
        np.ones(2),
        "ab",
    )
    assert np.sqrt(found.covariance[0, 0]) == pytest.approx(0.001 / np.sqrt(t @ t), rel=0.1)
    assert found.noise == pytest.approx([0.001, 1.0], rel=0.1)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"parameters": ["kk"]}, "'kk' is no parameter, state or sensor"),
        ({"parameters": []}, "at least one parameter"),
        ({"parameters": {"k": (5, 1)}}, "bounds of 'k'"),
        ({"parameters": ["k", "k"]}, "names one twice"),
        (
            {"parameters": ["speed.offset"]},
            "'speed.offset' is a property of channel 'speed', which is not fitted",
        ),
        ({"channels": "double"}, "no recording has the channel 'double'"),
        ({"channels": "x"}, "no channel 'x'"),
        ({"weights": {"double": 1}}, "positive number for each channel"),
        ({"start": {"m": 3}}, "start names 'm'"),
        ({"data": 3}, "must be a run, a path"),
        ({"step": -1}, "must be positive"),
        ({"start": {"k": 1e12}}, "start values fails"),
        (
            {"parameters": {"k": (1, 100)}, "start": {"k": 500}},
            "start of 'k', 500, lies outside its bounds, 1 to 100",
        ),
    ],
)
def test_wrong_arguments(sim, change, message):
    given = {"data": log(motion(TIME)), "parameters": ["k"], "initial": START} | change
    with pytest.raises(bc.BellcrankError, match=message):
        bc.optimize.fit(sim, given.pop("data"), given.pop("parameters"), **given)


def test_page_picture_and_json(sim, tmp_path):
    fit = bc.optimize.fit(sim, log(noisy(8)), ["k", "c"], initial=START)
    page = fit.page(tmp_path / "fit.html").read_text(encoding="utf-8")
    assert "95 % interval" in page and "Recording 1: log" in page and "before" in page
    fit.plot(tmp_path / "fit.svg")
    found = json.loads(json.dumps(fit.to_dict()))
    assert found["values"]["k"]["unit"] == "N/m" and np.shape(found["covariance"]) == (2, 2)
    assert "note" not in str(fit) and "k " in str(fit) and "RMS error" in str(fit)
