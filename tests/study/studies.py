"""Small studies for the tests: a mass on a spring whose motion is known, q = cos(sqrt(k) t)."""

import copy
import json
import math
from pathlib import Path

MARKED = Path(__file__).with_name("marked.py")
T_END = 0.5

MASS = {
    "name": "mass",
    "model": {"file": str(MARKED)},
    "run": {"backend": "python"},
    "grid": {"k": [1, 4, 9]},
    "metrics": {
        "end": {"kind": "final", "of": "q(mass)"},
        "fastest": {"kind": "peak", "of": "u(mass)"},
    },
}


def mass(marks=None, pause=0.0, **changes):
    """The study, marking its runs in a file; `changes` replace whole tables."""
    study = copy.deepcopy({**MASS, **changes})
    if marks is not None:
        study["model"]["arguments"] = {"marks": str(marks), "pause": pause}
    return study


def toml(study):
    """The same as the text of a file; JSON's values are TOML's, and every table fits a line."""

    def value(x):
        if isinstance(x, dict):
            return "{ " + ", ".join(f"{json.dumps(k)} = {value(v)}" for k, v in x.items()) + " }"
        return json.dumps(x)

    return "\n".join(f"{key} = {value(x)}" for key, x in study.items()) + "\n"


def started(marks):
    """How often runs were started, by k."""
    counts = {}
    for line in Path(marks).read_text(encoding="utf-8").splitlines():
        k = float(line.split()[0])
        counts[k] = counts.get(k, 0) + 1
    return counts


def end(k):
    return math.cos(math.sqrt(k) * T_END)
