"""The program as data: nothing unused, everything shared named once, the same bytes every time."""

import os
import subprocess
import sys

import pytest

from bellcrank.codegen.python.source import python_source
from bellcrank.program import interpreter
from bellcrank.program.statements import AssignStatement, count_section, statement_expressions
from bellcrank.symbolic.expr import Symbol, postorder
from tests.helpers import EXAMPLES, NAMES, inputs, random_state, simulation, stub
from tests.models import example, rarely


def uses(program):
    """How often each stored value is used."""
    found = {}
    sections = (program.constants, program.derivatives, program.outputs)
    roots = [e for s in sections for st in s.statements for e in statement_expressions(st)]
    roots += [r for s in sections for r in s.results]
    for root in roots:
        for node in postorder((root,)):
            if isinstance(node, Symbol):
                found[node] = found.get(node, 0) + 1
    return found


@pytest.mark.parametrize("name", rarely(NAMES, ("spacecraft_1", "spacecraft_1_small")))
def test_nothing_is_computed_in_vain(name):
    program = example(name).program
    used = uses(program)
    for section in (program.constants, program.derivatives, program.outputs):
        for s in section.statements:
            if isinstance(s, AssignStatement):
                assert s.target in used
    assert all(p in used for p in program.parameters)


@pytest.mark.parametrize("name", NAMES)
def test_interpreter_and_python_agree(name):
    eom = example(name)
    q, u = random_state(eom, name)
    sim = simulation(eom)
    p = sim.parameter_values()
    known = interpreter.evaluate_constants(eom.program, p)
    rates, values = interpreter.evaluate_derivatives(
        eom.program, known, 0.0, q, u, [0.01] * len(eom.inputs), stub(eom)
    )
    qdot, udot = sim.derivatives(0.0, q, u, inputs=inputs(eom, 0.01))
    size = max(abs(r) for r in rates)
    assert [*qdot, *udot] == pytest.approx(rates, rel=1e-12, abs=1e-12 * size)
    extra = interpreter.evaluate_outputs(eom.program, values, stub(eom))
    shown = sim.outputs(0.0, q, u, inputs=inputs(eom, 0.01))
    in_user_units = [
        eom.quantities.output_unit[n].from_equation_units(v)
        for n, v in zip(eom.program.output_names, extra, strict=True)
    ]
    assert list(shown.values()) == pytest.approx(in_user_units, rel=1e-10, abs=1e-9)


def test_count_is_that_of_the_statements():
    program = example("stanford_arm").program
    counted = count_section(program.derivatives.statements, program.derivatives.results)
    assert counted.total == program.count.total


@pytest.mark.campaign
def test_same_bytes_in_every_process():
    """Neither hash seeds nor what was derived before may change the program."""
    code = (
        "import sys; sys.path.insert(0, {src!r})\n"
        "import bellcrank as bc\n"
        "from bellcrank.codegen.python.source import python_source\n"
        "for name in {first!r}: bc.System.read({folder!r} + '/' + name + '.py').equations()\n"
        "sys.stdout.write(python_source(bc.System.read({folder!r} + "
        "'/spacecraft_2.py').equations().program))\n"
    )
    src = str(EXAMPLES.parent / "src")
    texts = []
    for seed, first in (("1", []), ("2", ["stanford_arm", "double_pendulum"])):
        script = code.format(src=src, folder=str(EXAMPLES), first=first)
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        texts.append(done.stdout)
    assert texts[0] == texts[1] == python_source(example("spacecraft_2").program)


def test_parameters_that_cancel_are_not_asked_for():
    """hra, the height of the roll axis, and two moments of inertia drop out of the car (Sayers
    1990, section 9.1)."""
    names = {p.lower() for p in example("passenger_car").parameters}
    assert not names & {"hra", "nrbi11", "nrbi22", "nrbi12", "nrbi13", "nrbi23"}
    assert "iyy" in names
    assert "iyy" not in {p.lower() for p in example("passenger_car_small").parameters}


def test_constant_results_keep_their_numbers():
    """A body that slides down a slope: its acceleration is a constant with a number in front."""
    import bellcrank as bc

    s = bc.System("slope", units="mks")
    s.add_body("b", translate=((3, 0, -4),), mass="m")
    s.add_gravity(direction="-[n3]")
    s.set_defaults(m=2)
    _, udot = s.equations().compile(backend="python").derivatives(0.0, [0.0], [0.0])
    assert udot[0] == pytest.approx(9.80665 * 0.8)
