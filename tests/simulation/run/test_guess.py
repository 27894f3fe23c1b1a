"""Guesses of dependent coordinates: they choose the assembly, may change, and do not warn."""

import warnings

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.cli import main
from bellcrank.export.model_setup import program_setup
from bellcrank.model.guess import StateGuess
from bellcrank.study.runner import run_options
from bellcrank.study.study_file import read_definition
from tests.verify.machines import coupling_rod

KEPT = {"q(a)": 0.8, "u(a)": 3.0}
UP, DOWN = {"q(c)": 1.4}, {"q(c)": -1.4}


def four_bar(**run):
    s = bc.System("four-bar", units="mks")
    i = (0.01, 0.01, 0.01)
    a = s.add_body("a", rotate=3, cm=(0.1, 0, 0), mass=1, inertia=i)
    b = s.add_body(
        "b", parent=a, rotate=3, joint_at=(0.2, 0, 0), cm=("lb/2", 0, 0), mass=1.2, inertia=i
    )
    c = s.add_body("c", rotate=3, joint_at=(0.5, 0, 0), cm=(0.2, 0, 0), mass=1, inertia=i)
    p, q = s.add_point("p", body=b, at=("lb", 0, 0)), s.add_point("q", body=c, at=(0.4, 0, 0))
    s.add_loop_joint("pin", "revolute", between=(p, q), axis=b[3])
    s.add_gravity(direction="-[n2]")
    s.set_defaults(lb=0.5)
    s.set_run(t_end=0.1, step=0.001, **run)
    return s


@pytest.fixture(scope="module")
def sim():
    return four_bar().equations().compile(backend="python")


def test_a_guess_chooses_the_assembly_without_a_warning(sim):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        up, down = (sim.assemble(KEPT, guess=g)[0] for g in (UP, DOWN))
        assert up[2] > 0 > down[2]
        assert sim.simulate(t_end=0.002, step=0.001, initial=KEPT, guess=DOWN)["q(c)"][0] == down[2]
        assert sim.stepper(0.001, initial=KEPT, guess=DOWN).state["q(c)"] == down[2]
    with pytest.warns(UserWarning, match="contradict"):
        assert sim.assemble(KEPT | DOWN)[0][2] == pytest.approx(down[2], abs=1e-9)


@pytest.mark.campaign
def test_many_runs_take_a_guess():
    sim = four_bar(initial=KEPT).equations().compile(speed="quick")
    many = sim.simulate_many(initial={"q(a)": np.array([0.8, 0.9])}, guess=DOWN, channels="q(c)")
    alone = sim.simulate(initial={"q(a)": 0.9}, guess=DOWN)
    assert many["q(c)"][1] == pytest.approx(alone["q(c)"], abs=1e-12)
    assert alone["q(c)"][0] < 0


def test_a_guess_of_set_run_is_used_by_every_way_to_run():
    eom = four_bar(initial=KEPT, guess=DOWN).equations()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        start = eom.compile(backend="python").assemble()[0][2]
    assert start < 0
    given = {x.name: (x.value, x.given) for x in program_setup(eom.derived).states}
    assert given["q(a)"] == (0.8, True)
    assert given["q(c)"] == (-1.4, False)


@pytest.mark.parametrize("backend", ["python", pytest.param("c", marks=pytest.mark.campaign)])
def test_redundant_loops_are_assembled_near_the_guess(backend):
    """Guesses of all coordinates: what is redundant in the assembly must not lead along the motion
    it leaves."""
    sim = coupling_rod(start=None).equations(optimise="none").compile(backend=backend)
    rng = np.random.default_rng(3)
    for off in (1e-6, 1e-3, 0.01, 0.1, 0.3):
        for angle in (*rng.uniform(0.5, 2.6, 2), -1.2):
            near = angle * np.array([1, 1, 1, -1]) + off * rng.uniform(-1, 1, 4)
            guess = dict(zip(("q(c0)", "q(c1)", "q(c2)", "q(rod)"), near.tolist(), strict=True))
            q, _ = sim.assemble({}, guess=guess)
            assert q == pytest.approx(q[0] * np.array([1, -1, 1, 1]), abs=1e-8)
            assert abs(q[0] - angle) < 2 * off


def test_guesses_that_cannot_be_are_named(sim):
    with pytest.raises(bc.ModelError, match=r"q\(c\): given in initial= and in guess="):
        sim.simulate(initial={"q(c)": 1.0}, guess=UP)
    with pytest.raises(bc.ModelError, match=r"guess for 'q\(x\)': no such coordinate"):
        sim.simulate(guess={"q(x)": 1.0})
    with pytest.raises(bc.ModelError, match=r"guess of q\(c\) is 'up', not a number"):
        sim.simulate(guess={"q(c)": "up"})
    with pytest.raises(bc.ModelError, match="whole state"):
        sim.simulate(initial=sim.assemble(KEPT), guess=UP)


def test_analyses_take_a_guess(sim):
    """The equilibria above and below the base line, from the same crank angle."""
    up, down = (sim.equilibrium(at=KEPT | {"u(a)": 0.0}, guess=g) for g in (UP, DOWN))
    assert up["q(c)"] > 0 > down["q(c)"] or up["q(c)"] != pytest.approx(down["q(c)"])
    for at in ("start", {"q(a)": 0.8}, {"q(a)": 0.8, "u(a)": 0.0}):
        linear = [
            sim.linearize(at=at, guess=g | ({"q(a)": 0.8} if at == "start" else {}))
            for g in (UP, DOWN)
        ]
        places = [model.point.q[2] for model in linear]
        assert places[0] > 0 > places[1]
    assert len(sim.modes(at={"q(a)": 0.8}, guess=DOWN)) > 0
    with pytest.raises(bc.ModelError, match=r"q\(c\): given in initial= and in guess="):
        sim.linearize(at={"q(c)": 1.0}, guess=UP)
    with pytest.raises(bc.ModelError, match="guess= belongs to at='start'"):
        sim.linearize(at=sim.assemble(KEPT, guess=UP), guess=UP)


def test_studies_take_a_guess(tmp_path):
    """What a study gives reaches its runs as a guess, not as an initial value."""
    job = {
        "parameters": {"lb": 0.5},
        "initial": {"q(a)": "lb + 0.3"},
        "guess": {"q(c)": "-2*lb"},
        "inputs": {},
    }
    start = run_options(four_bar().equations().interface, job)["initial"]
    assert start == {"q(a)": 0.8, "q(c)": -1.0}
    assert isinstance(start["q(c)"], StateGuess) and not isinstance(start["q(a)"], StateGuess)
    text = (
        "[model]\nfile = 'm.py'\n[guess]\n'q(c)' = -1.4\n'q(x)' = 1\n[metrics]\nm = "
        "{kind = 'max', of = 'q(c)'}\n"
    )
    (tmp_path / "study.toml").write_text(text)
    definition, problems = read_definition(tmp_path / "study.toml")
    assert definition.guess == {"q(c)": -1.4, "q(x)": 1}
    assert not [p for p in problems if "guess" in p]


def test_an_environment_takes_a_guess():
    pytest.importorskip("gymnasium")
    s = four_bar(initial=KEPT)
    s.add_input("T", units="F*L")
    s.add_moment("drive", magnitude="T", direction="[n3]", on="a")
    sim = s.equations(optimise="none").compile(backend="python")
    env = bc.gym.make(sim, actions={"T": (-1, 1)}, observations=["q(c)"], guess=DOWN)
    assert env.reset(seed=0)[0][0] < 0
    with pytest.raises(bc.ModelError, match="given in initial= and in guess="):
        bc.gym.make(
            sim, actions={"T": (-1, 1)}, initial={"q(c)": bc.random.uniform(1, 2)}, guess=DOWN
        )


def test_the_command_line_takes_a_guess(tmp_path, capsys):
    path = tmp_path / "model.py"
    path.write_text(
        "import bellcrank as bc\n\n\ndef model():\n    s = bc.System('slider')\n"
        "    a = s.add_body('a', rotate=3, mass=1, inertia=(1, 1, 1))\n"
        "    b = s.add_body('b', translate=1, mass=1, inertia=0)\n"
        "    s.add_loop_joint('rod', 'distance', between=(s.add_point('p', body=a, at=(1, "
        "0, 0)), b.origin), length=2)\n"
        "    s.set_run(t_end=0.01, step=0.01)\n    return s\n"
    )
    out = tmp_path / "run.csv"
    options = [
        "--backend",
        "python",
        "--initial",
        "q(a)=1",
        "--guess",
        "q(b)=-2",
        "--out",
        str(out),
    ]
    assert main(["run", str(path), *options]) == 0
    assert bc.Run.read(out)["q(b)"][0] == pytest.approx(np.cos(1) - np.sqrt(4 - np.sin(1) ** 2))
    assert "contradict" not in capsys.readouterr().err
