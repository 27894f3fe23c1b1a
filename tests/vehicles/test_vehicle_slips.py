"""Small slips around vehicle files and their tables."""

import shutil
from pathlib import Path

import numpy as np

import bellcrank as bc

TYRE = Path("examples/tyres/book_205_60R15.tir").resolve()


def test_files_of_changes_start_in_the_working_folder(tmp_path, monkeypatch):
    """Whatever folder the car file is in; other files stay where they were."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(TYRE, "my.tir")
    change = {"tyre": {"file": "my.tir", **dict.fromkeys(OLD_KEYS)}}
    car = bc.vehicles.Car.read("passenger").changed(front=change)
    monkeypatch.chdir(tmp_path.parent)
    again = car.changed(body={"mass": "1300 kg"})  # the file stays known
    assert again.given["front"]["tyre"]["file"] == str(tmp_path / "my.tir")


OLD_KEYS = tuple(bc.vehicles.Car.read("passenger").given["front"]["tyre"])


def test_no_wobble_of_wheels():
    """Oscillations of tyres and wheels are far above 20 Hz."""
    bicycle = bc.vehicles.Motorcycle.read("bicycle")
    modes = bicycle.modes(np.array([5.0, 8.0]))
    found = np.abs(modes.named["wobble"].imag) / (2 * np.pi)
    assert not (found > 20).any()


def test_car_check_names_the_air():
    detail = bc.vehicles.Car.read("passenger").metrics.details["air_density"]
    assert (detail.value, detail.unit) == (1.206, "kg/m3")
