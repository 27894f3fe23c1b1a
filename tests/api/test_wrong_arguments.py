"""What is given wrongly ends in a message of ours, never in a traceback from somewhere inside."""

import math
import pickle

import numpy as np
import pytest

import bellcrank as bc
from tests.models import pendulum


def described(action, **body):
    s = bc.System("machine", units="mks")
    b = s.add_body(**{"name": "b", "translate": 1, "mass": 1, **body})
    action(s, b)
    return s


DESCRIPTIONS = {
    "no name": (lambda s, b: s.add_body(None), "the name of a body is None; it must be text"),
    "number as name": (lambda s, b: s.add_point(3), "the name of a point is 3"),
    "parameter": (lambda s, b: s.add_parameter(None), "the name of a parameter is None"),
    "input": (lambda s, b: s.add_input(None), "the name of an input is None"),
    "definition": (lambda s, b: s.define(3, "t"), "the name of a definition is 3"),
    "output": (lambda s, b: s.add_output(None, "t"), "the name of an output is None"),
    "group": (lambda s, b: s.add_outputs(3), "the name of a group of outputs is 3"),
    "external": (lambda s, b: s.add_external(3), "the name of an external is 3"),
    "defaults": (lambda s, b: s.set_defaults([1]), r"set_defaults=\[1\] must be a dictionary"),
    "initial": (lambda s, b: s.set_run(initial=[1]), r"initial=\[1\] must be a dictionary"),
    "method": (lambda s, b: s.set_run(method=[]), r"set_run: method=\[\] must be text or None"),
    "methods": (
        lambda s, b: s.set_run(method=np.ones(2)),
        r"set_run: method=array\(\[1., 1.\]\) must be text or None",
    ),
    "axes": (lambda s, b: bc.System("x", axes=3).equations(), "axes=3 is not known; it is 'SAE'"),
    "memory": (
        lambda s, b: s.add_external("f", memory=-1),
        "external 'f': memory=-1 must be a whole number of at least 1",
    ),
    "memory as text": (
        lambda s, b: s.add_external("f", memory="a"),
        "external 'f': memory='a' must be a whole number",
    ),
    "routine": (
        lambda s, b: s.add_external("f", python=3),
        "external 'f': python=3 cannot be called",
    ),
    "arguments": (
        lambda s, b: s.add_external("f", arguments="t"),
        r"arguments='t' must be a tuple, such as \('t',\)",
    ),
    "returns": (lambda s, b: s.add_external("f", returns=2), "returns=2 must be the names it sets"),
    "between": (
        lambda s, b: s.add_strut("f", magnitude=1, between=None),
        "between=None must be two points",
    ),
    "two components": (
        lambda s, b: s.add_force("f", magnitude=1, direction=(0, 1), at=b.origin),
        "force 'f': a vector is needed here, but this is a tuple",
    ),
    "no direction": (
        lambda s, b: s.add_force("f", magnitude=1, direction=(0, 0, 0), at=b.origin),
        "force 'f'.*zero",
    ),
    "table": (lambda s, b: bc.table(None, None), "table: the points None are not numbers"),
    "table of text": (
        lambda s, b: bc.table([1, 2], "ab"),
        "table: the values 'ab' are not numbers",
    ),
    "signal": (lambda s, b: bc.signals.step(at="now"), "step: at='now' is not a number"),
}


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_description(name):
    action, message = DESCRIPTIONS[name]
    with pytest.raises(bc.BellcrankError, match=f"(?s){message}"):
        described(action).equations()


@pytest.fixture(scope="module")
def sim():
    return pendulum().equations().compile(backend="python")


RUNS = {
    "list": (
        {"initial": [1, 2, 3]},
        r"initial=\[1, 2, 3\] must be a dictionary {state: value}, or a state \(q, u\)",
    ),
    "number": ({"initial": 3}, "initial=3 must be a dictionary"),
    "pair": ({"initial": ([1, 2], [3])}, r"q must have 1 values \(q\(rod\)\), 2 given"),
    "parameters": ({"parameters": [1]}, r"parameters=\[1\] must be a dictionary"),
    "inputs": ({"inputs": [1]}, r"inputs=\[1\] must be a dictionary"),
    "events": ({"events": ["q(rod)"]}, r"events=\['q\(rod\)'\] must be a dictionary"),
    "stop": ({"stop": 3}, "stop=3 must be the name of an event, or a list of names"),
    "method": ({"method": ""}, "method='' is not known"),
    "rtol": ({"method": "RK45", "rtol": "a"}, "rtol is 'a', not a number"),
    "rtol 0": ({"method": "RK45", "rtol": 0}, "rtol=0 must be positive"),
    "atol": ({"method": "RK45", "atol": math.nan}, "atol is nan"),
    "tiny step": ({"step": 1e-300}, r"step=1e-300 s is too small for t_end=1 s: 1e\+300 steps"),
    "tiny step, adaptive": ({"step": 1e-300, "method": "RK45"}, "step=1e-300 s is too small"),
    "long": ({"t_end": 1e300, "step": 1}, "step=1 s is too small for"),
}


@pytest.mark.parametrize("name", RUNS)
def test_run(sim, name):
    given, message = RUNS[name]
    with pytest.raises(bc.ModelError, match=message):
        sim.simulate(**given)


def test_single_evaluations_and_results(sim, tmp_path):
    with pytest.raises(bc.ModelError, match=r"q must have 1 values \(q\(rod\)\), not 1"):
        sim.derivatives(0, 1, 2)
    with pytest.raises(bc.ModelError, match=r"u\(rod\) is 'a', not a number"):
        sim.derivatives(0, [1], ["a"])
    with pytest.raises(bc.ModelError, match="t is 'now', not a number"):
        sim.outputs("now", [1], [1])
    with pytest.raises(bc.ModelError, match="must be a dictionary"):
        sim.assemble([1])
    with pytest.raises(bc.ModelError, match="external=3 must be a dictionary"):
        bc.Equations(sim.derived).compile(external=3)
    run = sim.simulate()
    with pytest.raises(bc.RunError, match=r"cannot draw to .*x\.foo: known file extensions"):
        run.plot(path=tmp_path / "x.foo")
    with pytest.raises(KeyError, match=r"^no channel 'p\(rod\)'. Did you mean"):
        run["p(rod)"]
    with pytest.raises(bc.RunError, match="no channel"):
        run.plot("nothing")
    with pytest.raises(bc.RunError, match="cannot save to None"):
        run.save(None)
    with pytest.raises(bc.ModelError, match="seed=-1 must be a whole number of at least 0"):
        bc.check(pendulum(), seed=-1)


def test_numpy_numbers_are_numbers(sim):
    assert len(sim.simulate(output_every=np.int64(10))) == 11


# ---- what is accepted


def test_three_components_are_a_vector_along_the_inertial_axes():
    def falling(direction):
        s = bc.System("stone", units="mks")
        stone = s.add_body("stone", translate=(1, 2, 3), mass=2)
        s.add_gravity(direction=direction)
        s.add_force("wind", magnitude=3, direction=("3/5", 0, "4/5"), at=stone.origin)
        return s.equations().compile(backend="python").derivatives(0, [0] * 3, [0] * 3)[1]

    np.testing.assert_allclose(falling((0, 0, -2)), [0.9, 0, 1.2 - 9.80665], rtol=1e-14)
    np.testing.assert_allclose(falling(np.array([0.0, 1.0, 0.0])), [0.9, 9.80665, 1.2], rtol=1e-14)


def test_a_whole_state_is_an_initial_value(sim):
    state = sim.assemble({"q(rod)": 0.5, "u(rod)": -1.0})
    q, u = state
    by_name = sim.simulate(initial={"q(rod)": 0.5, "u(rod)": -1.0})
    for given in (state, (q, u)):
        assert sim.simulate(initial=given)["q(rod)"].tolist() == by_name["q(rod)"].tolist()


def test_a_state_has_names_and_units():
    for units, length in (("mks", "m"), ("mm-tonne", "mm")):
        s = bc.System("machine", units=units)
        s.add_point_mass("mass", translate=1, mass=1)
        sim = s.equations().compile(backend="python")
        state = sim.assemble({"q(mass)": 0.5, "u(mass)": 2})
        assert isinstance(state, bc.State) and state.units == {
            "q(mass)": length,
            "u(mass)": f"{length}/s",
        }
        assert dict(state) == {"q(mass)": 0.5, "u(mass)": 2.0} and state["Q( mass )"] == 0.5
        assert np.asarray(state).tolist() == [*state.q, *state.u] == [0.5, 2.0]
        assert sim.rhs()(0, state).tolist() == np.concatenate(sim.derivatives(0, *state)).tolist()
        assert repr(state) == f"State(q(mass) = 0.5 {length}, u(mass) = 2 {length}/s)"
        assert repr(pickle.loads(pickle.dumps(state))) == repr(state)
        with pytest.raises(KeyError, match=r"no state 'q\(mas\)'. Did you mean 'q\(mass\)'"):
            state["q(mas)"]


# ---- values that no machine has


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"bm": -1}, r"the mass of body 'b' is negative: bm = -1"),
        (
            {"bi33": -2},
            r"the inertia of body 'b' is not physical: its smallest principal value is -2",
        ),
    ],
)
def test_negative_mass_as_a_parameter_of_a_run(parameters, message):
    s = bc.System("swing", units="mks")
    b = s.add_body("b", rotate=3, cm=(1, 0, 0))
    s.add_gravity(direction=(0, -1, 0))
    s.add_moment("m", magnitude=1, direction=b[3], on=b)
    s.set_defaults(bm=2, bi11=1, bi22=1, bi33=1, bi12=0, bi13=0, bi23=0)
    sim = s.equations().compile(backend="python")
    assert sim.simulate().ended == "finished"
    with pytest.raises(bc.ModelError, match=message):
        sim.simulate(parameters=parameters)
