"""Names and units of parameters as the user knows them: Sayers (1990), Tables 9.1.1, 9.2.2 and
9.3.3 and Figure 9.1.8."""

import json
from dataclasses import replace

import pytest
from deck_cases import EXAMPLES, deck, file_of, from_deck, from_python, quiet

import bellcrank as bc
from bellcrank.cli import main
from bellcrank.core.units import unit_system
from bellcrank.mechanics.interface.listing import parameter_rows

# parameter: unit as printed ("?" there for CCOEF1 and CG1, which set-units of Figure 9.1.8 mends),
# label deduced
TABLE_9_1_1 = {
    "CA1": ("lb/deg", "coefficient in term in negative Side force, front axle"),
    "CA2": ("lb/deg", "coefficient in Side force, rear axle"),
    "CAM1": ("in-lb/deg", "coefficient in Aligning moment, front axle"),
    "CAM2": ("in-lb/deg", "coefficient in Aligning moment, rear axle"),
    "CCOEF1": ("-", "coefficient in term in negative Side force, front axle"),
    "CE": ("in", "coordinate of center of mass of the rolling body in dir 1"),
    "CG1": ("lb/deg", "coefficient in term in negative Side force, front axle"),
    "CROLL": ("in-lb-s/d", "coefficient in term in negative roll moment from suspension"),
    "H": ("in", "negative coordinate of center of mass of the rolling body in dir 3"),
    "IPRINT": ("counts", "number of time steps between output printing"),
    "IXX": ("in-lb-s2", "moment of inertia of RB"),
    "IXZ": ("in-lb-s2", "product of inertia of RB"),
    "IYY": ("in-lb-s2", "moment of inertia of RB"),
    "IZZR": ("in-lb-s2", "moment of inertia of RB"),
    "KROLL": ("in-lb/deg", "coefficient in term in negative roll moment from suspension"),
    "KRS2": ("-", "coefficient in term in coefficient in Aligning moment, rear axle"),
    "L": ("in", "coordinate of front axle point in dir 1"),
    "NRBI33": ("in-lb-s2", "moment of inertia of NRB"),
    "NRBM": ("lbm", "mass of nrb"),
    "RBM": ("lbm", "mass of rb"),
    "SPEED": ("in/s", "argument to ATAN in term in coefficient in Aligning moment, rear axle"),
    "STEER": ("deg", "term in coefficient in Aligning moment, front axle"),
    "STEP": ("sec", "simulation time step"),
    "STOPT": ("sec", "simulation stop time"),
    "THETAR": ("deg", "angle in parent-rot axis for RB, coord #3"),
}
FIGURE_9_1_8 = {
    "ca1": "front cornering stiffness",
    "ce": "distance from rear axle to sprung mass c.g.",
    "ccoef1": "prop. of body roll resulting in front wheel camber",
    "croll": "torsional damping rate for the vehicle body in roll",
    "speed": "forward speed",
    "steer": "Steer angle at road",
}


def rows(equations):
    """With labels as parameter files have them."""
    words = {x.name: x.description for x in equations.interface.parameters}
    listed = parameter_rows(equations.interface)
    return {row.name.upper(): replace(row, label=words.get(row.name, row.label)) for row in listed}


def same_unit(shown, printed):
    system = unit_system("in-lb")
    a, b = system.parse_unit(shown), system.parse_unit(printed)
    return a.dimension == b.dimension and a.factor == pytest.approx(b.factor, rel=1e-12)


@pytest.mark.parametrize("source", [from_deck, from_python])
def test_table_of_the_car_has_every_row_with_its_unit(source):
    found = rows(source("passenger_car")[0])
    assert set(found) == {*TABLE_9_1_1, "G"}  # the acceleration of gravity is a parameter here
    for name, (unit, _) in TABLE_9_1_1.items():
        assert same_unit(found[name].unit, unit), name
    for name, label in FIGURE_9_1_8.items():
        assert found[name.upper()].label == label
    assert all(row.label and row.label.lower() != row.name.lower() for row in found.values())
    assert not any("?" in row.unit for row in found.values())


def test_values_of_the_table_in_user_and_equation_units():
    found = rows(from_deck("passenger_car")[0])
    degrees = 57.29577951308232
    assert (found["KROLL"].value, found["KROLL"].equation_value) == pytest.approx(
        (6211, 6211 * degrees)
    )
    assert (found["RBM"].value, found["RBM"].equation_value) == pytest.approx((3831, 3831 / 386.2))
    assert (found["THETAR"].value, found["THETAR"].equation_value) == pytest.approx(
        (5.1, 5.1 / degrees)
    )
    assert [found[name].value for name in ("STEP", "STOPT", "IPRINT", "NRBI33")] == [0.025, 2, 2, 1]


def test_units_and_labels_are_deduced_where_the_deck_gives_none():
    """As in Table 9.1.1, two are undetermined: of CG1 and CCOEF1 only the product is known."""
    text = file_of("passenger_car").read_text(encoding="utf-8")
    start, end = text.index("(set-units"), text.index(";; IZZNR")
    name = text.index("(set-name")
    bare = text[:start] + text[end:name] + text[text.index(";; ---- not shown") :]
    found = rows(quiet(lambda: deck(bare).system().equations(optimise="none")))
    assert {n for n, row in found.items() if row.unit == "?"} == {"CG1", "CCOEF1"}
    for n, (unit, label) in TABLE_9_1_1.items():
        assert n in ("CG1", "CCOEF1") or same_unit(found[n].unit, unit), n
        words = {"mass", "moment", "product", "coordinate", "coefficient"} & set(label.split())
        assert n in ("SPEED", "STEER") or not words or words & set(found[n].label.split()), (
            n,
            found[n].label,
        )
    assert found["SPEED"].label == "speed in constraint #1"
    assert found["STEER"].label == "angle in alphaf"


@pytest.mark.parametrize(
    ("name", "unit", "label"),
    [
        (
            "d",
            "N-s/m",
            "damping coefficient in strut",
        ),  # the source prints N-sec/rad/m and reports it (erratum)
        ("k", "N/m", "stiffness coefficient in strut"),
        ("bi33", "kg-m2", "moment of inertia of b (33)"),
        ("l1", "m", "coordinate of attachment point for b in dir 1"),
        ("l2", "m", "coordinate of strut pt 1 in dir 2"),
        ("l3", "m", "coordinate of center of mass of b in dir 2"),
        ("step", "s", "simulation time step"),
    ],
)
def test_table_of_the_four_bar_linkage(name, unit, label):
    """Table 9.3.3."""
    row = rows(from_deck("four_bar")[0])[name.upper()]
    assert (row.unit, row.label) == (unit, label)


def test_radius_that_only_a_constraint_knows_has_a_unit_and_a_name():
    """Table 9.2.2 prints NIL for the name of R."""
    row = rows(from_deck("cart")[0])["R"]
    assert row.unit == "m" and "constraint" in row.label


@pytest.mark.parametrize("units", ["mks", "in-lb", "ft-lb", "mm-tonne"])
def test_user_units_of_all_systems_describe_one_machine(units):
    """A pendulum of 2 kg, 0.5 m, 3 N m/rad in four unit systems has one frequency."""
    system = unit_system(units)
    si = unit_system("mks")

    def in_user_units(value, dimension):
        kind = system.parse(dimension)
        same = system.parse_unit(si.user_unit(kind.dimension).text)
        return value * same.factor / kind.factor

    s = bc.System("pendulum", units=units)
    b = s.add_body("b", rotate=3, mass="m", inertia=(0, 0, "i"), cm=("l", 0, 0))
    s.add_moment("spring", magnitude="-k*q(b)", direction=b[3], on=b)
    values = {"m": (2.0, "M"), "i": (0.4, "M*L**2"), "l": (0.5, "L"), "k": (3.0, "F*L/A")}
    s.set_defaults({n: in_user_units(v, d) for n, (v, d) in values.items()})
    sim = s.equations().compile(backend="python")
    assert sim.derivatives(0.0, [0.1], [0.0])[1][0] == pytest.approx(
        -3.0 * 0.1 / (0.4 + 2.0 * 0.25), rel=1e-12
    )


def test_describe_command(capsys):
    assert main(["describe", str(EXAMPLES / "passenger_car.py")]) == 0
    out = capsys.readouterr().out
    assert "  kroll                6211 in-lb/deg            355864  torsional spring rate" in out
    assert main(["describe", str(EXAMPLES / "passenger_car.py"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {p["name"] for p in found["parameters"]} >= {"kroll", "step", "stopt", "iprint"}
    assert [s["name"] for s in found["states"]][:2] == ["q(nrb, 1)", "q(nrb, 2)"]
