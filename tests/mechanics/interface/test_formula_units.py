"""One meaning of a formula: in outputs, events, actions, studies, targets and environments."""

import random
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.gym.task import ControlTask
from bellcrank.study.study_formulas import FormulaValues
from tests.models import needs_compiler

MODEL = """
import bellcrank as bc


def model():
    s = bc.System("units", units="{units}")
    s.add_input("load", units="F")
    s.add_body("slider", translate=1, mass="m", inertia=0)
    arm = s.add_body("arm", parent="slider", rotate=3, mass=0, inertia=(0, 0, "j"))
    s.add_force("push", magnitude="load", direction="[n1]", at="slider.origin")
    s.add_moment("twist", magnitude="-k*q(arm)", direction=arm.z, on=arm)
    s.add_output("acceleration", "up(slider)", units="L/T**2")
    s.add_parameter("start", 20, units="A", label="an angle")
    s.add_parameter("length", 3, units="L", label="a length")
    s.add_parameter("pull", 0.7, units="L/T**2", label="an acceleration")
    for kind, units in (("angle", "A"), ("distance", "L"), ("pure", "1"), ("rate", "L/T**2")):
        for i in range(50):
            s.add_parameter(f"{{kind}}{{i}}", 0, units=units, label="found by an event")
    s.set_defaults(m=2, j=0.1, k=0.3)
    s.set_run(
        t_end=0.2,
        step=0.01,
        initial={{"q(slider)": 2, "u(slider)": 0.5, "q(arm)": "40 deg", "u(arm)": "1 rad/s"}},
        inputs={{"load": 1}},
    )
    return s
"""
DIMENSIONS = {"angle": "A", "distance": "L", "pure": "1", "rate": "L/T**2"}
UNITS = ("in-lb", "SI", "mm-tonne")


def random_formula(draw: random.Random, kind: str, depth: int) -> str:
    """A formula of that kind over states, inputs and parameters; bare numbers are factors."""

    def part(kind: str) -> str:
        return random_formula(draw, kind, depth - 1)

    number = f"{draw.uniform(0.2, 2):.2f}"
    if depth == 0:
        return draw.choice(
            {
                "angle": ["q(arm)", "start"],
                "distance": ["q(slider)", "length"],
                "pure": [number, "sin(q(arm))", "cos(start)"],
                "rate": ["load/m", "pull"],
            }[kind]
        )
    forms = {
        "angle": [
            lambda: f"({part('angle')} - {part('angle')})",
            lambda: f"{number}*{part('angle')}",
            lambda: f"atan2({part('distance')}, {part('distance')})",
            lambda: f"asin(0.4*sin({part('angle')}))",
            lambda: f"max({part('angle')}, {part('angle')})",
        ],
        "distance": [
            lambda: f"({part('distance')} + {part('distance')})",
            lambda: f"{part('distance')}*{part('angle')}",
            lambda: f"{part('distance')}*{part('pure')}",
            lambda: f"hypot({part('distance')}, {part('distance')})",
            lambda: f"sqrt(abs({part('distance')}*{part('distance')}))",
        ],
        "pure": [
            lambda: f"sin({part('angle')})",
            lambda: f"cos({part('angle')}/2)",
            lambda: f"tanh({part('pure')})",
            lambda: f"{part('distance')}/length",
            lambda: f"(0.3 + {part('angle')}*{part('angle')})",
            lambda: f"where({part('angle')} > {part('angle')}, {part('pure')}, {part('pure')})",
            lambda: f"smooth_step({part('angle')}, -q(arm), q(arm))",
        ],
        "rate": [
            lambda: f"({part('rate')} + {part('rate')})",
            lambda: f"{part('pure')}*{part('rate')}",
            lambda: f"load*{part('angle')}/m",
        ],
    }
    return draw.choice(forms[kind])()


def random_formulas() -> list[tuple[str, str]]:
    draw = random.Random(20)
    kinds = [draw.choice(["angle", "distance", "pure", "rate"]) for _ in range(50)]
    return [(kind, random_formula(draw, kind, 3)) for kind in kinds]


def model_file(folder: Path, units: str) -> Path:
    path = folder / "units_model.py"
    path.write_text(MODEL.format(units=units), encoding="utf-8")
    return path


@needs_compiler
@pytest.mark.parametrize("units", UNITS)
def test_a_formula_has_one_value_everywhere(units: str, tmp_path: Path) -> None:
    formulas = random_formulas()
    path = model_file(tmp_path, units)
    s = bc.load(path)
    outputs = [f"output {i}" for i in range(len(formulas))]
    for name, (kind, formula) in zip(outputs, formulas, strict=True):
        s.add_output(name, formula, units=DIMENSIONS[kind])
    sim = s.equations().compile(speed="quick")
    targets = [f"{kind}{i}" for i, (kind, _) in enumerate(formulas)]
    action = {x: formula for x, (_, formula) in zip(targets, formulas, strict=True)}
    events = [bc.event("t - 0.105", action=action, name="look")]
    plain, run = sim.simulate(), sim.simulate(events=events)
    (look,) = run.events
    found = {change.name: change.after for change in look.changes}
    at_event = int(np.flatnonzero(run.time == look.time)[0])
    task = ControlTask.from_options(
        sim.interface,
        actions={"load": (-1, 1)},
        observations=[formula for _, formula in formulas],
        reward=formulas[0][1],
        done=(),
        t_end=1.0,
        step=None,
        action_every=1,
        parameters=None,
        initial=None,
        inputs=None,
        method=None,
        guess=None,
    )
    stepper = sim.stepper(step=0.01)
    stepper.step(20)
    observed = task.observe(np.asarray(stepper.row)[None])[0]
    study = bc.Study.read(
        {
            "name": "meaning",
            "model": {"file": str(path)},
            "outputs": {
                name: {"formula": formula, "units": DIMENSIONS[kind]}
                for name, (kind, formula) in zip(outputs, formulas, strict=True)
            },
            "grid": {"m": [2.0]},
            "metrics": {
                f"end {i}": {"kind": "final", "of": name} for i, name in enumerate(outputs)
            },
        }
    ).run(tmp_path / "study")
    for i, (name, target) in enumerate(zip(outputs, targets, strict=True)):
        formula = formulas[i][1]
        assert found[target] == pytest.approx(run[name][at_event], rel=1e-9, abs=1e-12), formula
        assert observed[i] == pytest.approx(plain[name][-1], rel=1e-5, abs=1e-6), formula
        assert study[f"end {i}"][0] == pytest.approx(plain[name][-1], rel=1e-9, abs=1e-12), formula


@needs_compiler
@pytest.mark.parametrize("units", UNITS)
def test_conditions_become_true_where_an_output_does(units: str, tmp_path: Path) -> None:
    s = bc.load(model_file(tmp_path, units))
    s.add_output("shadow", "sin(q(arm)) - length*q(arm)/length")
    sim = s.equations().compile(speed="quick")
    limit = float(sim.simulate()["shadow"][10])
    conditions = {
        "of states": f"sin(q(arm)) - length*q(arm)/length - {limit!r}",
        "of the output": f"shadow - {limit!r}",
    }
    run = sim.simulate(events=[bc.event(text, name=name) for name, text in conditions.items()])
    times = {name: [x.time for x in run.events if x.name == name] for name in conditions}
    assert times["of states"]
    assert times["of states"] == pytest.approx(times["of the output"], abs=1e-9)


@needs_compiler
def test_bare_numbers_take_the_unit_of_what_they_stand_next_to(tmp_path: Path) -> None:
    sim = bc.load(model_file(tmp_path, "in-lb")).equations().compile(speed="quick")
    angle = sim.simulate()["q(arm)"]
    middle = float(angle[10])
    conditions = {
        "number": f"q(arm) - {middle}",
        "text": f"max(q(arm), 1) - {middle}",
        "sine": f"sin(q(arm)) - sin({np.deg2rad(middle)})",
        "arc sine": f"asin(sin(q(arm))) - {middle}",
        "arc": f"length*q(arm) - {3 * np.deg2rad(middle)}",
    }
    run = sim.simulate(events=[bc.event(text, name=name) for name, text in conditions.items()])
    first = {x.name: x.time for x in reversed(run.events)}
    assert {*first} == {*conditions}
    assert [*first.values()] == pytest.approx([0.1] * 5, abs=1e-6)


def test_formulas_of_a_study_are_converted(tmp_path: Path) -> None:
    interface = bc.load(model_file(tmp_path, "in-lb")).equations().interface
    values = FormulaValues(
        {"start": 30.0, "m": 386.2, "length": "2*rise", "rise": "r*start", "r": 6.0}, interface
    )
    assert values.number("6*sin(start)", "x", "q(slider)") == pytest.approx(3)
    assert values.number("asin(sin(start)) + 5", "x", "q(arm)") == pytest.approx(35)
    assert values["length"] == pytest.approx(360)  # a factor of the study is a pure number
    assert values.number("length*start", "x", "q(slider)") == pytest.approx(60 * np.pi)


def test_targets_are_converted(tmp_path: Path) -> None:
    sim = bc.load(model_file(tmp_path, "in-lb")).equations().compile(backend="python")
    for target, value in {
        "1*sin(q(arm))": 0.5,
        "2*q(arm)": 60,
        "q(slider)*q(arm)": np.pi / 3,
    }.items():
        found = sim.equilibrium(
            fixed={"q(slider)": 2, "u(slider)": 0, "u(arm)": 0},
            free=["k", "load"],
            targets={target: value},
            at={"q(arm)": 40},
        )
        assert found["q(arm)"] == pytest.approx(30), target
