"""Messages that a newcomer meets: what was given, what is allowed, the near names; no internal
classes."""

import pytest

import bellcrank as bc


def mass(magnitude="-k*x", **defaults):
    s = bc.System("mass", units="SI")
    body = s.add_body("body", translate="x", mass="m")
    s.add_force("spring", magnitude=magnitude, direction="x", at=body.origin)
    s.set_defaults({"m": 1, "k": 1, **defaults})
    return s


def message(call, kind=bc.ModelError):
    with pytest.raises(kind) as error:
        call()
    return str(error.value)


def test_an_argument_that_does_not_exist():
    assert (
        message(lambda: mass().set_run(setp=1), TypeError)
        == "set_run() has no argument 'setp'. Did you mean 'step'?"
    )


def test_a_python_function_as_formula():
    assert (
        "a Python function is no formula: use a formula, bc.table() or add_external()"
        in message(lambda: mass(lambda x, v: -x).equations())
    )


def test_a_parameter_that_may_not_be_zero():
    sim = mass("-k*x/tau", tau=0).equations().compile(backend="python")
    assert "zero are 'tau'; may one of them not be zero?" in message(sim.simulate)


def test_methods_of_other_programs():
    sim = mass().equations().compile(backend="python")
    assert "method='ode45' is not known. Did you mean 'tsit5'?" in message(
        lambda: sim.simulate(method="ode45")
    )


def test_an_event_that_does_not_exist():
    sim = mass().equations().compile(backend="python")
    events = {"bounce": "q(body)"}
    assert "stop='b': no event has that name. Events: bounce." in message(
        lambda: sim.simulate(events=events, stop="b")
    )


def test_a_parent_that_does_not_exist():
    s = mass()
    s.add_body("rod", "bdy", rotate="z")
    said = message(s.equations)
    assert (
        "parent 'bdy' does not exist: no body has that name. Did you mean 'body'? Bodies: n "
        "(the ground), body." in said
    )


def test_an_input_without_value():
    s = mass("-k*(x - road)")
    s.add_input("road", units="L")
    sim = s.equations().compile(backend="python")
    assert "input 'road' has no value. Use inputs= or set_run(inputs=)." in message(sim.simulate)


def test_a_constraint_that_is_not_linear():
    s = mass()
    s.add_constraint("u(body)**2 - 1")
    assert (
        "not linear in the speeds: its derivative with respect to u(body) is 2*u(body)"
        in message(s.equations)
    )


def test_units_that_do_not_fit():
    assert "(-k)*x - k adds quantities of different units: (-k)*x is N, k is N/m" in message(
        lambda: (s := mass("-k*x - k"), s.set_units(k="N/m"), s.equations())
    )


def test_nothing_moves():
    s = bc.System("nothing", units="SI")
    s.add_body("body", mass=1)
    assert "the model has no degrees of freedom: give a body translate= or rotate=" in message(
        s.equations
    )


def test_channels_have_one_error_everywhere():
    run = mass().equations().compile(backend="python").simulate(t_end=0.1, step=0.1)
    for call in (lambda: run["theta"], lambda: run.plot("theta")):
        assert message(call, KeyError).startswith("no channel 'theta'")
