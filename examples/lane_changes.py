"""A thousand lane changes: set-ups of a car whose anti-roll bars, dampers, toe and driver vary.

python examples/lane_changes.py
"""

import bellcrank as bc

SPEED = 60 / 3.6  # m/s
CORNERS = (
    (49.0, 0.0),
    (92.5, 3.6),
    (102.5, 3.6),
    (144.0, 0.2),
)  # m: where the line leaves a straight, and is on one
AROUND = {
    "k_bar_front": 0.4,
    "k_bar_rear": 0.4,
    "c_front": 0.3,
    "c_rear": 0.3,
    "i_yaw": 0.1,
}  # fraction of each side


def main(n=1000, exact=False):
    driver = bc.vehicles.manoeuvres.Driver(bc.vehicles.manoeuvres.Change(CORNERS), preview=0.5)
    sim = (
        bc.vehicles.Car.read("passenger")
        .system(speed=SPEED, exact=exact, driver=driver)
        .equations()
        .compile()
    )
    usual = {x.name: x.default for x in sim.interface.parameters}
    varied = {
        name: bc.random.uniform((1 - share) * usual[name], (1 + share) * usual[name])
        for name, share in AROUND.items()
    }
    many = sim.simulate_many(
        n,
        parameters={
            **varied,
            "toe_front": bc.random.uniform(-0.1, 0.3),
            "t_driver": bc.random.uniform(0.05, 0.15),
        },
        inputs={"speed_set": SPEED},
        t_end=10.0,
        step=0.001,
        output_every=10,
        metrics={
            "path_error": ["max", "min"],
            "ay": ["max"],
            "roll": ["max"],
            "side_slip": ["max", "min"],
        },
        seed=1,
    )
    print(many)
    for name, x in many.metric_values.items():
        print(
            f"{name:16} {x.min():10.4g} {x.mean():10.4g} {x.max():10.4g} {many.metric_units[name]}"
        )
    return many


if __name__ == "__main__":
    main()
