"""Studies of library vehicles: "car" and "truck" take terrain, speed and slip."""

import pytest

import bellcrank as bc

CAR = {"slip": {"longitudinal": 60e3, "cornering": 45e3}, "speed": 10.0}
TRUCK = {
    "slip": [{"kind": "Brush", "longitudinal": 200e3, "cornering": 150e3}] * 2,
    "axles": [2.0, -1.5],
    "driven": [2],
}


def definition(vehicle, arguments, **more):
    return {
        "name": "s",
        "model": {"vehicle": vehicle, "arguments": arguments, "terrain": {"kind": "flat"}},
        "run": {"t_end": 0.1, "step": 0.002, "backend": "python"},
        "inputs": {"steer": {"chirp": {"amplitude": 2.0, "f0": 1.0, "f1": 2.0}}},
        "grid": {"mu_1": [0.5, 1.0]},
        "metrics": {"ay": {"kind": "peak", "of": "ay"}, "v": {"kind": "final", "of": "speed"}},
        **more,
    }


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("vehicle", "arguments"), [("car", CAR), ("truck", {**TRUCK, "speed": 10.0})]
)
def test_a_study_drives_a_vehicle(tmp_path, vehicle, arguments):
    study = definition(vehicle, arguments, grid={"model.speed": [8.0, 12.0]})
    study["run"].pop("backend")
    found = bc.Study.read(study).run(tmp_path / "out", in_process=True)
    assert found["v"] == pytest.approx([8, 12], rel=0.02)
    assert 0 < found["ay"][0] < found["ay"][1]


@pytest.mark.campaign
def test_a_study_of_a_car_is_that_car(tmp_path):
    """The model built from a file is the one built by Python; one run of a gliding car on a
    hill."""
    study = {
        "name": "s",
        "model": {
            "vehicle": "car",
            "arguments": {"mass": 1000},
            "terrain": {"kind": "hill", "height": 0.3},
        },
        "run": {"t_end": 0.004, "step": 0.001},
        "grid": {"track": [1.4]},
        "metrics": {"z": {"kind": "final", "of": "q(chassis, 3)"}},
    }
    found = bc.Study.read(study).run(tmp_path / "out", in_process=True)["z"]
    car = (
        bc.vehicles.car(mass=1000, terrain=bc.vehicles.terrain.hill(height=0.3))
        .equations()
        .compile()
    )
    assert found == [
        car.simulate(t_end=0.004, step=0.001, parameters={"track": 1.4})["q(chassis, 3)"][-1]
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            {"sped": 3},
            r"sped=3 is not known. Did you mean 'speed'\? It takes front, rear, track, mass",
        ),
        ({"axles": [1, -1]}, r"axles=\[1, -1\] is not known"),
        ({"speed": 3}, "without slip tyres glide"),
        ({"slip": 60e3}, r"slip = 60000.0 must be a table such as"),
        ({"slip": {"longitudinl": 3}}, r"takes no 'longitudinl'. Did you mean 'longitudinal'\?"),
        ({"slip": {"kind": "Brsh", "longitudinal": 1}}, r"no slip 'Brsh'. Did you mean 'Brush'\?"),
        ({"slip": {"cornering": 1}}, "slip Slip: missing a required argument: 'longitudinal'"),
        ({**CAR, "slip": [CAR["slip"]] * 3}, "or one for each of the 2 axles"),
    ],
)
def test_what_a_vehicle_does_not_take_is_told(arguments, told):
    with pytest.raises(bc.ModelError, match=told):
        bc.Study.read(definition("car", arguments))
