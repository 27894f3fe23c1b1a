"""Names that the model does not have: an error offers the nearest, wherever a run is given one."""

import pytest

import bellcrank as bc
from bellcrank.cli.main import main

MODEL = """
import bellcrank as bc

def model():
    s = bc.System("slide", units="mks")
    b = s.add_body("b", translate=1, mass="mass", inertia=0)
    s.add_input("push", units="F")
    s.add_force("f", magnitude="push - stiffness*x", direction=s.inertial[1], at=b.origin)
    s.set_defaults(mass=2, stiffness=3)
    s.set_run(t_end=0.1, step=0.01, inputs={"push": 1})
    return s
"""


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "slide.py"
    file.write_text(MODEL, encoding="utf-8")
    return file


@pytest.fixture
def sim(path):
    return bc.System.read(path).equations().compile(backend="python")


WRONG = {
    "parameters": ({"stifness": 4.0}, "has no such parameter. Did you mean 'stiffness'"),
    "inputs": ({"pusch": 4.0}, "has no such input. Did you mean 'push'"),
    "initial": ({"q(c)": 4.0}, r"no such coordinate or speed. Did you mean 'q\(b\)'"),
}


AT = (0.0, [0.0], [0.0])
CALLS = [
    *(("simulate", (), what) for what in WRONG),
    *(
        (call, AT, what)
        for call in ("derivatives", "outputs", "echo")
        for what in ("parameters", "inputs")
    ),
    *(("equilibrium", (), what) for what in ("parameters", "inputs")),
    ("linearize", (), "parameters"),
]


@pytest.mark.parametrize(("call", "arguments", "what"), CALLS)
def test_a_mistyped_name_is_an_error_that_offers_the_nearest(sim, call, arguments, what):
    given, told = WRONG[what]
    with pytest.raises(bc.ModelError, match=told):
        getattr(sim, call)(*arguments, **{what: given})


def test_a_mistyped_state_to_complete(sim):
    with pytest.raises(bc.ModelError, match=WRONG["initial"][1]):
        sim.assemble({"q(c)": 4.0})


def test_all_wrong_names_are_told_at_once(sim):
    with pytest.raises(bc.ModelError) as caught:
        sim.simulate(parameters={"stifness": 1.0, "mas": 2.0, "push": 3.0, "mass": 4.0})
    assert len(caught.value.problems) == 3
    assert "'push': ...}: it is an input of the model, not a parameter" in str(caught.value)
    assert "Parameters: mass, stiffness." in str(caught.value)


def test_names_ignore_case_and_blanks_and_may_be_symbols(sim):
    run = sim.simulate(
        parameters={"STIFFNESS": 5.0, " mass ": 1.0}, inputs={"Push": 2.0}, initial={"Q( B )": 0.1}
    )
    assert run["q(b)"][0] == 0.1 and run["push"][0] == 2.0


@pytest.mark.parametrize(
    ("method", "value", "what"),
    [
        ("set_defaults", 4.0, "a value"),
        ("set_units", "F/L", "a unit"),
        ("set_labels", "words", "a label"),
    ],
)
def test_what_is_told_of_a_name_that_no_formula_holds(path, method, value, what):
    s = bc.System.read(path)
    getattr(s, method)(stifness=value)
    with pytest.warns(
        bc.ModelWarning,
        match=f"{what} is given for 'stifness', which is not used in any formula.*Did you mean "
        f"'stiffness'",
    ):
        s.equations()


def test_a_sign_required_of_an_unknown_name(path):
    s = bc.System.read(path)
    s.require_positive("stifness")
    with pytest.warns(bc.ModelWarning, match="a sign is given for 'stifness'"):
        s.equations()


def test_what_is_declared_may_stay_unused_with_a_warning(path):
    s = bc.System.read(path)
    s.add_parameter("reserve", 3.0)
    eom = s.equations()
    with pytest.warns(
        bc.ModelWarning, match="a value is given for 'reserve', but the model does not use it"
    ):
        sim = eom.compile(backend="python")
    with pytest.warns(
        bc.ModelWarning, match="'reserve': ...}: the model does not use this parameter"
    ):
        sim.simulate(parameters={"reserve": 4.0})


def test_units_and_labels_of_other_names_are_no_mistakes():
    """Values of user functions, parameters of definitions and of routines that nothing uses,
    inertia of a slider."""
    s = bc.System("m", units="mks")
    b = s.add_body("b", translate=1)
    s.add_external(
        "drive", arguments=("k*t", "idle"), returns=("force", "spare"), python=lambda t, i: (t, i)
    )
    s.add_external("never", arguments=("other",), returns=("nothing",), python=lambda x: x)
    s.define("twice", "2*alone")
    s.add_force("f", magnitude="force", direction=s.inertial[1], at=b.origin)
    s.set_labels(force="driving force", spare="not needed", nothing="nor this")
    s.set_units(force="F")
    s.set_defaults(bm=1, bi11=2, k=3, idle=4, alone=5, other=6, g=9.8)
    eom = s.equations()
    assert set(eom.parameters) == {"bm", "k", "idle"}


def test_wrong_names_of_set_run(path):
    s = bc.System.read(path)
    s.set_run(inputs={"pusch": 2.0})
    with pytest.raises(bc.ModelError, match=r"has no such input. Did you mean 'push'"):
        s.equations().compile(backend="python").simulate()


@pytest.mark.parametrize(
    "command",
    ["run", "analyse", *(pytest.param(c, marks=pytest.mark.campaign) for c in ("check", "report"))],
)
def test_wrong_names_on_the_command_line(path, command, capsys, monkeypatch):
    monkeypatch.chdir(path.parent)
    code = main(
        [command, str(path), "--set", "stifness=4", *(["--modes"] if command == "analyse" else [])]
    )
    told = capsys.readouterr().err
    assert (
        code != 0
        and "no such parameter. Did you mean 'stiffness'" in told
        and "Traceback" not in told
    )


def test_a_parameter_file_names_what_has_no_effect(tmp_path):
    s = bc.System("m", units="mks")
    b = s.add_body("b", translate=1)
    s.add_force("f", magnitude="-k*x", direction=s.inertial[1], at=b.origin)
    s.set_defaults(bm=1, k=3)
    file = tmp_path / "m.par"
    file.write_text("PARSFILE\nk 4\nbi11 2\nEND\n", encoding="utf-8")
    with pytest.warns(
        bc.ModelWarning, match="the model has the parameter 'bi11', but does not depend on it"
    ):
        found = bc.settings_of(s.equations(), file)
    assert found["parameters"] == {"k": 4.0}
    file.write_text("PARSFILE\nkk 4\nEND\n", encoding="utf-8")
    with pytest.raises(bc.RunError, match=r"no keyword is called 'kk'. Did you mean 'k'"):
        bc.settings_of(s.equations(), file)


@pytest.mark.parametrize(
    ("add", "told"),
    [
        (
            lambda s, b: s.add_force("f", magnitude=1, direction="n1", at=b.cm),
            r"the unit vector is written \[n1\]",
        ),
        (
            lambda s, b: s.add_force("f", magnitude=1, direction="b.x", at=b.cm),
            r"the unit vector is written \[b\.x\]",
        ),
        (
            lambda s, b: s.add_force("f", magnitude=1, direction=3, at=b.cm),
            r"axes of the ground are written \[n1\]",
        ),
        (lambda s, b: s.add_gravity("down"), r"axes of the ground are written \[n1\]"),
        (
            lambda s, b: s.add_force("f", magnitude=1, direction="[n1]", at=b),
            "It is a body, with the points 'b.origin'",
        ),
        (
            lambda s, b: s.add_output("x", "dot(pos(b), [n1])"),
            "It is a body, with the points 'b.origin', 'b.cm' and",
        ),
        (
            lambda s, b: s.add_body("c", rotate=3, mass=1, inertia=0.2),
            r"its one moment three times: \(i, i, i\)",
        ),
        (
            lambda s, b: s.add_output("x", "k*q(b)"),
            r"no value is given for 1 parameter: 'k'.* or parameters=\.$",
        ),
        (
            lambda s, b: s.add_output("turn_rate", "u(b)") or s.add_output("x", "2*turn_rat"),
            "no value is given for 1 parameter: 'turn_rat'.* Does 'turn_rat' mean 'turn_rate'?",
        ),
        (
            lambda s, b: s.add_output("x", bc.table([0, 1], [0, 1])("q(b)")),
            r"write 'tab\(q\(b\)\)' in a formula",
        ),
        (
            lambda s, b: s.add_constraint("q(b) - 1"),
            "0 degrees of freedom: 1 constraint equation for 1 speed",
        ),
    ],
)
def test_what_was_meant_is_told(add, told):
    """A name in the wrong place: how a direction, a point or a moment of inertia is written."""
    s = bc.System("m", units="mks")
    b = s.add_body("b", rotate=3, mass=1, inertia=(1, 1, 1))
    with pytest.raises(bc.ModelError, match=told):
        add(s, b)
        s.equations().compile(backend="python").simulate()


def test_a_misspelled_parameter_is_reported_before_a_missing_one():
    s = bc.System("m", units="mks")
    s.add_body("b", rotate=3, mass=1, inertia=(1, 1, 1))
    s.add_output("x", "stiffness*q(b)")
    with pytest.raises(
        bc.ModelError, match=r"parameters=\{'stifness': ...\}: .* Did you mean 'stiffness'"
    ):
        s.equations().compile(backend="python").simulate(parameters={"stifness": 2})


def test_a_warning_of_a_model_points_at_the_line_that_derives_it():
    s = bc.System("m", units="mks")
    s.add_body("b", rotate=3, mass=1, inertia=(0, 0, 1))
    with pytest.warns(
        bc.ModelWarning, match="For planar motion only one of them matters: give it three times"
    ) as told:
        s.equations()
    assert told[0].filename == __file__
