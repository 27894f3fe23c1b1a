"""What is handed out cannot change what it came from."""

import copy
import pickle

import numpy as np
import pytest

import bellcrank as bc

LISTS = (
    "mass_matrix",
    "forces",
    "constraint_matrix",
    "constraint_rates",
    "coordinates",
    "speeds",
    "independent_speeds",
    "parameters",
    "inputs",
    "outputs",
    "constraints",
    "notes",
)


def pendulum():
    s = bc.System("pendulum")
    rod = s.add_body("rod", rotate=3, cm=(0, "-l", 0), mass="m", inertia=(0, 0, "j"))
    s.add_input("torque", units="F*L")
    s.add_moment("drive", magnitude="torque", direction=rod.z, on=rod)
    s.add_output("height", "dot(pos(rod.cm), [n2])")
    s.set_defaults(m=1, j=1, l=1)
    s.set_run(inputs={"torque": 1})
    return s


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_equations_are_copies(name):
    equations = pendulum().equations()
    before = str(getattr(equations, name))
    handed_out = getattr(equations, name)
    for row in handed_out:
        if isinstance(row, list):
            row.clear()
    handed_out.append("another")
    assert str(getattr(equations, name)) == before


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_copies_of_systems_share_nothing(duplicate):
    s = pendulum()
    before = pickle.dumps(s.equations().compile(backend="python").parameter_values())
    other = duplicate(s)
    other.set_defaults(l=7.0)
    other.add_parameter("another", 1.0)
    other.add_output("angle", "q(rod)")
    assert pickle.dumps(s.equations().compile(backend="python").parameter_values()) == before
    assert s.equations().outputs == ["height"]
    assert other.equations().outputs == ["height", "angle"]


@pytest.mark.parametrize("way", ["fresh", "pickled", "deep copy"])
def test_samples_of_a_run_cannot_be_changed(way):
    run = pendulum().equations().compile(backend="python").simulate(0.1, step=0.05)
    if way == "pickled":
        run = pickle.loads(pickle.dumps(run))
    if way == "deep copy":
        run = copy.deepcopy(run)
    for name in ("q(rod)", "height", "t"):
        with pytest.raises(ValueError, match="read-only"):
            run[name][0] = 99
        changed = run[name] + 1  # the result of arithmetic is the user's own
        changed[0] = 99
    with pytest.raises(AttributeError, match=r"run\.time cannot be replaced"):
        run.time = None
    with pytest.raises(AttributeError, match=r"run\.channels cannot be replaced"):
        run.channels = {}
    assert np.all(np.diff(run.time) > 0)


def test_names_of_a_state_are_in_it():
    state = pendulum().equations().compile(backend="python").assemble({"q(rod)": 0.5})
    assert "q(rod)" in state and "u( rod )" in state and "Q(ROD)" in state
    assert "q(arm)" not in state and 0.5 not in state and None not in state
    assert state.q in state
    assert all(name in state for name in state.units)
