"""Stanford arm with its controller: that of `stanford_arm.py`, moving from rest to the targets in
ten seconds.

Sayers (1990), section 9.6 and Appendix E.
"""

from pathlib import Path
from runpy import run_path


def model():
    """The same arm with six actuators."""
    return run_path(str(Path(__file__).with_name("stanford_arm.py")))["model"](controlled=True)


if __name__ == "__main__":
    print(model().equations().summary())
