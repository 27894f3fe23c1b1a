"""Braking on a split road: what is judged is braking with one side on the slippery one."""

import bellcrank as bc


def test_split_mu_ends_where_a_wheel_leaves_the_slippery_side():
    car = bc.vehicles.Car.read("passenger")
    split = bc.vehicles.manoeuvres.run(car, "split-mu")
    (note,) = [n for n in split.notes if "leaves the slippery side" in n]
    assert f"{split.run.time[-1]:.3g} s" in note and split.run["ground_speed"][-1] > 2
    half_track = car.metrics["track_front"] / 2
    assert 0 < split.run["y"][-1] < half_track
    even = bc.vehicles.manoeuvres.run(car, "split-mu", high=0.3, low=0.3)
    assert not any("leaves" in n for n in even.notes) and even.run["ground_speed"][-1] < 1.1
