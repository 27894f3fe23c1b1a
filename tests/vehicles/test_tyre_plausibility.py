"""Tyre files are judged by what they produce: each note has the value, what is usual, and the likely
cause."""

import re

import pytest

import bellcrank as bc
from bellcrank.cli.main import main
from bellcrank.vehicles.cars.metrics.handling_metrics import AxleCornering, understeer_gradients
from tests.vehicles.tyre_tables import BOOK, PAC

TEXT = BOOK.read_text("utf-8")


def with_value(key, value, text=TEXT):
    """The file with another value of a key; None removes it."""
    line = "" if value is None else f"{key} = {value}"
    changed, count = re.subn(rf"^{key} = .*$", line, text, flags=re.MULTILINE)
    assert count == 1
    return changed


def in_degrees(text=TEXT):
    return text.replace("'radians'", "'degrees'")


def in_millimetres(text=TEXT):
    return text.replace("'meter'", "'mm'")


def tyre_of(folder, text):
    path = folder / "my.tir"
    path.write_text(text, encoding="utf-8")
    return bc.vehicles.tyres.MagicFormula.read(path)


@pytest.mark.parametrize("path", [BOOK, PAC])
def test_shipped_tyres_have_no_note(path):
    assert bc.vehicles.tyres.MagicFormula.read(path).notes == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            with_value("INFLPRES", 2.2),
            "INFLPRES = 2.2 Pa: usual is 66000 to 660000 Pa with NOMPRES .* in bar instead of Pa",
        ),
        (with_value("INFLPRES", 220), "INFLPRES = 220 Pa.* in kPa instead of Pa"),
        (with_value("INFLPRES", 32), "INFLPRES = 32 Pa.* in psi instead of Pa"),
        (with_value("PDY1", 8.785), "friction across, muy is 8.8.*; usual is 0.3 to 2.5.* PDY1"),
        (with_value("LMUX", 0.1), "friction along, mux is 0.1.*; usual is 0.3 to 2.5.* LMUX"),
        (with_value("PKY1", -153.24), "-Kya/Fz is 133.4 1/rad; usual is 5 to 60.* PKY1 = -153.2"),
        (with_value("PKX1", 2.1687), "PKX1 = 2.1687: usual is 5 to 100.*21.69 would be usual"),
        (with_value("PVY1", 1), "side force over load at zero slip, Fy/Fz is 1.04.* PVY1 = 1"),
        (with_value("PHY1", 0.1), "side force over load at zero slip, Fy/Fz is -0.90.* PHY1 = 0.1"),
        (with_value("PHX1", 0.02), "longitudinal force over load at zero slip, Fx/Fz is 0.4.* PHX"),
        (with_value("PCY1", 0.13), "largest side force over friction and load is 0.19.* PCY1"),
        (with_value("QDZ1", -0.09068), "pneumatic trail over radius is -0.*; usual is 0.01 to 0.5"),
        (with_value("QSX3", -0.013948), "overturning moment over side force and radius is -0.0"),
        (in_degrees(), "ALPMAX = 0.0167.* rad: usual is 0.05.* Are degrees declared for a number"),
        (with_value("ALPMAX", 55), "ALPMAX = 55 rad.* Is it in degrees instead of rad"),
        (in_millimetres(), "UNLOADED_RADIUS = 0.0003135 m: .* Are mm declared for a number in m"),
        (with_value("UNLOADED_RADIUS", 313), "= 313 m: usual is 0.1 to 1 m. Is it in mm instead"),
        (with_value("VERTICAL_STIFFNESS", 209.651), "in N/mm instead of N/m"),
        (with_value("VERTICAL_STIFFNESS", 2.1e6), "deflection over radius .* usual is 0.03 to 0.2"),
        (with_value("LONGVL", 167), "LONGVL = 167 m/s: usual is 1 to 100 m/s. Is it in km/h"),
        (with_value("RBX1", -13.046), "RBX1 = -13.046: usual is 2 to 80. Is the sign wrong"),
    ],
)
def test_slips_are_noted_with_value_range_and_cause(text, words, tmp_path):
    notes = tyre_of(tmp_path, text).notes
    assert any(re.search(words, note) for note in notes), notes


def test_what_follows_from_one_wrong_number_is_not_repeated(tmp_path):
    notes = tyre_of(tmp_path, with_value("UNLOADED_RADIUS", 313)).notes
    assert not any(note.startswith(("WIDTH", "RIM_RADIUS", "IXX", "YAW")) for note in notes)


@pytest.mark.parametrize("key", ["PCX1", "PDX1", "PKX1", "PCY1", "PDY1", "PKY1"])
def test_coefficients_without_which_there_is_no_force_are_required(key, tmp_path):
    axis = "longitudinal" if "X" in key else "lateral"
    for value, state in ((None, "is missing"), (0, "= 0")):
        with pytest.raises(bc.ModelError, match=f"my.tir: {key} {state}: .*no {axis} force"):
            tyre_of(tmp_path, with_value(key, value))


@pytest.mark.parametrize("key", ["LCX", "LMUX", "LKX", "LCY", "LMUY", "LKY"])
def test_scale_factors_that_take_all_force_are_errors(key, tmp_path):
    with pytest.raises(bc.ModelError, match=f"{key} = 0: this scale factor takes all"):
        tyre_of(tmp_path, with_value(key, 0))


def test_tyre_car_check_and_statics_say_it(tmp_path, capsys):
    path = tmp_path / "my.tir"
    path.write_text(with_value("INFLPRES", 2.2), encoding="utf-8")
    assert main(["tyre", str(path)]) == 0
    assert "note: INFLPRES = 2.2 Pa" in capsys.readouterr().out
    passenger = bc.vehicles.Car.read("passenger")
    wrong = {"tyre": {"size": None, "file": str(path)}}
    said = passenger.changed(front=wrong).check()
    assert any(s.startswith("front.tyre: INFLPRES = 2.2 Pa") and s.endswith("Pa?") for s in said)
    path.write_text(with_value("UNLOADED_RADIUS", 313), encoding="utf-8")
    with pytest.raises(bc.ModelError, match=r"front.tyre: UNLOADED_RADIUS = 313 m.*in mm"):
        passenger.changed(front=wrong).check()


def test_axles_without_cornering_stiffness_have_no_understeer_gradient():
    car = bc.vehicles.Car.read("passenger")
    stiff, none = AxleCornering(0.0, 1e5, 0.03, 1e-6), AxleCornering(-2.7, 0.0, 0.0, 0.0)
    assert none.effective == 0.0
    gradient, by_compliance = understeer_gradients(car.stand, stiff, none)
    assert gradient != gradient and by_compliance > 0
