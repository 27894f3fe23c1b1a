"""Names are case-sensitive: M and m, R and r, input F and parameter f, bodies A and a, in every way
to run."""

import re

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.export.model_setup import program_setup
from bellcrank.export.parameter_files import write_echo
from tests.models import rarely
from tests.programs import MAINLY_C, build

VALUES = {
    "M": 1.0,
    "m": 0.3,
    "R": 0.5,
    "r": 0.2,
    "k": 7.0,
    "K": 3.0,
    "f": 2.0,
    "h": 1.0,
    "b": 1.0,
    "e": 1.0,
    "g": 9.81,
}
START = {"q(A)": 0.1, "q(a)": 0.7, "u(A)": -0.2, "Z": 0.4, "z": -0.1}


def system(capitals=True):
    """A cart with a pendulum, springs and states of the user; without capitals every name is
    another word."""
    new = (lambda text: text) if capitals else _spelled_out
    s = bc.System("cart and pendulum", units="mks")
    cart = s.add_body(new("A"), translate=1, mass=new("M"), inertia=0)
    s.add_body(
        new("a"),
        cart,
        rotate=3,
        cm=(new("R"), new("-r"), 0),
        mass=new("m"),
        inertia=(0, 0, new("m*r**2")),
    )
    s.add_gravity(direction="-[n2]")
    s.add_input(new("F"), units="F")
    s.add_force(
        "spring", magnitude=new("F*f - k*x - K*x**3 + Z - z"), direction="[n1]", at=cart.origin
    )
    s.add_state(new("Z"), new("-h*Z + b*q(A)"))
    s.add_state(new("z"), new("-3*h*z + e*q(a)"))
    s.define(new("D"), new("M*R"))
    s.define(new("d"), new("m*r"))
    s.add_output(new("Ay"), new("D*u(A)"))
    s.add_output(new("ay"), new("d*u(a)"))
    s.set_defaults({new(k): v for k, v in VALUES.items()})
    s.set_run(
        t_end=0.4,
        step=0.01,
        initial={new(k): v for k, v in START.items()},
        inputs={new("F"): bc.signals.sine(1.5, 2)},
    )
    return s


def _spelled_out(text):
    """The same formula with names that no capitals report apart."""
    words = {
        "A": "cart",
        "a": "bob",
        "M": "m_cart",
        "m": "m_bob",
        "R": "along",
        "r": "aside",
        "K": "cubic",
        "F": "pull",
        "f": "gain",
        "Z": "lag",
        "z": "lead",
        "D": "one",
        "d": "two",
        "Ay": "first",
        "ay": "second",
    }
    return re.sub(r"[A-Za-z_]\w*", lambda found: words.get(found[0], found[0]), text)


CHANNELS = ("q(A)", "q(a)", "u(A)", "u(a)", "Z", "z", "Ay", "ay", "F")


@pytest.fixture(scope="module")
def right():
    run = system(capitals=False).equations().compile(backend="python").simulate()
    return {name: run[_spelled_out(name)] for name in CHANNELS}


@pytest.fixture(scope="module")
def eom():
    return system().equations()


@pytest.fixture(scope="module")
def sim(eom):
    return eom.compile(backend="python")


def near(run, right, rows=slice(None)):
    for name, expected in right.items():
        assert run[name][rows] == pytest.approx(expected[rows], rel=1e-9, abs=1e-12), name


@pytest.mark.parametrize("backend", ["python", "c"])
def test_simulate(backend, right, eom):
    sim = eom.compile(backend=backend)
    near(sim.simulate(), right)
    near(
        sim.simulate(
            parameters={"m": 0.3, "M": 1.0}, initial=START, inputs={"F": bc.signals.sine(1.5, 2)}
        ),
        right,
    )
    other = sim.simulate(parameters={"M": 2.0})
    assert abs(other["q(A)"][-1] - right["q(A)"][-1]) > 1e-3


def test_check_and_analyses():
    s = system()
    assert bc.check(s, states=1).passed
    linear = s.equations().compile(backend="python").linearize(at=START)
    plain = system(capitals=False).equations().compile(backend="python")
    assert (
        pytest.approx(plain.linearize(at={_spelled_out(k): v for k, v in START.items()}).A)
        == linear.A
    )


@pytest.mark.parametrize("backend", ["lanes", "cores"])
def test_many_runs(backend, right, eom):
    many = eom.compile().simulate_many(
        2, parameters={"M": [1.0, 2.0], "m": [0.3, 0.3]}, channels=["Ay", "ay"], backend=backend
    )
    for name in ("Ay", "ay"):
        assert many[name][0] == pytest.approx(right[name], rel=1e-9, abs=1e-12)
    assert not np.allclose(many["Ay"][1], right["Ay"])


def test_stepper_and_rhs(right, sim):
    stepper = sim.stepper(step=0.01)
    stepper.step(40)
    assert stepper.outputs["Ay"] == pytest.approx(right["Ay"][-1], rel=1e-9)
    assert stepper.outputs["ay"] == pytest.approx(right["ay"][-1], rel=1e-9)
    stepper.set_parameter(m=0.4)
    with pytest.raises(bc.ModelError, match="'AY' may be 'Ay' and 'ay'"):
        stepper.outputs["AY"]


@pytest.mark.parametrize("language", MAINLY_C)
def test_written_programs(language, right, eom, tmp_path):
    program = build(eom, language, tmp_path / "p")
    near(program.run(tmp_path / "out"), right)
    text = program.default.read_text()
    words = {line.split()[0] for line in text.splitlines() if line.strip()}
    assert {"M_", "m__", "K_", "k__", "q(3)", "q(4)"} & words, text
    (tmp_path / "bad.par").write_text(
        f"PARSFILE\nPARSFILE {program.default}\nm 5\nEND\n", encoding="utf-8"
    )
    assert "no keyword is called 'm'" in program(tmp_path / "bad.par", code=1)


def test_parameter_file_of_a_run(eom, sim, tmp_path):
    options = {
        "parameters": {"M": 2.0, "m": 0.7},
        "initial": {**START, "q(a)": 0.3},
        "inputs": {"F": 0.5},
    }
    run = sim.simulate(**options)
    path = write_echo(program_setup(eom.derived), sim.loaded, run, options, tmp_path / "run.echo")
    again = sim.simulate(**bc.settings_of(eom, path))
    for name in CHANNELS:
        assert again[name] == pytest.approx(run[name], rel=1e-12, abs=1e-14), name


@pytest.mark.parametrize(
    "ending", rarely(["csv", "json", "erd", "mat", "nc", "parquet"], ["nc", "parquet"])
)
def test_result_files(ending, sim, tmp_path):
    run = sim.simulate()
    path = tmp_path / f"run.{ending}"
    run.save(path)
    back = bc.Run.read(path)
    for name in CHANNELS:
        assert back[name] == pytest.approx(run[name], rel=1e-5, abs=1e-6), name


def test_names_of_runs_are_forgiving_where_one_can_be_meant(sim):
    run = sim.simulate()
    assert run["f"] is run["F"]
    assert run["q( a )"] is run["q(a)"]
    for name in ("AY", "Q(x)"):
        with pytest.raises(bc.BellcrankError):
            run[name]
    with pytest.raises(
        bc.BellcrankError, match="'AY' may be 'Ay' and 'ay': names are case-sensitive"
    ):
        run["AY"]


@pytest.mark.parametrize(
    "given",
    [
        {"parameters": {"h": 1.0, "H": 2.0}},
        {"initial": {"Q(2)": 1.0, "q(a)": 2.0}},
        {"initial": {"U(1)": 1.0, "u( A)": 1.0}},
        {"inputs": {"F": 1.0, "F ": 2.0}},
    ],
)
def test_the_same_name_twice_is_an_error(given, sim):
    for ask in (
        sim.simulate,
        lambda **more: sim.simulate_many(2, **more),
        lambda **more: sim.stepper(step=0.1, **more),
    ):
        with pytest.raises(bc.ModelError, match=r"are the same .*; give one of them"):
            ask(**given)


def test_a_log_with_one_input_in_two_columns(eom, tmp_path):
    from bellcrank.cli.files import read_input_files

    log = tmp_path / "log.csv"
    log.write_text("t,F,F \n0,1,2\n1,1,2\n", encoding="utf-8")
    with pytest.raises(bc.RunError, match="stands there twice"):
        read_input_files(str(log), eom)
