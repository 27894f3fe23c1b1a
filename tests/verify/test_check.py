"""The check passes what is right and finds every single wrong equation."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.verify.bodies import ReferenceMechanism
from bellcrank.verify.check import check
from bellcrank.verify.formulas import ParameterValues
from bellcrank.verify.kane_residual import accelerations, virtual_power
from bellcrank.verify.reference_evaluation import ReferenceEvaluation
from bellcrank.verify.report import CheckLine, Report
from tests.models import derived, rarely
from tests.verify.machines import free_body, linkage, words

EXAMPLES = Path(__file__).parents[2] / "examples"

# the model with every word of the language has loads that do no work
pytestmark = pytest.mark.filterwarnings("ignore:.*does no work:bellcrank.ModelWarning")


@pytest.mark.parametrize(
    "name",
    rarely(
        [
            "quarter_car",
            "double_pendulum",
            "passenger_car",
            "spacecraft_1",
            "spacecraft_2",
            "stanford_arm_controlled",
        ],
        ("passenger_car", "spacecraft_1", "spacecraft_2", "stanford_arm_controlled"),
    ),
)
def test_examples_pass(name):
    system, eom = derived(name)
    report = check(system, states=4, equations=eom, backend="python")
    assert report.passed, str(report)


@pytest.mark.parametrize(
    "machine", rarely([free_body, linkage, words], (free_body, linkage)), ids=lambda m: m.__name__
)
def test_every_joint_and_every_word_of_the_language(machine):
    report = check(machine(), states=4, backend="python")
    assert report.passed, str(report)


@pytest.mark.campaign
def test_a_free_system_keeps_its_momentum():
    system, eom = derived("spacecraft_2")
    names = [line.name for line in check(system, states=1, equations=eom, backend="python").lines]
    assert "linear momentum" in names
    assert "angular momentum" in names


EQUATIONS = {"quarter_car": 4, "double_pendulum": 4, "passenger_car": 7, "spacecraft_2": 20}


def corrupted(eom, i, size=1e-3):
    """The same equations with a small multiple of a state added to one rate."""
    program = eom.program
    results = list(program.derivatives.results)
    state = [*program.coordinates, *program.speeds][i]
    results[i] = results[i] + size * state
    program = replace(program, derivatives=replace(program.derivatives, results=tuple(results)))
    return type(eom)(replace(eom.derived, program=program))


PLACES = [(name, i) for name, count in EQUATIONS.items() for i in range(count)]


@pytest.mark.parametrize(
    ("name", "i"), rarely(PLACES, [place for place in PLACES if place[1] % 3], several=True)
)
def test_one_wrong_equation_is_found(name, i):
    system, eom = derived(name)
    assert len(eom.program.derivatives.results) == EQUATIONS[name]
    report = check(system, states=2, equations=corrupted(eom, i), backend="python", run=False)
    wrong = {line.name for line in report.lines if not line.passed}
    expected = (
        "rates of coordinates" if i < len(eom.coordinates) else "equations of motion (Newton-Euler)"
    )
    assert expected in wrong, str(report)


def test_energy_balance_finds_a_wrong_equation_too():
    system, eom = derived("double_pendulum")
    report = check(system, states=1, equations=corrupted(eom, 3), backend="python")
    assert "energy balance" in {line.name for line in report.lines if not line.passed}


@pytest.mark.parametrize(
    ("name", "line", "note"),
    [
        ("quarter_car", "outputs", "largest in travel"),
        ("passenger_car_small", "order of the truncation error of outputs", None),
    ],
)
def test_wrong_output_is_found(name, line, note):
    system, eom = derived(name)
    outputs = eom.program.outputs
    results = (outputs.results[0], outputs.results[1] * 1.001, *outputs.results[2:])
    program = replace(eom.program, outputs=replace(outputs, results=results))
    wrong = bc.Equations(replace(eom.derived, program=program))
    report = check(system, states=2, equations=wrong, backend="python", run=False)
    (failed,) = (x for x in report.lines if not x.passed)
    assert failed.name == line and note in (None, failed.note)


@pytest.mark.parametrize(
    "name", rarely(["passenger_car_small", "spacecraft_1_small"], ["spacecraft_1_small"])
)
def test_small_variables_make_an_error_of_second_order(name):
    system, eom = derived(name)
    report = check(system, states=2, equations=eom, backend="python", run=False)
    assert report.passed, str(report)
    (order,) = (line.value for line in report.lines if line.name == "order of the truncation error")
    assert order == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("i", range(3))
def test_wrong_equation_with_small_variables_is_found(i):
    system, eom = derived("passenger_car_small")
    report = check(system, states=2, equations=corrupted(eom, 4 + i), backend="python", run=False)
    assert not report.passed


def test_equations_of_another_machine_are_found():
    """A pendulum, and the equations of one of half its length."""

    def pendulum(length):
        s = bc.System("pendulum")
        s.add_body("a", rotate=3, cm=(length, 0, 0), mass=1, inertia=(0.1, 0.1, 0.1))
        s.add_gravity(direction="[n1]")
        return s

    report = check(
        pendulum(0.5), states=2, equations=pendulum(0.25).equations(), backend="python", run=False
    )
    assert not report.passed


def test_speeds_belong_to_the_composite_mass_centre_even_if_a_length_is_zero():
    """The rotor's arm has the value 0, yet the speeds of the body are those of a composite."""
    s = bc.System("composite")
    a = s.add_body(
        "a", translate=(1, 2, 3), rotate=(1, 2, 3), mass=2, cm=("c", 0, 0), inertia=(1, 1, 1)
    )
    s.add_body(
        "w",
        parent=a,
        rotate=1,
        joint_at=(0, 0.5, 0),
        cm=("e", 0, 0),
        mass=1,
        inertia=(0.2, 0.1, 0.1),
    )
    s.set_defaults(c=0.0, e=0.0)
    machine = ReferenceMechanism.from_description(s.description, ParameterValues(c=0.0, e=0.0))
    assert machine.bodies[0].joint.speed_point == pytest.approx([0, 0.5 / 3, 0])
    assert check(s, states=3, backend="python").passed


def cart():
    """Sayers (1990), section 9.2: six dependent speeds, two redundant constraints."""
    s = bc.System("cart")
    b = s.add_body("b", translate=(1, 2), rotate=3, cm=("cmb1", 0, 0), mass=20)
    f = s.add_body("f", parent=b, rotate=3, joint_at=("l1", 0, 0), cm=("cmf1 - eps", 0, 0), mass=5)
    for name, parent, y in (
        ("lrw", b, "-trk2"),
        ("rrw", b, "trk2"),
        ("lfw", f, "-trk2"),
        ("rfw", f, "trk2"),
    ):
        at = (0 if parent is b else "-eps", y, 0)
        s.add_body(name, parent=parent, rotate=2, joint_at=at, mass=1, inertia=(0.01, 0.02, 0.01))
        axle = parent.name
        s.add_constraint(
            f"r*dot([{axle}2], rot({name}) - rot({axle})) - dot(vel({name}0), [{axle}1])"
        )
        s.add_constraint(f"dot([{axle}2], vel({name}0))")
    s.add_force("push", magnitude=100, direction=b[1], at=b.origin)
    s.set_defaults(bi33=12, cmb1=0.5, cmf1=0.02, eps=0.1, fi33=0.5, l1=1.5, r=0.2, trk2=0.5)
    return s


def test_published_accelerations_of_the_rolling_cart():
    """autosim_examples.toml, cart.check"""
    d = cart().description
    values = ParameterValues({name: record.value for name, record in d.parameters.items()})
    e = ReferenceEvaluation(
        ReferenceMechanism.from_description(d, values), ["u(b, 1)", "u(b, 2)"], lambda *_: []
    )
    q, u = np.array([1.0, 2.0, 0.3, 0.25, 0.1, 0.2, 0.3, 0.4]), np.array([2.0, 0.3])
    published = np.array([1.745822448492184, 2.608045122103033])
    own = accelerations(e, q, u)
    assert own == pytest.approx(published, rel=1e-12)
    assert virtual_power(e, q, u, published, own).relative.max() < 1e-12
    rates = e.motion(q, u).coordinate_rates()
    published = [1.9106729782512122, 0.5910404133226784, 0.66, 3.984153789844936]
    assert rates.c[0][:4] == pytest.approx(published, rel=1e-12)


def test_last_digits_of_accelerations_are_no_error_of_a_wheel_that_keeps_its_spin():
    """A free wheel on a carrier that is turned: I (u1' + u2') = 0, with terms as large as one
    likes."""
    s = bc.System("turned")
    carrier = s.add_body("carrier", rotate=3, mass=1, inertia=(1, 1, 1))
    s.add_body("wheel", parent=carrier, rotate=3, mass=1, inertia=(1, 1, 1))
    s.add_moment("turns", magnitude=100, direction=carrier[3], on=carrier)
    e = ReferenceEvaluation(
        ReferenceMechanism.from_description(s.description, ParameterValues()),
        ["u(carrier)", "u(wheel)"],
        lambda *_: [],
    )
    q, u = np.array([0.3, 0.2]), np.array([0.4, 0.5])
    own = accelerations(e, q, u)
    assert own == pytest.approx([100, -100], rel=1e-14)
    for error in (1e-12, 1e-4):
        left = virtual_power(e, q, u, own * [1, 1 + error], own).relative
        assert left == pytest.approx([error / 3, error / 2], rel=0.02)  # of 300 and 200 N m


@pytest.mark.campaign
def test_rolling_constraints_pass():
    report = check(cart(), states=2, backend="python")
    assert report.passed, str(report)


@pytest.mark.campaign
@pytest.mark.filterwarnings(
    "ignore:body '.*' is in gimbal lock:bellcrank.ModelWarning"
)  # of axes that repeat, at zero
@pytest.mark.parametrize("seed", range(30))
def test_random_trees_pass(seed):
    from tests.reference.random_trees import bellcrank_system, random_tree

    rng = np.random.default_rng(seed)
    tree = random_tree(rng, bodies=int(rng.integers(2, 9)))
    report = check(
        bellcrank_system(rng, tree, np.array([0.3, -9.0, 1.0])), states=2, backend="python"
    )
    assert report.passed, str(report)


def test_report_reads_well_and_as_json():
    report = Report(
        "m",
        3,
        0,
        [
            CheckLine("good", 1e-15, 1e-9),
            CheckLine("bad", float("nan"), 1e-9),
            CheckLine("size", "12"),
        ],
    )
    assert not report.passed
    assert str(report).splitlines()[0] == "m: FAILED (3 random states, seed 0)"
    assert [x["passed"] for x in json.loads(report.to_json())["lines"]] == [True, False, True]


def test_missing_value_is_told():
    s = bc.System("m")
    s.add_body("a", translate=1, mass="m_a")
    s.add_force("f", magnitude="-k*x", direction="[n1]", at="a0")
    with pytest.raises(bc.ModelError, match="m_a"):
        check(s, states=1, backend="python")


def test_what_is_no_system_is_told():
    equations = derived("double_pendulum")[1]
    with pytest.raises(
        bc.ModelError,
        match=r"not Equations; equations go with their system: check\(system, equations",
    ):
        bc.check(equations)
    with pytest.raises(bc.ModelError, match="takes a System or a Derivation, not str"):
        bc.check("four_bar.py")
