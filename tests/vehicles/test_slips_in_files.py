"""Random single slips of the pen in the files that ship are reported, by an error or a remark."""

import pytest

from tests.vehicles import slips_in_files

SEED = 7


def test_random_slips_in_the_car_and_the_tyres_are_reported(tmp_path):
    car = slips_in_files.report_car_slips(30, SEED, tmp_path)
    tyres = slips_in_files.report_tyre_slips(70, SEED, tmp_path)
    print(f"car: {car}\ntyres: {tyres}")
    assert car.counted + tyres.counted == 100
    assert len(car.missed) + len(tyres.missed) <= 10, (str(car), str(tyres))


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(3))
def test_hundred_random_slips_of_each_kind_of_file_are_reported(seed, tmp_path):
    car = slips_in_files.report_car_slips(100, seed, tmp_path)
    tyres = slips_in_files.report_tyre_slips(100, seed, tmp_path)
    print(f"car: {car}\ntyres: {tyres}")
    assert car.share >= 0.9, str(car)
    assert tyres.share >= 0.9, str(tyres)
