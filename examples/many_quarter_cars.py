"""A thousand quarter cars: comfort with springs, dampers and loads that scatter; bands over time,
and a table.

python examples/many_quarter_cars.py
"""

from pathlib import Path

import bellcrank as bc


def main():
    sim = bc.System.read(Path(__file__).with_name("quarter_car.py")).equations().compile()
    many = sim.simulate_many(
        n=1000,
        parameters={
            "k": bc.random.normal(16800, 1000),
            "c": bc.random.normal(1000, 120),
            "m_b": bc.random.uniform(260, 400),
        },
        t_end=2,
        step=0.001,
        channels=["az"],
        metrics={"az": ["rms", "max", "percentile(95)"]},
    )
    print(many)
    print(many.to_pandas().drop(columns="ended").describe().round(3))
    many.plot("az", path="many_quarter_cars.png")
    many.save("many_quarter_cars.csv")


if __name__ == "__main__":
    main()
