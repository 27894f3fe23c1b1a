"""The nine decks of Sayers (1990), chapter 9, run as they stand, and the Python models they are
translated to."""

import subprocess
import sys
import tomllib
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from deck_cases import EXAMPLES, INITIAL, NAMES, SET, file_of, from_deck, from_python, quiet

import bellcrank as bc
from bellcrank.formats.decks import read_deck_file, translate_to_python
from tests.models import rarely

REFERENCE = Path(__file__).parents[1] / "reference"
CHECKS = tomllib.loads((REFERENCE / "autosim_checks.toml").read_text(encoding="utf-8"))
CAR, SC1, SC2, ARM = (
    CHECKS[name] for name in ("passenger_car", "spacecraft_1", "spacecraft_2", "stanford_arm")
)
# rates of the speeds at the check states, from an independent evaluation of Kane's equations
PUBLISHED = {
    "cart": {
        "q": [1.0, 2.0, 0.3, 0.25, 0.1, 0.2, 0.3, 0.4],
        "u": [2.0, 0.3],
        "up": [1.745822448492184, 2.608045122103033],
    },
    "passenger_car": {**CAR["check"]},
    "passenger_car_small": {**CAR["check"], "up": CAR["check"]["up_small_version"]},
    "spacecraft_1": SC1["check"],
    "spacecraft_2": SC2["check"],
    "stanford_arm": {**ARM["check"], "up": ARM["check"]["up_uncontrolled"]},
    "stanford_arm_controlled": {**ARM["check"], "up": ARM["check"]["up_controlled"]},
}


def assert_close(got, expected, relative=1e-10):
    got, expected = np.asarray(got), np.asarray(expected)
    assert np.abs(got - expected).max() <= relative * np.abs(expected).max()


def states(name):
    """Two states of a model: one near the start of its run, one away from it."""
    eom, sim = from_python(name)
    rng = np.random.default_rng(NAMES.index(name))
    yield sim.assemble(INITIAL.get(name, {}))
    if name == "four_bar":
        yield sim.assemble({"q(a)": -0.3, "u(a)": 1.7})
    else:
        yield rng.uniform(-0.7, 0.7, len(eom.coordinates)), rng.uniform(-1, 1, len(eom.speeds))


@pytest.mark.parametrize(
    "name", rarely(NAMES, ("spacecraft_1", "spacecraft_1_small", "passenger_car_small"))
)
def test_deck_gives_the_states_counts_and_derivatives_of_the_python_example(name):
    (deck, deck_sim), (python, python_sim) = from_deck(name), from_python(name)
    assert [s.name for s in deck.coordinates] == [s.name for s in python.coordinates]
    assert [s.name for s in deck.speeds] == [s.name for s in python.speeds]
    assert deck.operation_count()["classic"] == python.operation_count()["classic"]
    for q, u in states(name):
        for t in (0.0, 0.7):
            expected = python_sim.derivatives(t, q, u, parameters=SET.get(name))
            for got, value in zip(
                deck_sim.derivatives(t, q, u, parameters=SET.get(name)), expected, strict=True
            ):
                assert_close(got, value)


@pytest.mark.parametrize("name", PUBLISHED)
def test_deck_gives_the_derivatives_of_the_source(name):
    check = PUBLISHED[name]
    sim = from_deck(name)[1]
    if name == "spacecraft_1":
        known = check["externals"]
        external = {
            "cmd": lambda t: (known["clkcmd"], known["camcmd"]),
            "thrust": lambda t, axis, err, memory: known["thrust"][int(axis) - 1],
        }
        sim = from_deck(name)[0].compile(backend="python", external=external)
    _, udot = sim.derivatives(0.0, check["q"], check["u"], parameters=check.get("parameters"))
    assert_close(udot, check["up"])


@pytest.mark.parametrize("name", rarely(NAMES, ["spacecraft_1", "spacecraft_1_small"]))
def test_run_of_the_deck_is_the_run_of_the_example(name):
    """The same --set and --initial, fifty steps of the midpoint rule (spacecraft 2 moves
    slowly)."""
    (deck, deck_sim), (_, python_sim) = from_deck(name), from_python(name)
    step = {"spacecraft_2": 1.0, "four_bar": 0.005}.get(name, 0.002)
    options = {"t_end": 50 * step, "step": step, "method": "rk2", "output_every": 5}
    options |= {"parameters": SET.get(name), "initial": INITIAL.get(name, {})}
    got, expected = deck_sim.simulate(**options), python_sim.simulate(**options)
    assert got.ended == expected.ended == "finished"
    for s in (*deck.coordinates, *deck.speeds):
        np.testing.assert_allclose(
            got[s.name], expected[s.name], rtol=1e-9, atol=1e-9 * np.abs(expected[s.name]).max()
        )
    same = [channel for channel in from_python(name)[0].outputs if channel in got.channels]
    for channel in same:
        np.testing.assert_allclose(got[channel], expected[channel], rtol=1e-8, atol=1e-9)


def test_outputs_of_the_car_deck_are_those_of_the_example():
    deck, python = from_deck("passenger_car")[0], from_python("passenger_car")[0]
    assert [o.lower() for o in deck.outputs] == [o.lower() for o in python.outputs]
    pairs = list(zip(deck.outputs, python.outputs, strict=True))
    assert [deck.quantities.output_unit[d] for d, _ in pairs] == [
        python.quantities.output_unit[p] for _, p in pairs
    ]
    assert [deck.quantities.generic[d] for d, _ in pairs] == [
        python.quantities.generic[p] for _, p in pairs
    ]


def test_car_deck_gives_the_step_steer_of_the_source():
    run = from_deck("passenger_car")[1].simulate()
    channels = ("Ay", "r", "alpha f", "alpha r", "FY1", "FY2", "MZ1", "MZ2", "ROLLM")
    for t, values in CAR["computed"]["full"].items():
        i = int(np.argmin(np.abs(run.time - float(t))))
        np.testing.assert_allclose([run[c][i] for c in channels], values, rtol=1e-5, atol=1e-9)


def test_four_bar_deck_gives_the_history_of_the_source():
    """Midpoint rule, h = 0.005, D = 100 from Q(1) = -0.5: strut force, X and Y of B*."""
    run = from_deck("four_bar")[1].simulate(
        parameters={"d": 100}, initial={"q(1)": -0.5}, output_every=1
    )
    # the source corrects the loop once per evaluation, so the figures agree to what it prints and
    # no further
    for t, values in {
        0.0: [2062.64, 0.426105, -0.0401155],
        1.0: [77.2374, 0.499896, 0.190559],
    }.items():
        i = int(np.argmin(np.abs(run.time - t)))
        np.testing.assert_allclose([run[c][i] for c in ("F", "B* X", "B* Y")], values, rtol=3e-3)


def test_states_are_called_as_in_the_source():
    """Section 9.4, the states of Spacecraft #1 (4550 ff.), and Table 9.1.4 for the car, in small
    letters."""
    label = from_deck("spacecraft_1")[0].quantities.state_label
    assert label["q(b, 4)"] == "Rotation of bpp relative to n about axis #1"
    assert label["q(d)"] == "Rotation of the camera relative to the clock about axis #1"
    assert label["q(f)"] == "Rotation of the boom relative to e about axis #1"
    assert label["u(b, 1)"] == "Abs. trans. speed of b* along axis 1"
    label = from_deck("passenger_car")[0].quantities.state_label
    assert (
        label["q(rb)"]
        == "Rotation of the rolling body relative to the non-rolling body about axis #1"
    )
    assert label["u(nrb, 2)"] == "Abs. trans. speed of nrb* along axis 2"


# ---- what is reported


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("passenger_car", ["'izznr' is set", "'nrbi33' has no value"]),
        ("passenger_car_small", ["'izznr' is set", "'nrbi33' has no value"]),
        ("spacecraft_1", ["'di32' is set"]),
        ("spacecraft_1_small", ["'di32' is set"]),
        ("spacecraft_2", ["STOPT", "STEP"]),
        ("stanford_arm", ["STEP"]),
        ("cart", []),
        ("four_bar", []),
    ],
)
def test_symbols_without_use_and_parameters_without_value_are_told(name, told):
    with pytest.warns(bc.ModelWarning) as caught:
        system = bc.System.read(file_of(name))
        if name.startswith("passenger"):
            system.equations(optimise="none")
        warnings.warn("so that there is one", bc.ModelWarning, stacklevel=1)
    messages = [str(w.message) for w in caught][:-1]
    assert len(messages) == len(told)
    assert all(any(words in m for m in messages) for words in told)


def test_place_of_an_unused_symbol_is_told():
    with pytest.warns(bc.ModelWarning) as caught:
        bc.System.read(file_of("passenger_car"))
    line = file_of("passenger_car").read_text(encoding="utf-8").splitlines()[80]
    assert f"line 81, column {line.index('izznr') + 1}: 'izznr'" in str(caught[0].message)


# ---- translation


@cache
def translation(name):
    deck, routines = read_deck_file(file_of(name))
    return translate_to_python(deck, file_of(name).name, routines)


def translated(name, folder):
    path = folder / f"{name}_model.py"
    path.write_text(translation(name), encoding="utf-8")
    return path


def described(d):
    """All that a description holds, functions by their names."""
    lists = [
        d.name,
        d.units,
        d.bodies,
        d.points,
        d.forces,
        d.constraints,
        d.loops,
        d.variables,
        d.outputs,
        d.output_groups,
    ]
    lists += [d.definitions, d.gravity, d.small, d.large, d.run, d.parameters]
    externals = [
        (e.name, e.arguments, e.returns, e.memory, e.when, e.python.__name__) for e in d.externals
    ]
    return [repr(x) for x in (*lists, externals)]


@pytest.mark.parametrize(
    "name", rarely(NAMES, ("spacecraft_1", "spacecraft_1_small", "spacecraft_2", "stanford_arm"))
)
def test_translation_makes_the_same_system(name, tmp_path):
    """The equations of the deck have been derived, so that parameters without value are 1 in
    both."""
    deck = from_deck(name)[0].analysis.mechanism.description
    assert described(bc.System.read(translated(name, tmp_path)).description) == described(deck)


@pytest.mark.parametrize(
    "name",
    [
        n
        if n in ("cart", "four_bar", "passenger_car", "stanford_arm")
        else pytest.param(n, marks=pytest.mark.campaign)
        for n in NAMES
    ],
)
def test_translation_gives_the_same_results_and_counts(name, tmp_path):
    python = bc.System.read(translated(name, tmp_path)).equations()
    deck, deck_sim = from_deck(name)
    assert python.operation_count() == deck.operation_count()
    sim = python.compile(backend="python")
    for q, u in states(name):
        for got, expected in zip(
            sim.derivatives(0.4, q, u), deck_sim.derivatives(0.4, q, u), strict=True
        ):
            assert np.array_equal(got, expected)


@pytest.mark.campaign
def test_translations_are_written_as_the_examples_are(tmp_path):
    """Formatted and without complaint of the linter; a formula stands whole in its text, however
    long."""
    for name in NAMES:
        translated(name, tmp_path)
    project = EXAMPLES.parent / "pyproject.toml"
    for words in (("format", "--check"), ("check", "--extend-ignore", "E501")):
        command = [
            sys.executable,
            "-m",
            "ruff",
            *words,
            "--no-cache",
            "--config",
            str(project),
            str(tmp_path),
        ]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stdout + result.stderr


def test_what_a_deck_lacks_is_told(tmp_path):
    path = tmp_path / "craft.lsp"
    path.write_text(file_of("spacecraft_1_small").read_text(encoding="utf-8"), encoding="utf-8")
    path.with_suffix(".py").write_text(
        "def cmd(t):\n    return t, t\n\n\ndef thrust(t, axis, err):\n    return 0.0\n"
    )
    eom = quiet(lambda: bc.System.read(path).equations())
    for language, files in (("c", "craft.c or craft.f90"), ("fortran", "craft.f90 or craft.c")):
        wanted = files.replace("craft", "DECK")
        with pytest.raises(
            bc.ModelError, match=f"function 'cmd', 'thrust' in .* of a deck, {wanted} next to it"
        ):
            eom.export(language, tmp_path / language)
