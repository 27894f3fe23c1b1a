"""Many runs at once: every run has the bits of `simulate`, whatever runs next to it; figures are
those of the histories."""

import warnings
from runpy import run_path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.cli.main import main
from bellcrank.core.metrics.frequency_weighting import apply_weighting
from bellcrank.simulation.backend.compiler import find_compiler
from tests.models import FOLDER, example, needs_compiler, rarely

STEP = 0.002
FIGURES = [
    {"percentile": "percentile(90)", "crossing": "crossing(0.5)"}.get(x, x)
    for x in bc.metrics.KINDS
]


def quarter_car(backend="auto"):
    return example("quarter_car").compile(backend=backend)


def same_as_alone(sim, many, settings, runs):
    """Every run of a batch against `simulate`, to the bit."""
    for i in runs:
        alone = sim.simulate(**settings(i))
        assert alone.time.tobytes() == many.time.tobytes()
        assert many.ended[i] == alone.ended
        for name in many:
            assert many[name][i].tobytes() == alone[name].tobytes(), (i, name)


@pytest.mark.parametrize(
    "name",
    rarely(
        [
            "quarter_car",
            "four_bar",
            "formula_student_corner",
            "passenger_car",
            "slider_crank",
            "cart",
            "motorcycle",
        ],
        ["formula_student_corner", "passenger_car", "motorcycle", "four_bar"],
    ),
)
def test_every_run_has_the_bits_of_simulate(name):
    """Trees, closed loops, tables, linkages, wheels: parameters that enter constants vary from run
    to run."""
    sim = example(name).compile()
    names = [x.name for x in sim.interface.parameters if x.default][:4]
    values = {
        x: np.array([1.0, 1.05, 0.97, 1.01, 1.0])
        * sim.interface.find_or_none(x, ("parameter",)).default
        for x in names
    }
    step = sim.interface.run.step or 1e-3
    span = {"t_end": 12.5 * step, "step": step}
    many = sim.simulate_many(parameters=values, output_every=2, backend="cores", **span)
    assert len(many) == 5
    same_as_alone(
        sim,
        many,
        lambda i: {"parameters": {k: v[i] for k, v in values.items()}, "output_every": 2, **span},
        range(5),
    )
    assert many[next(iter(many))][0].tobytes() == many[next(iter(many))][4].tobytes()


def test_closed_loops_that_pass_a_singular_position_have_the_bits_of_simulate():
    sim, speeds = example("change_point_four_bar").compile(), np.array([-3.0, -2.6, -3.3])
    span = {"t_end": 0.5, "step": 0.002}  # all links in line after a third of a second
    many = sim.simulate_many(initial={"u(a)": speeds}, output_every=25, backend="cores", **span)
    same_as_alone(
        sim, many, lambda i: {"initial": {"u(a)": speeds[i]}, "output_every": 25, **span}, range(3)
    )


def test_initial_values_and_inputs_of_every_run():
    sim, q = quarter_car(), np.array([0.01, -0.02, 0.03])
    signals = [
        bc.signals.step(at=0.0105 * i, height=0.02 * i) for i in range(3)
    ]  # jumps within steps, elsewhere in every run
    span = {"t_end": 0.1, "step": STEP}
    many = sim.simulate_many(initial={"q(body)": q}, inputs={"z_road": signals}, **span)
    assert ("inputs jump" if sim.backend == "c" else "the model is not compiled") in many.notes[0]
    alike = lambda i: {"initial": {"q(body)": q[i]}, "inputs": {"z_road": signals[i]}, **span}  # noqa: E731
    same_as_alone(sim, many, lambda i: alike(i) | {"output_every": 10}, range(3))
    tables = [((0, 0.05, 1), (0, 0.01 * i, 0)) for i in range(2)] + [
        np.array([(0, 0), (0.5, 0.1), (1, 0)])
    ]
    many = sim.simulate_many(inputs={"z_road": tables}, backend="cores", **span)
    same_as_alone(
        sim, many, lambda i: {"inputs": {"z_road": tables[i]}, "output_every": 10, **span}, range(3)
    )
    heights = np.array([0.0, 0.1, -0.1])
    many = sim.simulate_many(inputs={"z_road": heights}, output_every=1, backend="cores", **span)
    same_as_alone(
        sim, many, lambda i: {"inputs": {"z_road": heights[i]}, "output_every": 1, **span}, range(3)
    )


@needs_compiler
@pytest.mark.parametrize("backend", ["cores", "lanes"])
def test_the_neighbours_and_their_number_change_nothing(backend):
    sim, k = quarter_car(), np.linspace(1e4, 2e4, 301)
    settings = {"t_end": 0.1, "step": STEP, "channels": "az", "backend": backend}
    all_runs = sim.simulate_many(parameters={"k": k}, **settings)
    assert all_runs.settings["backend"] == backend
    backwards = sim.simulate_many(parameters={"k": k[::-1].copy()}, **settings)
    assert all_runs["az"].tobytes() == backwards["az"][::-1].tobytes()
    few = sim.simulate_many(parameters={"k": k[7:10]}, **settings)
    assert few["az"].tobytes() == all_runs["az"][7:10].tobytes()


def over_time(t, x):
    return np.trapezoid(x, t) / (t[-1] - t[0])


@pytest.mark.parametrize(
    "way", ["python", *(pytest.param(x, marks=needs_compiler) for x in ("lanes", "cores"))]
)
def test_figures_are_those_of_the_histories(way):
    """The last step is shorter than the others."""
    sim = quarter_car("python" if way == "python" else "c")
    values = {
        "parameters": {"k": np.linspace(1e4, 2e4, 4)},
        "t_end": 0.602,
        "step": 0.005,
        "output_every": 1,
    }
    many = sim.simulate_many(
        channels="az", metrics={"az": FIGURES}, backend="auto" if way == "python" else way, **values
    )
    assert many.settings["backend"] == way
    t, az = many.time, many["az"]
    expected = {
        "final": az[:, -1],
        "min": az.min(1),
        "max": az.max(1),
        "mean": over_time(t, az),
        "rms": np.sqrt(over_time(t, az**2)),
        "crossing(0.5)": [
            t[i] + (t[i + 1] - t[i]) * (0.5 - x[i]) / (x[i + 1] - x[i])
            for x in az
            for i in [int(np.argmax((x[:-1] < 0.5) != (x[1:] < 0.5)))]
        ],
    } | {
        w: [np.sqrt(over_time(t, apply_weighting(t, x, w) ** 2)) for x in az] for w in ("wk", "wd")
    }
    for word, x in expected.items():
        np.testing.assert_allclose(many.metrics["az"][word], x, rtol=1e-12, err_msg=word)
    span = az.max(1) - az.min(1)
    gap = np.diff(np.sort(az, axis=1), axis=1)[:, 105:112].max(axis=1)  # between neighbours there
    error = np.abs(many.metrics["az"]["percentile(90)"] - np.percentile(az, 90, axis=1))
    assert (error < 0.004 * span + gap).all()
    assert not sim.simulate_many(metrics={"az": "rms"}, **values).channels
    run = many.run(0)
    for name, kind in bc.metrics.KINDS.items():  # as of one run
        if name not in ("percentile", "crossing"):
            assert kind("az")(run) == pytest.approx(many.metrics["az"][name][0], rel=1e-11), name


def test_metrics_as_objects():
    sim, k = quarter_car("python"), np.linspace(1e4, 2e4, 3)
    values = {"parameters": {"k": k}, "t_end": 0.1, "step": 0.005}
    asked = [bc.metrics.rms("az"), bc.metrics.percentile("az", 90), bc.metrics.sd("u(body)")]
    many = sim.simulate_many(metrics=asked, **values)
    words = sim.simulate_many(
        metrics={"az": ["rms", "percentile(90)"], "u(body)": ["sd"]}, **values
    )
    assert not many.channels and many.metric_units == words.metric_units
    assert many.metric_units["u(body) sd"] == "m/s2"
    assert {name: x.tolist() for name, x in many.metric_values.items()} == {
        name: x.tolist() for name, x in words.metric_values.items()
    }
    kept = sim.simulate_many(
        metrics={"az": [bc.metrics.peak("az"), "max"]}, channels="az", **values
    )
    assert list(kept.channels) == ["az"] and list(kept.metrics["az"]) == ["peak", "max"]
    for wrong, message in (
        (bc.metrics.rms("az", start=0.05), "of several channels or of a part of the run"),
        (bc.metrics.airborne(["az", "u(body)"]), "of several channels or of a part of the run"),
        (bc.metrics.rms("azz"), "channel 'azz' is not known"),
        ({"az": bc.metrics.rms("u(body)")}, "is listed under the channel 'az'"),
    ):
        with pytest.raises(bc.ModelError, match=message):
            sim.simulate_many(metrics=wrong, **values)


@needs_compiler
def test_percentiles_of_numbers_that_spread_far():
    """A sine whose amplitude grows a millionfold while it is counted, upwards and downwards."""
    s = bc.System("line")
    s.add_body("b", translate=1, mass=1)
    s.add_input("x")
    s.add_output("y", "x")
    sim = s.equations().compile()
    for sign in (1.0, -1.0):
        signal = bc.signals.sampled(
            np.arange(1001) * 0.01, sign * np.logspace(-3, 3, 1001) * np.sin(np.arange(1001))
        )
        many = sim.simulate_many(
            n=1,
            inputs={"x": signal},
            t_end=10,
            step=0.01,
            channels="y",
            metrics={"y": ["percentile(99)", "percentile(1)"]},
        )
        for word, share in (("percentile(99)", 99), ("percentile(1)", 1)):
            wanted, spread = np.percentile(many["y"][0], share), np.ptp(many["y"][0])
            assert many.metrics["y"][word][0] == pytest.approx(wanted, abs=0.01 * spread)


@pytest.mark.parametrize("backend", ["cores", "lanes"])
def test_a_run_that_stops_leaves_the_others_alone(backend):
    sim = quarter_car()
    c = np.array([1000.0, -1e9, 1200.0])
    many = sim.simulate_many(
        parameters={"c": c},
        t_end=0.5,
        step=STEP,
        output_every=1,
        metrics={"az": "max"},
        channels="az",
        backend=backend,
    )
    assert (many.metrics["az"]["max"] == np.nanmax(many["az"], axis=1)).all()
    assert many.ended[0] == many.ended[2] == "finished"
    assert many.ended[1].startswith("stopped at t = ")
    assert "finite" in many.ended[1]
    assert np.isnan(many["az"][1, -1])
    assert np.isfinite(many["az"][[0, 2]]).all()
    assert many.ended[1].split(":")[0] == many.run(1).ended.split(":")[0]


def test_values_are_drawn_by_distributions_with_a_seed():
    sim = quarter_car()
    of = {"k": bc.random.uniform(1e4, 2e4), "c": bc.random.normal(1000, 10)}
    settings = {"n": 64, "t_end": 0.01, "step": STEP, "parameters": of, "metrics": {"az": "final"}}
    first, again, other = (
        sim.simulate_many(seed=s, sampling="sobol", **settings) for s in (1, 1, 2)
    )
    assert first.values["k"].tobytes() == again.values["k"].tobytes() != other.values["k"].tobytes()
    strata = np.floor((sim.simulate_many(**settings).values["k"] - 1e4) / 1e4 * 64)
    assert sorted(strata) == list(range(64))
    alone = sim.simulate(
        t_end=0.01, step=STEP, parameters={k: v[5] for k, v in first.values.items()}
    )
    assert first.metrics["az"]["final"][5] == pytest.approx(alone["az"][-1], rel=1e-12)


def test_what_compiled_code_cannot_drive_runs_one_by_one():
    sim, k = quarter_car(), np.array([1e4, 2e4])
    for settings in ({"method": "RK45"}, {"inputs": {"z_road": lambda t: 0.1 * t}}):
        many = sim.simulate_many(
            parameters={"k": k}, t_end=0.1, step=STEP, output_every=1, **settings
        )
        assert "one by one" in many.notes[0]

        def one(i, settings=settings):
            shared = {"t_end": 0.1, "step": STEP, "output_every": 1}
            return {"parameters": {"k": k[i]}, **shared, **settings}

        same_as_alone(sim, many, one, range(2))


@needs_compiler
@pytest.mark.parametrize(
    "which",
    rarely(
        [
            "quarter_car tsit5",
            "quarter_car auto",
            "four_bar tsit5",
            "motorcycle radau5",
            "quarter_car rodas5p",
        ],
        ["four_bar tsit5", "motorcycle radau5", "quarter_car rodas5p"],
    ),
)
def test_methods_that_choose_their_steps(which):
    """Tolerances of every run are its own; inputs jump; a run that becomes stiff is left to
    Python."""
    name, method = which.split()
    sim = example(name).compile()
    names = [x.name for x in sim.interface.parameters if x.default][:3]
    scale = np.array([1.0, 300.0, 0.97]) if method == "auto" else np.array([1.0, 1.05, 0.97])
    values = {x: scale * sim.interface.find_or_none(x, ("parameter",)).default for x in names}
    step = sim.interface.run.step or 1e-3
    shared = {"t_end": 60.5 * step, "step": step, "method": method, "rtol": 1e-6, "atol": 1e-9}
    if name == "quarter_car":
        shared |= {"inputs": {"z_road": bc.signals.step(at=0.0131, height=0.05)}}
    many = sim.simulate_many(parameters=values, output_every=2, **shared)
    assert many.settings["backend"] == "cores"
    assert bool(many.notes) == (method == "auto")
    side_by_side = sim.simulate_many(n=1, backend="lanes", **shared)
    assert f"not vectorised: the method {method} adapts its steps" in side_by_side.notes[0]

    def one(i):
        return {"parameters": {k: v[i] for k, v in values.items()}, "output_every": 2, **shared}

    same_as_alone(sim, many, one, range(3))


@needs_compiler
@pytest.mark.campaign
def test_events_stop_runs_and_act_in_them():
    """One that stops leaves the others alone; an event with an action adds rows, but none to the
    histories of many runs."""
    sim, k = quarter_car(), np.linspace(1e4, 2e4, 4)
    shared = {
        "t_end": 1.0,
        "step": STEP,
        "inputs": {"z_road": bc.signals.step(at=0.1, height=0.05)},
    }
    events = [
        bc.event("q(body) - 0.02*k/1e4", name="up"),
        bc.event("t - 0.2005", action={"u(body)": 0}, name="halt"),
    ]
    many = sim.simulate_many(
        parameters={"k": k},
        output_every=5,
        channels="az",
        metrics={"az": "max"},
        events=events,
        stop="up",
        **shared,
    )
    assert (many.settings["backend"], many.notes) == ("lanes", [])
    exact = sim.simulate_many(
        parameters={"k": k},
        output_every=5,
        channels="az",
        metrics={"az": "max"},
        events=events,
        stop="up",
        backend="cores",
        **shared,
    )
    assert "events are looked for" in exact.notes[0]
    np.testing.assert_allclose(many["az"], exact["az"], rtol=0, atol=1e-11)
    np.testing.assert_allclose(
        many.metrics["az"]["max"], exact.metrics["az"]["max"], rtol=0, atol=1e-11
    )
    assert many.ended == exact.ended
    stopped = [e.startswith("stopped by event 'up'") for e in many.ended]
    assert any(stopped) and not all(stopped)
    for i in range(4):
        alone = sim.simulate(
            parameters={"k": k[i]}, output_every=5, events=events, stop="up", **shared
        )
        assert many.ended[i] == alone.ended
        assert exact.metrics["az"]["max"][i] == alone["az"].max()
        inside = many.time <= alone.time[-1]
        last = {t: x for t, x in zip(alone.time, alone["az"], strict=True)}
        assert [last[t] for t in many.time[inside]] == exact["az"][i][inside].tolist()
        assert np.isnan(many["az"][i][~inside]).all()


def test_progress_is_told_and_ends_the_runs_where_it_raises():
    sim, told = quarter_car(), []
    sim.simulate_many(200, t_end=0.1, step=STEP, metrics={"az": "rms"}, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0

    def enough(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sim.simulate_many(
            10**6, t_end=10, step=1e-4, output_every=1000, metrics={"az": "rms"}, progress=enough
        )


def test_tables_and_datasets():
    sim = quarter_car()
    many = sim.simulate_many(
        3,
        parameters={"k": [1e4, 1.5e4, 2e4]},
        t_end=0.02,
        step=STEP,
        channels="az",
        output_every=1,
        metrics={"az": ["rms", "crossing(0)"]},
    )
    frame = many.to_pandas()
    assert list(frame.columns) == ["k", "az rms", "az crossing(0)", "ended"]
    assert frame.attrs["units"]["az crossing(0)"] == "s"
    data = many.to_xarray()
    assert data["az"].dims == ("run", "t")
    assert data["k"].dims == ("run",)
    assert (data["az"].values == many["az"]).all()


def test_pictures(tmp_path):
    many = quarter_car().simulate_many(
        5, parameters={"k": bc.random.uniform(1e4, 2e4)}, t_end=0.1, step=STEP, channels=["az"]
    )
    for style in ("bands", "runs"):
        many.plot("az", style=style, path=tmp_path / f"{style}.png")
        assert (tmp_path / f"{style}.png").stat().st_size > 5000


NOT_POSSIBLE = [
    ({}, "n is required"),
    ({"parameters": {"k": bc.random.uniform(1, 2)}}, "n is required"),
    ({"n": 3, "parameters": {"k": [1.0, 2.0]}}, "parameters={'k': ...} has 2 values for 3 runs"),
    ({"n": 2, "parameters": {"kk": [1.0, 2.0]}}, "no such parameter. Did you mean"),
    ({"n": 2, "initial": {"q(bod)": [1.0, 2.0]}}, "no such coordinate or speed"),
    ({"n": 2, "inputs": {"road": [1.0, 2.0]}}, "no such input"),
    ({"n": 2, "parameters": {"k": [1.0, np.nan]}}, "is nan in run 1"),
    ({"n": 2, "parameters": {"m_b": [1.0, -3.0]}}, "run 1: the mass of body 'body' is negative"),
    ({"n": 0}, "n=0 must be a whole number"),
    ({"n": 2, "channels": ["azz"]}, "channels= channel 'azz' is not known. Did you mean 'az'"),
    ({"n": 2, "metrics": {"az": ["rsm"]}}, "'rsm' of 'az' is not known. Did you mean 'rms'"),
    ({"n": 2, "metrics": {"az": "percentile(101)"}}, "between 0 and 100"),
    (
        {"n": 2, "metrics": {"az": "percentile"}},
        "'percentile' of 'az': the percent is missing, as in percentile(95)",
    ),
    ({"n": 2, "metrics": {"az": "crossing(nan)"}}, "nan is not a finite number"),
    ({"n": 2, "parameters": {"k": [1j, 2.0]}}, "an array of numbers, one for each run"),
    ({"n": 2, "parameters": {"k": [1e4, 2e4], "K": 1e4}}, "parameters: 'k' and 'K' are the same"),
    ({"n": 2, "progress": True}, "progress=True must be a function of the share done"),
    ({"n": 2, "stop": 5}, "stop=5 must be the name of an event"),
    ({"n": 2, "stop": "nope"}, "no event has that name"),
    ({"n": 2, "events": {"up": "zz - 1"}}, "no channel or parameter is called 'zz'"),
    ({"n": 2, "method": "tsit5", "rtol": -1}, "rtol=-1 must be positive"),
    ({"n": 2, "backend": "gpu"}, "backend='gpu' is not known"),
    ({"n": 2, "sampling": "grid"}, "sampling='grid' is not known"),
    ({"n": 2, "precision": "half"}, "precision='half' is not known"),
    ({"n": 2, "output_every": 0}, "1. output_every=0 must be a whole number of at least 1"),
    ({"parameters": {"k": []}}, "parameters={'k': ...} has no values"),
    (
        {"n": 10**13, "parameters": {"k": bc.random.uniform(1, 2)}, "metrics": {"az": "rms"}},
        "with 1 value drawn for each need",
    ),
    ({"n": 2, "stop": ""}, "no event has that name"),
    (
        {"inputs": {"z_road": [bc.signals.sine(1.0), "x"]}},
        "run 1: input 'z_road' is 'x'; give a number",
    ),
    (
        {"inputs": {"z_road": [((0, 9), (0, 1)), ((0, 1), (1, 0))]}},
        "run 1: input 'z_road' covers t = 0 to 1 s, but",
    ),
    (
        {"n": 2, "inputs": {"z_road": np.zeros((3, 10))}},
        "input 'z_road' is an array of shape (3, 10); give a number",
    ),
]


TOO_MUCH = [  # bytes of the machine for each run, what is kept of it, and what would help
    (
        64,
        {},
        "keep fewer channels (channels=), keep fewer rows (output_every=), keep metrics of "
        "each run alone (metrics=), or do",
    ),
    (
        64,
        {"channels": "az"},
        "keep fewer rows (output_every=), keep metrics of each run alone (metrics=), or do "
        "fewer runs",
    ),
    (
        64,
        {"channels": "az", "metrics": {"az": "rms"}},
        "keep fewer rows (output_every=), keep the metrics alone (no channels=), or do",
    ),
    (
        40,
        {"channels": "az", "step": 1},
        "keep metrics of each run alone (metrics=), or do fewer runs",
    ),
    (32, {"metrics": {"az": "rms"}}, "1000 runs with 1 metric each need"),
    (
        40,
        {"metrics": {"az": ["rms", "min", "max", "mean"]}},
        ": ask for fewer metrics (metrics=), or do fewer runs",
    ),
    (8, {}, "0 MiB are available: do fewer runs"),
    (8, {"metrics": {"az": ["rms", "min"]}}, "0 MiB are available: do fewer runs"),
]


@pytest.mark.parametrize(("room", "given", "said"), TOO_MUCH)
def test_what_helps_where_results_cannot_be_held(monkeypatch, room, given, said):
    """Four states and one figure take 40 bytes."""
    monkeypatch.setattr(
        "bellcrank.simulation.run.memory_limits.available_memory", lambda: 1000.0 * room
    )
    monkeypatch.setattr("bellcrank.simulation.run.memory_limits.SMALL", 0)
    with pytest.raises(bc.RunError) as told:
        quarter_car().simulate_many(1000, **{"t_end": 1, "step": 0.001, **given})
    assert said in str(told.value)
    assert str(told.value).endswith("do fewer runs")


@pytest.mark.parametrize(("given", "said"), NOT_POSSIBLE)
def test_what_cannot_be_is_said(given, said):
    if said.startswith("run ") and find_compiler() is None:
        pytest.skip(
            "without a C compiler runs begin one by one, and one that cannot leaves the "
            "others alone"
        )
    with pytest.raises(bc.BellcrankError) as told:
        quarter_car().simulate_many(**given)
    assert said in " ".join(str(told.value).split())


def test_a_step_that_is_too_large_is_told_of_the_run_that_stands_out():
    """Errors of one run grow: it comes to its end, and its figures are nothing but errors."""
    damping, given = (
        [1000.0, 1000.0, 1.2e5, 1000.0],
        {"t_end": 0.06, "step": 0.002, "metrics": {"az": ["rms", "crossing(9e9)"]}},
    )
    with pytest.warns(
        bc.ModelWarning, match="run 2: the step of 0.002 s is too large for rk4: at t = 0 s"
    ) as told:
        many = quarter_car().simulate_many(parameters={"c": damping}, **given)
    assert many.ended == ["finished"] * 4
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quarter_car().simulate_many(parameters={"c": damping[:2]}, **given)


def test_none_stops_no_run():
    sim, shared = quarter_car("wasm"), {"t_end": 0.01, "step": STEP, "events": {"up": "t > 0.005"}}
    assert (
        sim.simulate_many(2, metrics={"az": "rms"}, stop=None, **shared).ended == ["finished"] * 2
    )
    run = sim.simulate(stop=None, **shared)
    assert run.ended == "finished"
    assert len(run.events) == 1


def test_distributions_that_cannot_be():
    for wrong in (
        lambda: bc.random.uniform(2, 1),
        lambda: bc.random.normal(0, -1),
        lambda: bc.random.log_uniform(0, 1),
    ):
        with pytest.raises(bc.ModelError, match="must be"):
            wrong()
    with pytest.raises(bc.ModelError, match="both are finite numbers"):
        bc.random.uniform(1, np.inf)
    assert (
        bc.random.uniform(*np.array([1, 2]))
        == bc.random.uniform(*np.array([1, 2], dtype=np.float32))
        == bc.random.uniform(1, 2)
    )


def test_the_command(tmp_path, capsys):
    table = tmp_path / "table.csv"
    words = [
        "many",
        str(FOLDER / "quarter_car.py"),
        "--n",
        "20",
        "--vary",
        "k=uniform(1e4,2e4)",
        "--vary",
        "q(body)=normal(0,.01)",
    ]
    words += ["--t-end", "0.05", "--channels", "az", "--metrics", "rms", "--out", str(table)]
    assert main([*words, "--plot", str(tmp_path / "bands.png")]) == 0
    assert "az rms" in capsys.readouterr().out
    lines = table.read_text().splitlines()
    assert lines[0] == "run,k,q(body),az rms,ended"
    assert len(lines) == 22
    assert main(["many", words[1], "--n", "2", "--vary", "kk=uniform(1,2)"]) == 1
    assert "'kk' is not known" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["many", words[1], "--n", "2", "--vary", "k=unform(1,2)"])
    assert "is not a distribution" in capsys.readouterr().err
    assert (
        main(
            [
                "many",
                words[1],
                "--n",
                "2",
                "--channels",
                "nope",
                "--channels",
                "az",
                "--channels",
                "az",
            ]
        )
        == 1
    )
    assert (
        "--channels channel 'nope' is not known. coordinates: q(wheel), q(body);"
        in capsys.readouterr().err
    )
    with pytest.raises(SystemExit):
        main(["many", words[1], "--n", "2", "--metrics", "maxx"])
    assert "argument --metrics: 'maxx' is not known. Did you mean 'max'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--out", "{}/table.csv/t.csv"], "t.csv: the folder {}/table.csv cannot be made"),
        (["--out", "{}/folder.csv"], "folder.csv: it is a folder"),
        (["--plot", "{}/bands.foo"], "bands.foo: a picture ends in "),
    ],
)
def test_what_cannot_be_written_is_told_before_the_runs(tmp_path, capsys, words, said):
    (tmp_path / "table.csv").write_text("")
    (tmp_path / "folder.csv").mkdir()
    assert main(["many", "no_such_model.py", "--n", "2", *(x.format(tmp_path) for x in words)]) == 1
    assert said.format(tmp_path) in capsys.readouterr().err


@pytest.mark.campaign
def test_the_example_of_many_cars(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    many = run_path(str(FOLDER / "many_passenger_cars.py"))["main"](200)
    assert len(many.values) == 10
    assert set(many.ended) == {"finished"}
    assert (tmp_path / "many_passenger_cars.png").stat().st_size > 5000


@needs_compiler
def test_closed_loops_begin_as_in_simulate():
    """To the bit, with parameters and initial values of their own."""
    sim = example("four_bar").compile()
    given = {
        "parameters": {"l1": np.array([1.0, 1.01])},
        "initial": {"q(a)": np.array([-0.5, -0.45])},
    }
    usual = sim.interface.find_or_none("l1", ("parameter",)).default
    given["parameters"]["l1"] *= usual
    many = sim.simulate_many(t_end=0.01, step=0.001, **given)
    for i in range(2):
        one = sim.simulate(
            0.01,
            step=0.001,
            **{k: {n: float(x[i]) for n, x in v.items()} for k, v in given.items()},
        )
        assert all(many[x][i, 0] == one[x][0] for x in ("q(a)", "q(b)", "q(c)", "u(c)"))


@needs_compiler
@pytest.mark.parametrize("way", rarely(["cores", "lanes", "python", "tsit5"], ["lanes", "tsit5"]))
def test_a_run_that_cannot_begin_leaves_the_others_alone(way):
    """Loops that cannot be closed, constants that have no value, also in the first run; if no run
    can begin, that is an error."""
    loop = example("change_point_four_bar").compile(backend="python" if way == "python" else "auto")
    tree = example("quarter_car").compile(backend="python" if way == "python" else "auto")
    how = {
        "t_end": 0.002,
        "step": 0.001,
        "output_every": 1,
        "method": way if way == "tsit5" else None,
    }
    how |= {"backend": way if way in ("cores", "lanes") else "auto"}
    for sim, name, impossible, said in (
        (loop, "l1", 50.0, "cannot be assembled"),
        (tree, "m_b", 0.0, "cannot be computed"),
    ):
        usual = sim.interface.find_or_none(name, ("parameter",)).default
        for runs in ([impossible, usual, usual], [usual, impossible, usual]):
            many = sim.simulate_many(
                parameters={name: runs}, metrics={"q(a)" if sim is loop else "az": "max"}, **how
            )
            figure = next(iter(many.metric_values.values()))
            bad = runs.index(impossible)
            assert said in many.ended[bad] and np.isnan(figure[bad])
            assert [x for i, x in enumerate(many.ended) if i != bad] == ["finished"] * 2
            alone = sim.simulate_many(
                parameters={name: [usual]}, metrics={"q(a)" if sim is loop else "az": "max"}, **how
            )
            assert (
                np.delete(figure, bad).tolist() == [next(iter(alone.metric_values.values()))[0]] * 2
            )
        with pytest.raises(bc.ModelError, match=said):
            sim.simulate_many(parameters={name: [impossible] * 2}, **how)
    with pytest.raises(bc.ModelError, match="no such parameter"):
        tree.simulate_many(n=2, parameters={"m_bb": 1.0}, **how)
    with pytest.raises(bc.RunError, match=r"there is no run 0\.5"):
        many.run(0.5)
