"""Tolerances as a user gives them: by unit, by state, in user units, carried over; and how far they
grow."""

import json
import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.cli.main import main
from tests.models import FOLDER, WASM, Sims, needs_compiler, rarely
from tests.programs import COMPILED, build

BACKENDS = ("c", WASM)
METHODS = ("tsit5", "radau5", "DOP853")
pytestmark = needs_compiler


def sledge(units="mks", **values):
    """A carriage on a bumpy way, and a rotor on it that is pulled to whole turns."""
    s = bc.System("sledge", units=units)
    carriage = s.add_body("carriage", translate=1, mass="m")
    rotor = s.add_body("rotor", parent=carriage, rotate=3, mass=1, inertia=(1, 1, 1))
    s.add_force("bumps", magnitude="-k*sin(q(carriage)/l)", direction=s.inertial[1], at=carriage.cm)
    s.add_moment("detent", magnitude="-d*sin(q(rotor))", direction=rotor[3], on=rotor)
    s.set_defaults(**{"m": 1.0, "k": 3.0, "d": 4.0, "l": 0.5, **values})
    s.set_run(
        t_end=4.0, step=0.05, initial={"q(carriage)": 0.2, "q(rotor)": 1.0, "u(carriage)": 1.0}
    )
    return s


@pytest.fixture(scope="module")
def sims():
    return Sims(sledge().equations())


def table(run):
    return np.array([run[name] for name in run])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", rarely(METHODS, ("DOP853",)))
def test_by_unit_by_state_and_by_number(sims, backend, method):
    sim = sims[backend]
    loose = {"m": 1e-3, "q(rotor)": 1e-3, "m/s": 1e-3, "rad/s": 1e-3}
    several = {"mm": 1.0, "deg": 1e-3, "rad/s": 1e-5}
    runs = [sim.simulate(method=method, rtol=1e-7, atol=a) for a in (1e-3, loose, several, None)]
    number, same, some, usual = runs
    assert np.array_equal(table(number), table(same))
    assert number.settings["steps"] <= some.settings["steps"] < usual.settings["steps"]
    assert some.settings["atol"] == several and usual.settings["atol"] == pytest.approx(1e-9)
    of_states = {"q(carriage)": 1e-3, "q(rotor)": 1e-3 * math.pi / 180, "u(rotor)": 1e-5}
    again = sim.simulate(method=method, rtol=1e-7, atol=of_states)
    np.testing.assert_allclose(table(again), table(some), rtol=1e-9, atol=1e-12)


def test_values_are_in_user_units():
    """The same machine in feet and degrees takes the same steps."""
    foot = 0.3048
    mks = sledge(k=3.0 * foot, l=0.5 * foot).equations().compile()
    feet = sledge("ft-lb", m=1.0, k=3.0, l=0.5).equations().compile()
    start = {"q(carriage)": 0.2, "q(rotor)": 1.0, "u(carriage)": 1.0}
    there = {**start, "q(rotor)": math.degrees(1.0)}
    here = {k: v * (1.0 if "rotor" in k else foot) for k, v in start.items()}
    atol = {"ft": 1e-5, "deg": 1e-4, "ft/s": 1e-6, "deg/s": 1e-3}
    run = feet.simulate(method="tsit5", rtol=1e-6, atol=atol, initial=there)
    same = mks.simulate(method="tsit5", rtol=1e-6, atol=atol, initial=here)
    assert run.settings["steps"] == same.settings["steps"]
    np.testing.assert_allclose(run["q(carriage)"] * foot, same["q(carriage)"], atol=1e-12)
    usual, equal = (s.simulate(method="tsit5", initial=i) for s, i in ((feet, there), (mks, here)))
    assert usual.settings["steps"] == equal.settings["steps"]  # of 1 m, not of 1 ft


def test_a_run_that_goes_on_keeps_them(sims):
    sim = sims["c"]
    first = sim.simulate(t_end=2.0, method="tsit5", rtol=1e-5, atol={"m": 1e-4})
    onward = sim.simulate(t_end=4.0, start=first)
    assert (onward.settings["rtol"], onward.settings["atol"]) == (1e-5, {"m": 1e-4})
    assert onward.settings["steps"] == pytest.approx(first.settings["steps"], rel=0.3)
    finer = sim.simulate(t_end=4.0, start=first, rtol=1e-9)
    assert (finer.settings["rtol"], finer.settings["atol"]) == (1e-9, {"m": 1e-4})
    assert finer.settings["steps"] > 2 * onward.settings["steps"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"rtol": 1e-14}, "rtol=1e-14 is below 1e-13, which double precision cannot keep"),
        (
            {"rtol": 2},
            "rtol=2 allows an error as large as the state itself; 1e-3 is coarse, 1e-08 usual",
        ),
        ({"rtol": math.nan}, "rtol is nan, not a finite number"),
        ({"rtol": -1e-3}, "rtol=-0.001 must be positive"),
        ({"atol": -1e-3}, "atol is -0.001; it must not be negative"),
        (
            {"atol": [1e-9, 1e-9]},
            r"atol=\[1e-09, 1e-09\] must be a number, or numbers by unit or state: "
            r"atol={'q\(carriage\)': 1e-9",
        ),
        ({"atol": {"m": math.nan}}, "atol of m is nan, not a finite number"),
        ({"atol": {"m": "small"}}, "atol of m is 'small', not a number"),
        (
            {"atol": {"metr": 1}},
            r"atol={'metr': ...} is neither a unit nor a state.*Units of the states: m, rad, m/s",
        ),
        ({"atol": {"q(roter)": 1}}, r"neither a unit nor a state\. Did you mean 'q\(rotor\)'"),
        ({"atol": {"N": 1}}, r"atol={'N': ...}: no state has such a unit"),
        ({"atol": {"m": 1, "mm": 1}}, "atol is given for 'm' and for 'mm', which are one kind"),
        ({"atol": 0}, r"atol is 0 for u\(rotor\), which begins at zero"),
    ],
)
def test_what_is_refused(sims, given, told):
    with pytest.raises(bc.ModelError, match=told):
        sims["c"].simulate(method="tsit5", **given)


@pytest.mark.parametrize("method", ["RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA"])
def test_what_scipy_cannot_keep_is_refused(sims, method):
    """Its methods would continue with another tolerance than the one that the result reports."""
    with pytest.raises(
        bc.ModelError,
        match=f"rtol=1e-20 is below 2.22e-14, the least that SciPy's {method} can keep",
    ):
        sims["python"].simulate(method=method, rtol=1e-20)
    assert (
        sims["python"]
        .simulate(method=method, rtol=2.23e-14, t_end=1e-3, step=1e-3)
        .settings["rtol"]
        == 2.23e-14
    )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"rtol": -1}, "positive"),
        ({"atol": -1}, "negative"),
        ({"atol": [1]}, "number"),
        ({"atol": {"N": 1}}, "unit"),
    ],
)
def test_wrong_tolerances_are_refused_where_steps_are_fixed(sims, given, told):
    """And not reported as unused besides: warnings are errors here."""
    with pytest.raises(bc.ModelError, match=told):
        sims["python"].simulate(method="rk4", **given)


def test_no_error_allowed_where_a_state_passes_zero(sims):
    start = {"u(rotor)": 0.1, "u(carriage)": 3.0}
    with pytest.warns(
        bc.ModelWarning, match=r"^q\(rotor\) passes zero before t = [\d.]+ s: atol is 0 there"
    ) as told:
        sims["c"].simulate(
            method="tsit5",
            atol={"q(rotor)": 0, "q(carriage)": 0},
            initial={**start, "q(rotor)": 1.0},
        )
    assert len(told) == 1  # the carriage does not


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", ["tsit5", "radau5"])
def test_turns_do_not_loosen_the_tolerance(sims, backend, method):
    """A rotor that has turned a thousand times before is as exact as one that has turned twice."""
    few, many = 4 * math.pi, 2000 * math.pi
    start = {"q(rotor)": 1.0, "q(carriage)": 0.2}
    options = {"method": method, "rtol": 1e-5, "atol": {"rad/s": 1.0, "m": 1.0, "m/s": 1.0}}
    runs = [
        sims[backend].simulate(initial={**start, "q(rotor)": 1.0 + x}, **options)
        for x in (few, many)
    ]
    steps = [r.settings["steps"] for r in runs]
    assert steps[0] == steps[1]
    np.testing.assert_allclose(runs[1]["q(rotor)"] - many, runs[0]["q(rotor)"] - few, atol=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_long_way_does_not_loosen_the_tolerance(sims, backend):
    """The last part of a way of 400 m costs what the first one does; the largest length of the
    model is 0.5 m."""
    sim, start = sims[backend], {"q(carriage)": 0.0, "q(rotor)": 0.0, "u(carriage)": 100.0}
    options = {"method": "tsit5", "rtol": 1e-6, "step": 0.5, "atol": {"m/s": 1.0}}
    first = sim.simulate(t_end=0.5, initial=start, **options)
    rest = sim.simulate(t_end=4.0, start=first, **options)
    last = sim.simulate(t_end=4.5, start=rest, **options)
    assert last.settings["steps"] == pytest.approx(first.settings["steps"], rel=0.25)


@pytest.mark.parametrize("backend", BACKENDS)
def test_tolerances_below_rounding_of_a_long_way_do_not_stop_a_run(sims, backend):
    start = {"q(carriage)": 0.0, "u(carriage)": 1e7, "q(rotor)": 0.0}
    flat = {"k": 0.0}
    run = sims[backend].simulate(method="dop853", rtol=1e-13, initial=start, parameters=flat)
    assert run.ended == "finished" and run["q(carriage)"][-1] == pytest.approx(4e7, rel=1e-13)


def test_command_line(capsys):
    model = str(FOLDER / "double_pendulum.py")
    words = ["run", model, "--method", "tsit5", "--t-end", "1", "--json", "--rtol", "1e-6"]

    def steps(*more):
        assert main([*words, *more]) == 0
        return json.loads(capsys.readouterr().out)["steps"]

    fine = steps("--atol", "1e-10")
    assert steps("--atol", "rad=1e-10", "--atol", "rad/s=1e-10") == fine
    assert steps("--atol", "rad=1e-3", "--atol", "rad/s=1e-3") < fine
    assert main([*words, "--atol", "1e-3", "--atol", "rad=1"]) == 1
    assert "a number for all states, or NAME=VALUE" in capsys.readouterr().err
    assert main([*words, "--atol", "raad=1"]) == 1
    assert "neither a unit nor a state. Did you mean 'rad'" in capsys.readouterr().err


def test_studies_take_them():
    from bellcrank.study.study_file import read_definition

    definition, problems = read_definition(
        {"model": {"vehicle": "car"}, "run": {"atol": {"m": 1e-6}, "rtol": 1e-5}}
    )
    assert definition.run == {"atol": {"m": 1e-6}, "rtol": 1e-5} and not any(
        "atol" in p for p in problems
    )


@pytest.mark.parametrize("language", [COMPILED[0]])
def test_programs_take_them(language, sims, tmp_path):
    equations = sledge().equations()
    program = build(equations, language, tmp_path / "written")
    lines = ("METHOD tsit5", "STOPT 4", "STEP 0.05", "RTOL 1e-7", "Q(2) 1001", "U(1) 30")
    start = {"q(carriage)": 0.2, "q(rotor)": 1001.0, "u(carriage)": 30.0}
    cases = {
        "": None,
        "ATOL 1e-3": 1e-3,
        "ATOL(m) 1e-3": {"m": 1e-3},
        "ATOL(Q(2)) 1e-4": {"q(rotor)": 1e-4},
    }
    for i, (line, atol) in enumerate(cases.items()):
        found = program.run(tmp_path / str(i), *lines, line)
        run = sims[language].simulate(method="tsit5", rtol=1e-7, atol=atol, initial=start)
        for name in ("q(carriage)", "q(rotor)"):
            np.testing.assert_allclose(found[name], run[name], rtol=1e-9)
        echo = tmp_path / str(i) / "out.echo"
        told = program(echo, "--output", tmp_path / "again.erd", "--echo", tmp_path / "x")
        assert f"{run.settings['steps']} steps" in told
        again = sims[language].simulate(**bc.settings_of(equations, echo))
        assert again.settings["steps"] == run.settings["steps"]
    (tmp_path / "wrong.par").write_text(
        f"PARSFILE\nPARSFILE {program.default}\nATOL(N) 1e-3\nEND\n"
    )
    told = program(tmp_path / "wrong.par", code=1)
    assert "no state is called 'n', and none has such a unit" in told.replace("'N'", "'n'")


def test_echoes_repeat_a_run_with_its_tolerances(capsys, tmp_path):
    """Of the command and of a written program: either is read by both."""
    model = str(FOLDER / "double_pendulum.py")
    words = ["run", model, "--t-end", "1", "--json"]
    given = ["--method", "tsit5", "--rtol", "1e-6", "--atol", "mrad=1e-3", "--atol", "u(b)=1e-3"]

    def steps(*more):
        assert main([*words, *more]) == 0
        return json.loads(capsys.readouterr().out)["steps"]

    echo = str(tmp_path / "run.par")
    found = steps(*given, "--echo", echo)
    assert steps("--pars", echo) == found != steps("--method", "tsit5", "--rtol", "1e-6")
    mixed = tmp_path / "mixed.par"
    mixed.write_text(
        "PARSFILE\nMETHOD tsit5\nRTOL 1e-6\nATOL 1e-3\nATOL(rad/s) 1e-9\nATOL(Q(A)) 1e-9\nEND\n"
    )
    atol = ["--atol", "rad=1e-3", "--atol", "rad/s=1e-9", "--atol", "q(a)=1e-9"]
    assert steps("--pars", str(mixed)) == steps("--method", "tsit5", "--rtol", "1e-6", *atol)
    mixed.write_text("PARSFILE\nMETHOD tsit5\nATOL(N) 1e-3\nRTOL x\nEND\n")
    assert main([*words, "--pars", str(mixed)]) == 1
    told = capsys.readouterr().err
    assert (
        "no state is called 'n', and none has such a unit" in told
        and "rtol needs a positive number" in told
    )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"rtol": 1e-5}, r"^rtol=1e-05 is not used: the steps of rk4 have a fixed length"),
        ({"rtol": 1e-5, "atol": {"m": 1e-4}}, r"^rtol=1e-05 and atol=\{'m': 0.0001\} are not used"),
    ],
)
def test_steps_of_fixed_length_use_none(sims, given, told):
    short = {"t_end": 0.1, "step": 0.05, "method": "rk4"}
    with pytest.warns(bc.ModelWarning, match=told) as one:
        sims["c"].simulate(**short, **given)
    with pytest.warns(bc.ModelWarning, match=told) as many:
        sims["python"].simulate_many(2, **short, **given)
    assert (len(one), len(many)) == (1, 1)


def test_an_absolute_tolerance_above_a_state_names_that_state(sims):
    """Of four states those of the rotor stay small; it names the first and counts the others."""
    start = {"q(carriage)": 0.2, "u(carriage)": 1.0, "q(rotor)": 1e-6, "u(rotor)": 0.0}
    atol = {"q(carriage)": 1e-9, "q(rotor)": 1e-3, "u(carriage)": 1e-9, "u(rotor)": 1e-9}
    above = r"^atol of q\(rotor\), 0.001 rad, exceeds its largest value 1e-06 rad"
    with pytest.warns(bc.ModelWarning, match=f"{above}: ") as told:
        sims["c"].simulate(method="tsit5", atol=atol, initial=start)
    assert len(told) == 1
    with pytest.warns(bc.ModelWarning, match=rf"{above} \(and so for 1 other state\): "):
        sims["c"].simulate(method="tsit5", atol=atol | {"u(rotor)": 1e-3}, initial=start)


def balance():
    """A torsion balance, one turn of its phase in 2 s."""
    s = bc.System("balance")
    beam = s.add_body("beam", rotate=3, mass=0, inertia=("J", "J", "J"))
    s.add_moment("wire", magnitude="-k*q(beam)", direction=beam[3], on=beam)
    s.set_defaults(J=2.0, k=2.0 * math.pi**2)
    return s.equations()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", ["tsit5", "dop853", "radau5", "rodas5p"])
def test_small_motions_are_as_exact_as_larger_ones(backend, method):
    """The usual absolute tolerance, 1e-8 rad at this rtol, would leave nothing of a motion of 1e-9
    rad."""
    sim = balance().compile(backend=backend)
    for name, start in (("q(beam)", 1e-4), ("q(beam)", 1e-9), ("u(beam)", 1e-9)):
        run = sim.simulate(t_end=2, step=0.25, method=method, rtol=1e-6, initial={name: start})
        assert np.abs(run[name] / start - np.cos(math.pi * run.time)).max() <= 2e-5


def test_an_absolute_tolerance_that_is_given_stays():
    sim, steps = balance().compile(), []
    for atol in (1e-10, {"rad": 1e-10}, None):
        run = sim.simulate(
            t_end=2, step=0.5, method="tsit5", rtol=1e-6, atol=atol, initial={"q(beam)": 1e-9}
        )
        steps.append(run.settings["steps"])
    assert steps[0] < steps[1] < steps[2]


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_smallest_step_does_not_depend_on_the_end(backend):
    s = bc.System("brake")
    body = s.add_body("b", translate=1, mass="m")
    s.add_force("f", magnitude="-1e4*v", direction=s.inertial[1], at=body.cm)
    s.set_defaults(m=1)
    run = (
        s.equations()
        .compile(backend=backend)
        .simulate(t_end=1e13, step=1e12, method="radau5", initial={"u(b)": 1.0})
    )
    assert run.ok and run["q(b)"][-1] == pytest.approx(1e-4, rel=1e-6)


def test_a_state_that_stays_near_its_tolerance_is_reported():
    """With what to give; one that stays at zero but for rounding is not, nor one with a tolerance
    of its own size."""
    s = bc.System("two masses on springs")
    for name in "ab":
        body = s.add_body(name, translate=1, mass=1)
        s.add_force(
            f"spring_{name}", magnitude=f"-40*q({name})", direction=s.inertial[1], at=body.cm
        )
    sim = s.equations().compile()

    def notes(start, **more):
        return sim.simulate(
            t_end=1, step=0.02, method="tsit5", initial={"q(a)": 1.0, "q(b)": start}, **more
        ).notes

    (small,) = notes(5e-11)
    assert small.startswith(
        "q(b) stays at or below its absolute tolerance (largest value 5e-11, tolerance 1e-10 m): "
    )
    assert small.endswith("give atol={'q(b)': 5e-19}")
    assert notes(5e-11, atol={"q(b)": 5e-19}) == notes(1e-9) == notes(1e-16) == notes(0.0) == []
