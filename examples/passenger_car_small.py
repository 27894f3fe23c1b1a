"""Passenger car with small motions: that of `passenger_car.py`, linear in roll, lateral speed and
yaw rate.

Sayers (1990), section 9.1 and Appendix B. Look at the operation count: a fifth of the full model's,
for responses that differ by 0.2 %.
"""

from pathlib import Path
from runpy import run_path


def model():
    """The same description, derived with small variables."""
    return run_path(str(Path(__file__).with_name("passenger_car.py")))["model"](small=True)


if __name__ == "__main__":
    print(model().equations().summary())
