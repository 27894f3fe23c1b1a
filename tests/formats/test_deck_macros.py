"""Every macro and keyword of Sayers (1990), Appendix A, with its default, and what is rejected."""

from pathlib import Path

import numpy as np
import pytest
from deck_cases import deck, quiet, system

import bellcrank as bc
from bellcrank.cli.main import main
from bellcrank.formats.decks.macros import MACROS
from bellcrank.simulation.backend.compiler import find_compiler
from bellcrank.simulation.backend.fortran_functions import find_fortran_compiler

DOCS = Path(__file__).parents[2] / "docs"
BODY = "(add-body b :body-rotation-axes 3 :cm-coordinates #(l 0 0))"
PAIR = (
    BODY + "(add-body c :parent b :body-rotation-axes 3 :joint-coordinates #(h 0 0) "
    ":cm-coordinates #(e 0 0))"
)


def calls(text, method):
    """Arguments of all calls of a method that a deck makes."""
    return [(call.args, dict(call.options)) for call in deck(text).calls if call.method == method]


def last(text, method):
    return calls(text, method)[-1]


# ---- add-body


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ("", {}),
        (":parent n", {}),
        (":parent a", {"parent": "a"}),
        (':name "a  long\n name"', {"label": "a long name"}),
        (':name "Bus"', {"label": "bus"}),
        (':name "ABS unit"', {"label": "ABS unit"}),
        (":mass 0", {"mass": 0}),
        (":mass mw", {"mass": "mw"}),
        (':mass !"2*M"', {"mass": "2*m"}),
        (":inertia-matrix 0", {"inertia": 0}),
        (":inertia-matrix #(ia 0 ib)", {"inertia": ("ia", 0, "ib")}),
        (
            ":inertia-matrix #2a((a 0 d) (0 b 0) (d 0 c))",
            {"inertia": (("a", 0, "d"), (0, "b", 0), ("d", 0, "c"))},
        ),
        (':joint-coordinates #(!"-L" 0 H)', {"joint_at": ("-l", 0, "h")}),
        (":cm-coordinates #(1 2.5 0)", {"cm": (1, 2.5, 0)}),
        (":translate 2", {"translate": (2,)}),
        (":translate (1 2)", {"translate": (1, 2)}),
        (":translate (#(0 1 1) 1)", {"translate": ((0, 1, 1), 1)}),
        (":translate nil", {}),
        (":body-rotation-axes 3", {"rotate": 3}),
        (":body-rotation-axes (3 2 1)", {"rotate": (3, 2, 1)}),
        (":parent-rotation-axis 2", {"rotate": 2}),
        (":parent-rotation-axis 1 :body-rotation-axes 1", {"rotate": 1}),
        (":parent-rotation-axis 2 :body-rotation-axes 1", {"rotate": 1, "rotation_axis": 2}),
        (
            ':parent-rotation-axis #(!"cos(th)" 0 !"sin(th)") :body-rotation-axes 1',
            {"rotate": 1, "rotation_axis": ("cos(th)", 0, "sin(th)")},
        ),
        (":body-rotation-axes 1 :reference-axis 3", {"rotate": 1, "reference_axis": 3}),
        (
            ":body-rotation-axes 1 :reference-axis #(0 1 1)",
            {"rotate": 1, "reference_axis": (0, 1, 1)},
        ),
        (":body-rotation-axes 3 :small-angles t", {"rotate": 3, "small_angles": True}),
        (":body-rotation-axes 3 :small-angles (t)", {"rotate": 3, "small_angles": True}),
        (
            ":body-rotation-axes (1 2 3) :small-angles (t nil t)",
            {"rotate": (1, 2, 3), "small_angles": (True, False, True)},
        ),
        (
            ":translate (1 2) :small-translations (nil t)",
            {"translate": (1, 2), "small_translations": (False, True)},
        ),
        (":translate 1 :small-translations nil", {"translate": (1,)}),
    ],
)
def test_add_body(given, options):
    text = f"(add-body a :body-rotation-axes 3)(add-body b {given})"
    assert last(text, "add_body") == (("b",), options)


def test_coordinates_of_another_body_in_the_nominal_state():
    """Table 9.3.1: coordinates of the four-bar linkage in N, and what they are in the bodies."""
    text = """(add-body a :body-rotation-axes 3)
      (add-body b :parent a :body-rotation-axes 3 :joint-coordinates #(L1 0 0) :cm-coordinates #(L1 L3 0) :coordinate-system n)
      (add-point bp :body b :coordinates #(L1 L4 0) :coordinate-system n)
      (add-out !"dot(pos(bcm, b0), [b1])" "x")(add-out !"dot(pos(bcm, b0), [b2])" "y")(add-out !"dot(pos(bp, b0), [b2])" "z")
      (set-defaults l1 .5 l3 .2 l4 .3)"""
    values = quiet(lambda: outputs(system(text), [0.7, -0.4]))
    assert (values["x"], values["y"], values["z"]) == pytest.approx((0.0, 0.2, 0.3), abs=1e-15)


def outputs(s, q, u=None):
    sim = s.equations(optimise="none").compile(backend="python")
    return sim.outputs(0.0, q, np.zeros(len(sim.interface.speeds)) if u is None else u)


def test_directions_are_turned_into_the_parent():
    """An axis of N, for a body whose parent is turned by a right angle about axis 3 in the nominal
    state."""
    turned = "(add-body a :body-rotation-axes 1 :parent-rotation-axis 2)"
    text = (
        turned
        + "(add-body b :parent a :translate 2 :coordinate-system n :joint-coordinates #(0 0 0))"
    )
    parent_axis = last(text, "add_body")[1]["translate"][0]
    assert parent_axis == (1, 0, 0)


def test_a_joint_that_is_not_given_is_at_the_origin_of_the_parent():
    text = """(add-body a :body-rotation-axes 3 :joint-coordinates #(h 0 0))
      (add-body b :parent a :body-rotation-axes 3 :cm-coordinates #(h l 0) :coordinate-system n)
      (add-out !"dot(pos(bcm, a0), [a1])" "x")(add-out !"dot(pos(bcm, a0), [a2])" "y")(set-defaults h 3 l 2)"""
    values = quiet(lambda: outputs(system(text), [0.0, 0.0]))
    assert (values["x"], values["y"]) == pytest.approx((0.0, 2.0))


def test_masses_and_inertias_get_the_names_of_the_source():
    known = quiet(lambda: system(BODY).equations()).analysis.parameters
    assert {"bm", "bi11", "bi12", "bi13", "bi22", "bi23", "bi33", "l"} == set(known)


# ---- forces, points, constraints


@pytest.mark.parametrize(
    ("form", "method", "args", "options"),
    [
        (
            "(add-line-force f :point1 b0)",
            "add_force",
            ("f",),
            {"magnitude": "f", "direction": "[n3]", "at": "b.origin"},
        ),
        (
            '(add-line-force F :name "push" :direction [B1] :magnitude 3 :point1 bcm '
            ":point2 c0 :no-forcem t)",
            "add_force",
            ("f",),
            {
                "magnitude": 3,
                "direction": "[b1]",
                "at": "b.cm",
                "against": "c.origin",
                "label": "push",
            },
        ),
        (
            '(add-line-force f :direction !"dir([b1] + [n2])" :magnitude !"-k*(xx - xx0) - '
            'd*vv" :point1 bj :x xx :x0 xx0 :v vv)',
            "add_force",
            ("f",),
            {
                "magnitude": "-k*(xx - xx0) - d*vv",
                "direction": "direction([b1] + [n2])",
                "at": "b.joint",
                "dummies": ("xx", "xx0", "vv"),
            },
        ),
        (
            "(add-strut s :point1 c0)",
            "add_strut",
            ("s",),
            {"magnitude": "s", "between": ("c.origin", "o")},
        ),
        (
            '(add-strut s :magnitude !"-k*(x - x0)" :point1 c0 :point2 n0 :name "spring" '
            ":no-forcem nil)",
            "add_strut",
            ("s",),
            {"magnitude": "-k*(x - x0)", "between": ("c.origin", "o"), "label": "spring"},
        ),
        (
            "(add-moment m :body1 b)",
            "add_moment",
            ("m",),
            {"magnitude": "m", "direction": "[n3]", "on": "b"},
        ),
        (
            '(add-moment m :body1 c :body2 b :direction [c1] :magnitude !"q(2)*k" :name '
            '"hinge" :no-forcem t)',
            "add_moment",
            ("m",),
            {
                "magnitude": "q(c)*k",
                "direction": "[c1]",
                "on": "c",
                "against": "b",
                "label": "hinge",
            },
        ),
        ("(add-gravity)", "add_gravity", (), {}),
        (
            '(add-gravity :direction !"-[n2]" :gees 3.7)',
            "add_gravity",
            (),
            {"direction": "-[n2]", "g": 3.7},
        ),
        ("(add-gravity :gees moon)", "add_gravity", (), {"g": "moon"}),
        ("(add-point p)", "add_point", ("p",), {}),
        (
            '(add-point p :body b :coordinates #(l 0 1) :name "tip" :coordinate-system b)',
            "add_point",
            ("p",),
            {"body": "b", "at": ("l", 0, 1), "label": "tip"},
        ),
        (
            "(add-point p :body c :coordinates #(l 0 0) :coordinate-system n)",
            "add_point",
            ("p",),
            {"body": "c", "at": ("l", 0, 0), "coordinates_of": "n"},
        ),
        ('(add-constraint !"u(1) - speed")', "add_constraint", ("u(b) - speed",), {}),
        (
            '(add-constraint !"u(1) - u(2)" :variable !"u(1)")',
            "add_constraint",
            ("u(b) - u(c)",),
            {"eliminate": "u(b)"},
        ),
        (
            '(add-constraint !"q(1) - q(2)" :variable !"q(2)")',
            "add_constraint",
            ("q(b) - q(c)",),
            {"eliminate": "u(c)"},
        ),
        (
            "(no-movement c0 o [n1])",
            "add_loop_joint",
            ("c.origin to o",),
            {"between": ("c.origin", "o"), "directions": ("[n1]",)},
        ),
        (
            '(no-movement c0 o !"[n1]" :confirm t)',
            "add_loop_joint",
            ("c.origin to o",),
            {"between": ("c.origin", "o"), "directions": ("[n1]",)},
        ),
        ('(small l !"u(2)")', "small", ("l", "u(c)"), {}),
        ("(large kb bb)", "large", ("kb", "bb"), {}),
        ('(setf a !"q(1)*k")', "define", ("a", "q(b)*k"), {}),
        ('(add-out !"q(1)" "y")', "add_output", ("y", "q(b)"), {}),
        (
            '(add-out !"dot(rot(b), [n3])" "r" :long-name "Yaw Rate" :gen-name "Spin" :body '
            'b :units !"a/t")',
            "add_output",
            ("r", "dot(rot(b), [n3])"),
            {"label": "Yaw Rate", "generic": "Spin", "body": "b", "units": "A/T"},
        ),
        ('(add-out l "y" :units l)', "add_output", ("y", "l"), {"units": "L"}),
        ("(add-coordinates-to-output)", "add_outputs", ("coordinates",), {}),
        ("(add-speeds-to-output)", "add_outputs", ("speeds",), {}),
        ("(add-forces-to-output)", "add_outputs", ("forces",), {}),
        ("(add-moments-to-output)", "add_outputs", ("moments",), {}),
        (
            "(add-accelerations-to-output)",
            "add_output",
            ("UP(2)", "dxdt(u(c))"),
            {"label": "rate of u(c)"},
        ),
    ],
)
def test_form_becomes_call(form, method, args, options):
    assert last(PAIR + form, method) == (args, options)


def test_accelerations_are_outputs():
    text = (
        BODY
        + "(add-moment m :body1 b)(add-accelerations-to-output)(set-defaults m 6 bi33 1 bm 2 l 1)"
    )
    assert quiet(lambda: outputs(system(text), [0.3]))["UP(1)"] == pytest.approx(
        2.0
    )  # 6/(1 + 2*1**2)


# ---- formulas


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("K*Q(2) +  U(1)**2", "k*q(c) + u(b)**2"),
        ("qp(2) + up(1)", "qp(c) + up(b)"),
        (
            "atan(k) + atan2(k, l) + cos(q(1))*sin(q(2))",
            "atan(k) + atan2(k, l) + cos(q(b))*sin(q(c))",
        ),
        ("nominal(q(1)) + partial(k*q(1), q(1))", "nominal(q(b)) + partial(k*q(b), q(b))"),
        ("angle([n1],[b1],[n3])", "angle([n1],[b1],[n3])"),
        ("mag(cross([n1],[b1]))", "magnitude(cross([n1],[b1]))"),
        ("dot(dplane([b1],[n3]), dir([c1]))", "dot(project([b1],[n3]), direction([c1]))"),
        (
            "dot(dxdt(vel(bcm)), [n1]) + dot(pos(c0, bcmb), [n1])",
            "dot(dxdt(vel(b.cm)), [n1]) + dot(pos(c.origin, b.cm), [n1])",
        ),
        ("dot(vel(p, o), [n1]) + dot(rot(c), [n3])", "dot(vel(p, o), [n1]) + dot(rot(c), [n3])"),
        ("fm(m0)/2", "fm(m0)/2"),
        ("-#a * # a", "-a * a"),
        ("func(sqrt, k)", "sqrt(k)"),
        ("func( tyre , t, q(1) )", "tyre(t, q(b) )"),
        ("gees*k", "g*k"),
        ("1.5d0*k\n  + .5", "1.5d0*k + .5"),
    ],
)
def test_formula_of_an_f_string(given, expected):
    before = '(add-point p :body c :coordinates #(1 0 0))(add-moment m0 :body1 b)(setf a !"q(1)")'
    assert last(f'{PAIR}{before}(add-out !"{given}" "y")', "add_output")[0] == ("y", expected)


def test_a_formula_does_not_shadow_a_parameter_of_its_name():
    text = PAIR + '(setf k !"2*k")(add-out !"#k + k" "y")(set-defaults k 5)'
    assert quiet(lambda: outputs(system(text), [0.0, 0.0]))["y"] == 15.0


def test_values_of_symbols_in_formulas():
    text = (
        PAIR
        + """(setf a -3)(setf e [b1])(setf p k)(setf s "word")(add-out !"dot(#e, [b1])*#a*#p + 2**#a" "y")(set-defaults k 5)"""
    )
    assert quiet(lambda: outputs(system(text), [0.0, 0.0]))["y"] == pytest.approx(-15.0 + 0.125)
    with pytest.raises(bc.ModelError, match="the value of 's' cannot stand in a formula"):
        deck(text + '(add-out !"#s" "z")')


def test_real_units_of_parameters():
    text = (
        PAIR + '(add-moment m :body1 b :magnitude !"k*q(1)")(set-units k "N-mm/deg" l '
        '"mm")(set-defaults k 2 l 500)'
    )
    sim = quiet(lambda: system(text).equations().compile(backend="python"))
    values = dict(
        zip([p.name for p in sim.loaded.program.parameters], sim.parameter_values(), strict=True)
    )
    assert (values["k"], values["l"]) == pytest.approx((2e-3 * 57.29577951308232, 0.5))


def test_a_symbol_may_get_another_formula_later():
    text = (
        PAIR + '(setf a !"k")(add-out !"#a" "x")(setf a !"3*#a")(add-out a "y")(set-defaults k 5)'
    )
    values = quiet(lambda: outputs(system(text), [0.0, 0.0]))
    assert (values["x"], values["y"]) == (5.0, 15.0)


def test_symbols_stand_for_all_kinds_of_values():
    text = """(setf i #(ia ia 0))(setf j i)(setf m0 7)(setf title "a wheel")(setf up [n3])
      (add-body b :body-rotation-axes 3 :inertia-matrix j :mass m0 :name title)(add-moment f :body1 b :direction up)"""
    assert last(text, "add_body")[1] == {
        "label": "a wheel",
        "rotate": 3,
        "mass": 7,
        "inertia": ("ia", "ia", 0),
    }
    assert last(text, "add_moment")[1]["direction"] == "[n3]"


def test_speeds_are_counted_without_those_that_constraints_have_removed():
    """Section 8.1.6 and Table 9.1.5: after the constraint of the car, U(1) is the lateral speed."""
    car = "(add-body b :translate (1 2) :parent-rotation-axis 3)"
    constraint = '(add-constraint !"dot(vel(b0), [b1]) - speed")'
    assert last(car + '(small !"u(1)")' + constraint, "small")[0] == ("u(b, 1)",)
    assert last(car + constraint + '(small !"u(1)" !"u(2)")', "small")[0] == ("u(b, 2)", "u(b, 3)")


def test_coordinates_are_counted_depth_first():
    """Table 9.2.1: children in order of entry, whatever came between."""
    text = (
        "(add-body b :translate (1 2) :parent-rotation-axis 3)(add-body r :parent b "
        ":parent-rotation-axis 2)"
    )
    text += (
        "(add-body f :parent b :parent-rotation-axis 3)(add-body w :parent r "
        ":parent-rotation-axis 1)"
    )
    text += '(add-out !"q(3) + q(4) + q(5) + q(6)" "y")'
    assert last(text, "add_output")[0][1] == "q(b, 3) + q(r) + q(w) + q(f)"


def test_centre_of_mass_is_that_of_the_composite_body():
    """Eq. 8.1.15 and Table 9.2.6: BCM counts the wheels, BCMB does not."""
    text = """(add-body b :translate (1 2) :parent-rotation-axis 3 :cm-coordinates #(c 0 0))
      (add-body w :parent b :parent-rotation-axis 2 :mass mw :inertia-matrix #(it ia it))
      (add-out !"dot(pos(bcm, b0), [b1])" "x")(add-out !"dot(pos(bcmb, b0), [b1])" "y")(set-defaults bm 20 mw 5 c .5)"""
    values = quiet(lambda: outputs(system(text), np.zeros(4)))
    assert values["x"] == pytest.approx(20 * 0.5 / 25) and values["y"] == 0.5


# ---- settings


def test_settings():
    text = (
        BODY
        + """(in-lb)(setf *multibody-system-name* "Example no. 1")
      (set-defaults BM 10 l 1/2 step .01 stopt 5 iprint 3)(set-units l !"L" bm "lbm")(set-name bm "its mass")"""
    )
    s = system(text)
    record = s.description.parameters["bm"]
    assert (s.name, s.description.units) == ("Example no. 1", "in-lb")
    assert (record.value, record.label) == (10, "its mass")
    assert s.description.parameters["l"].value == 0.5
    run = s.description.run
    assert (run.t_end, run.step, run.output_every, run.method) == (5, 0.01, 3, "rk2")


def test_settings_of_the_run_that_are_not_given():
    found = deck(BODY)
    run = found.system().description.run
    assert (run.t_end, run.step, run.output_every, run.method) == (1.0, None, None, "RK45")
    assert [remark.split(" ")[1] for remark in found.remarks] == ["STOPT", "STEP"]


def test_the_last_setting_counts():
    assert (
        system(BODY + "(set-defaults l 1)(set-defaults l 2)").description.parameters["l"].value == 2
    )


@pytest.mark.parametrize(
    ("units", "gees"),
    [("mks", 9.80665), ("in-lb", 386.2), ("ft-lb", 32.174), ("mm-tonne", 9806.65)],
)
@pytest.mark.parametrize("gravity", ["", "(add-gravity)"])
def test_gees_has_the_value_of_the_unit_system(units, gees, gravity):
    text = (
        BODY
        + gravity
        + f'(add-moment m :body1 b :magnitude !"k*gees")({units})(set-defaults k 1 l 1)'
    )
    sim = quiet(lambda: system(text).equations().compile(backend="python"))
    names = [p.name for p in sim.loaded.program.parameters]
    assert sim.parameter_values()[names.index("g")] == gees


def test_gees_and_a_parameter_g_are_two():
    text = (
        BODY + "(add-gravity :direction [n1])(add-moment m :body1 b :magnitude "
        '!"g*q(1)")(set-defaults g 3 l 1)'
    )
    parameters = quiet(lambda: system(text).equations()).analysis.mechanism.description.parameters
    assert parameters["gees"].value == 9.80665 and parameters["g"].value == 3


def test_parameters_without_value_are_one_with_a_warning_each():
    with pytest.warns(bc.ModelWarning) as caught:
        equations = system(BODY + "(add-moment m :body1 b)").equations()
    assert sorted(str(w.message) for w in caught) == [
        f"parameter '{name}' has no value: 1 is used" for name in ("bi33", "bm", "l", "m")
    ]
    assert equations.compile(backend="python").derivatives(0.0, [0.0], [0.0])[1][
        0
    ] == pytest.approx(0.5)


def test_reset_forgets_what_came_before():
    assert [
        c.args
        for c in deck(BODY + "(reset)(add-body z :translate 1)").calls
        if c.method == "add_body"
    ] == [("z",)]


# ---- user functions

CALLS = """(add-body b :body-rotation-axes 3)(add-variables difeqn real a c)(add-subroutine difeqn CMD t !"2*q(1)" a c)
  (add-moment m :body1 b :magnitude !"k*(a + c) + func(tyre, u(1), 3)")(set-defaults k 1 bi33 2)"""


def test_routines_of_a_deck():
    def cmd(t, x):
        return t, x

    def tyre(u, factor):
        return factor * u

    s = system(CALLS, routines={"cmd": cmd, "tyre": tyre})
    _, udot = s.equations().compile(backend="python").derivatives(0.5, [0.25], [1.0])
    assert udot[0] == pytest.approx((0.5 + 2 * 0.25 + 3 * 1.0) / 2)


def test_memory_of_a_routine():
    def tyre(u, factor, memory):
        memory[1] += 1
        return 0.0

    tyre.memory = 2
    s = system(CALLS, routines={"cmd": lambda t, x: (0, 0), "tyre": tyre})
    assert s.description.externals[1].memory == 2
    del tyre.memory
    assert (
        system(CALLS, routines={"cmd": lambda t, x: (0, 0), "tyre": tyre})
        .description.externals[1]
        .memory
        == 16
    )


def test_a_routine_with_other_arguments_is_told():
    with pytest.raises(
        bc.ModelError, match="routine 'cmd' in Python takes 1 arguments, but 2 are given"
    ):
        deck(CALLS, routines={"cmd": lambda t: (0, 0), "tyre": lambda u, f: 0})


@pytest.mark.parametrize("where", ["difeqn", "update", "output", "init", "input", "echo"])
def test_places_of_routines(where):
    s = system(
        f"(add-body b :translate 1)(add-variables {where} real a)(add-subroutine {where} r k a)"
    )
    assert s.description.externals[0].when == {"difeqn": "derivatives"}.get(where, where)
    assert s.description.externals[0].returns == ("a",)


@pytest.mark.parametrize("where", ["difeqn", "input"])
def test_routines_that_set_nothing_are_left_out_and_told(where):
    found = deck(f"(add-body b :translate 1)(add-subroutine {where} r i)")
    assert any(
        "subroutine 'r' sets no variable that add-variables declares" in remark
        for remark in found.remarks
    )


INPUT = """(add-variables input real m l) (add-subroutine input READ_IT k m l)
  (add-body b :body-rotation-axes 3 :mass m :inertia-matrix 0 :cm-coordinates #(l 0 0))
  (add-variables echo real shown) (add-subroutine echo SHOW !"m*q(1)" shown) (set-units shown "N") (set-name shown "a weight")
  (add-moment t :body1 b :magnitude !"-c*q(1)") (set-defaults k 3 c 2 stopt 1 step .01)"""


def test_routines_at_input_and_echo(tmp_path, capsys):
    """A pendulum on a spring: mass 2k and length k/6 come from a routine; frequency root of c / (m
    l^2)."""
    path = tmp_path / "deck.lsp"
    path.write_text(INPUT, encoding="utf-8")
    path.with_suffix(".py").write_text(
        "def read_it(k):\n    return 2 * k, k / 6\n\n\ndef show(x):\n    return 10 * x\n"
    )
    eom = bc.System.read(path).equations()
    assert sorted(eom.parameters) == ["c", "k"]
    run = eom.compile(backend="python").simulate(initial={"q(1)": 0.2})
    np.testing.assert_allclose(
        run["q(b)"], 0.2 * np.cos(np.sqrt(2 / (6 * 0.25)) * run.time), rtol=1e-3
    )
    code = main(
        [
            "run",
            str(path),
            "--initial",
            "q(1)=0.25",
            "--backend",
            "python",
            "--echo",
            str(tmp_path / "x.echo"),
        ]
    )
    lines = (tmp_path / "x.echo").read_text(encoding="utf-8").splitlines()
    assert code == 0
    assert any(line.split()[:4] == ["*", "m", "6.0", "kg"] for line in lines)
    assert any(
        line.split()[:4] == ["*", "shown", "15.0", "N"] and "a weight" in line for line in lines
    )


ROUTINES_C = """#include <math.h>
/* double tyre(double a) { is a comment } */
void cmd(double t, double x, double *returns)
{
    returns[0] = t;
    returns[1] = x;
}

double tyre(double u, double factor, double *memory)
{
    memory[0] = fabs(u);
    return factor*u;
}
"""
ROUTINES_F90 = """
  subroutine cmd(t, x, returns) ! function tyre(a)
    real(dp), intent(in) :: t, x
    real(dp), intent(out) :: returns(2)
    returns = [t, x]
  end subroutine cmd

  function tyre(u, factor, memory) result(v)
    real(dp), intent(in) :: u, factor
    real(dp), intent(inout) :: memory(16)
    real(dp) :: v
    memory(1) = abs(u)
    v = factor*u
  end function tyre
"""


@pytest.mark.parametrize("suffix", [".c", ".f90"])
def test_routines_in_a_file_of_another_language(tmp_path, suffix):
    """The file next to a deck may be in C or Fortran alone; its memory then has the usual size."""
    if find_compiler() is None or (suffix == ".f90" and find_fortran_compiler() is None):
        pytest.skip("there is no compiler for it")
    path = tmp_path / "deck.lsp"
    path.write_text(CALLS, encoding="utf-8")
    path.with_suffix(suffix).write_text(
        ROUTINES_C if suffix == ".c" else ROUTINES_F90, encoding="utf-8"
    )
    s = quiet(bc.System.read, path)
    assert [e.memory for e in s.description.externals] == [None, 16]
    _, udot = s.equations().compile(backend="c").derivatives(0.5, [0.25], [1.0])
    assert udot[0] == pytest.approx((0.5 + 2 * 0.25 + 3 * 1.0) / 2)


def test_a_routine_in_c_with_other_arguments_is_told(tmp_path):
    path = tmp_path / "deck.lsp"
    path.write_text(CALLS, encoding="utf-8")
    path.with_suffix(".c").write_text(
        ROUTINES_C.replace("double t, double x", "double t"), encoding="utf-8"
    )
    with pytest.raises(
        bc.ModelError,
        match="routine 'cmd' in C takes 2 arguments, but 2 and what it returns are given",
    ):
        bc.System.read(path)


def test_variables_that_no_routine_sets_are_inputs():
    text = "(add-body b :translate 1 :mass 2 :inertia-matrix 0)(add-variables difeqn real w)"
    text += (
        "(add-line-force f :point1 b0 :direction [n1] :magnitude w)(set-units w f)(set-name w "
        '"wind")'
    )
    sim = quiet(lambda: system(text).equations().compile(backend="python"))
    assert sim.derivatives(0.0, [0.0], [0.0], inputs={"w": 6.0})[1][0] == 3.0
    assert sim.derived.analysis.mechanism.description.variables[0].label == "wind"


# ---- what is rejected


@pytest.mark.parametrize(
    ("form", "column", "words"),
    [
        ("()", 1, "the form is empty"),
        ('("x")', 2, "a form starts with the name of a macro"),
        ("(add-bdy c)", 2, "unknown macro 'add-bdy'. Did you mean 'add-body'?"),
        ('(load "x.lisp")', 2, "unknown macro 'load'"),
        ('(with-open-file (s "x") (read s))', 2, "unknown macro 'with-open-file'"),
        ("(add-body)", 1, "'symbol' is missing"),
        ("(add-body c 3)", 13, "3 is one argument too many"),
        ("(add-body c :mas 3)", 13, "no keyword :mas. Did you mean ':mass'?"),
        ("(add-body c :mass 1 :mass 2)", 21, ":mass is given twice"),
        ("(add-body c :mass)", 13, ":mass has no value"),
        ("(add-body c :mass :name)", 13, ":mass has no value"),
        ("(add-body b)", 11, "body 'b' exists already"),
        ("(add-body n)", 11, "body 'n' exists already"),
        ('(add-body "c")', 11, "body must be a symbol"),
        ("(add-body c-d)", 11, "a name starts with a letter"),
        ("(add-body c :parent x)", 21, ":parent 'x' does not exist"),
        ("(add-body c :translate 4)", 24, "an axis is 1, 2, 3"),
        ("(add-body c :body-rotation-axes (1 2))", 33, "2 rotations"),
        ("(add-body c :joint-coordinates #(1 2))", 32, "3 components"),
        ("(add-body c :inertia-matrix 3)", 29, ":inertia-matrix must be 0"),
        ("(add-body c :inertia-matrix #2a((1 0 0)))", 29, "3 rows"),
        (
            "(add-body c :body-rotation-axes 1 :small-angles (t t))",
            49,
            "2 values, but the joint has 1",
        ),
        ("(add-body c :body-rotation-axes 1 :small-angles 3)", 49, "holds T and NIL"),
        ("(add-body c :mass x)", 19, "'x' has a meaning of its own"),
        ("(add-point p :body x)", 20, ":body 'x' does not exist"),
        ("(add-moment m :direction 3)", 26, ":direction must be a vector"),
        ("(add-moment m :direction [x1])", 26, "body 'x' does not exist"),
        ("(add-strut s :point1 p)", 22, ":point1 'p' does not exist"),
        ('(add-moment m :magnitude !"k*(q(1)")', 30, "'(' is never closed"),
        ('(add-moment m :magnitude !"k*foo(1)")', 30, "unknown function 'foo'"),
        ('(add-moment m :magnitude !"sin(1, 2)")', 28, "sin() takes 1 argument, 2 given"),
        ('(add-moment m :magnitude !"k*q(2)")', 30, "q(2) does not exist: there are 1"),
        ('(add-moment m :magnitude !"k*q(b)")', 30, "q(i) takes a whole number"),
        ('(add-moment m :magnitude !"#roll")', 28, "nothing has been given to 'roll' with setf"),
        ('(add-moment m :magnitude !"dot(rot(x), [n1])")', 36, "body 'x' does not exist"),
        ('(add-moment m :magnitude !"dot(vel(x), [n1])")', 36, "point 'x' does not exist"),
        ('(add-moment m :magnitude !"fm(x)")', 28, "no force or moment has the name 'x'"),
        ('(add-moment m :magnitude !"func(dot, k)")', 28, "'dot' has a meaning of its own"),
        (
            '(add-moment m :magnitude !"func(f, k) + func(f, k, 1)")',
            41,
            "2 arguments here, 1 before",
        ),
        ("(add-subroutine somewhere s)", 17, "where='somewhere' is not known"),
        ("(add-gravity :gees 1)(add-gravity)", 22, "gravity is given twice"),
        ("(set-defaults k)", 15, "k has no partner"),
        ('(set-defaults k "1")', 17, "must be a number"),
        ("(set-defaults step 0)", 20, "step must be a positive number"),
        ("(set-defaults iprint 1.5)", 22, "whole number"),
        ("(set-defaults step 1e-9 stopt 1e3)", 15, "give 1e+12 steps"),
        ("(set-defaults step 1e-4 stopt 1e3)", 15, "1e+07 of them kept"),
        ("(set-units k (l))", 14, "must be made of L, F, M, T, A"),
        ("(mks 1)", 6, "one argument too many"),
        ("(setf 3 4)", 7, "setf gives a value to a symbol"),
        ("(setf *multibody-system-name* 3)", 31, "must be a string"),
        ("(add-constraint)", 1, "'zero-exp' is missing"),
        ("(no-movement b0)", 1, "'point2' is missing"),
        ('(add-constraint !"u(1)" :variable k)', 35, ":variable must be a coordinate or a speed"),
        ('(add-out !"q(1)")', 1, "'short-name' is missing"),
        ("(small 3)", 8, "small takes symbols"),
    ],
)
def test_mistakes_are_told_with_line_and_column(form, column, words):
    with pytest.raises(bc.ModelError) as error:
        deck(f"(reset)\n{BODY}\n{form}\n", name="x.lsp")
    (problem,) = error.value.problems
    assert problem.startswith(f"x.lsp, line 3, column {column}: "), problem
    assert words in problem


def test_all_mistakes_are_told_together():
    with pytest.raises(bc.ModelError) as error:
        deck('(add-bdy a)\n(add-body b :mas 3)\n(add-moment m :body1 b :magnitude !"foo(1)")')
    assert [p.split(":")[0] for p in error.value.problems] == [
        f"test.lsp, line {i}, column {c}" for i, c in ((1, 2), (2, 13), (3, 37))
    ]


def test_problems_of_the_model_name_the_line_of_the_deck():
    with pytest.raises(
        bc.ModelError,
        match=r"test.lsp, line 2: moment 'm': a scalar is needed here, but this is a vector",
    ):
        quiet(lambda: system(BODY + '\n(add-moment m :body1 b :magnitude !"vel(b0)")').equations())


def test_number_of_bodies_and_forms_is_bounded():
    with pytest.raises(bc.ModelError, match="200 bodies"):
        deck("".join(f"(add-body b{i} :translate 1)" for i in range(201)))
    with pytest.raises(bc.ModelError, match="5000 forms"):
        deck("(mks)" * 5001)


def test_formulas_that_refer_to_each_other_cost_no_more_than_their_number():
    chain = '(setf a0 !"q(1)")' + "".join(
        f'(setf a{i + 1} !"sin(#a{i}) + #a{i}")' for i in range(30)
    )
    text = f'{BODY}{chain}(add-moment m :body1 b :magnitude !"k*#a30")(set-defaults k 1 l 1)'
    assert (
        quiet(lambda: system(text).equations(optimise="none")).operation_count()["function"] == 30
    )


def test_manual_lists_every_macro_and_keyword():
    manual = (DOCS / "decks.md").read_text(encoding="utf-8")
    for macro in MACROS.values():
        assert f"`{macro.name}" in manual
        for keyword in macro.keywords:
            assert f"`:{keyword}`" in manual
