"""Spacecraft with a flexible boom, small motions: that of `spacecraft_1.py` with eight small
degrees of freedom, of bus and boom.

Sayers (1990), section 9.4. Clock and camera still turn through large angles.
"""

from pathlib import Path
from runpy import run_path


def model():
    """The same description, derived with small variables."""
    return run_path(str(Path(__file__).with_name("spacecraft_1.py")))["model"](small=True)


if __name__ == "__main__":
    print(model().equations().summary())
