"""What the tests of decks share: the nine decks, their Python twins, states to compare at."""

import warnings
from functools import cache
from pathlib import Path

import bellcrank as bc
from bellcrank.formats.decks.interpreter import interpret_deck
from bellcrank.formats.decks.reader import read_deck
from tests.models import example

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = (
    "cart",
    "four_bar",
    "passenger_car",
    "passenger_car_small",
    "spacecraft_1",
    "spacecraft_1_small",
    "spacecraft_2",
    "stanford_arm",
    "stanford_arm_controlled",
)
INITIAL = {  # as the runs of the source
    "cart": {"q(f)": 0.25},
    "four_bar": {"q(a)": -0.5},
    "spacecraft_1": {"q(c)": 4.0, "q(d)": -0.5},
    "spacecraft_1_small": {"q(c)": 4.0, "q(d)": -0.5},
    "spacecraft_2": {"u(w, 4)": 0.0017, "u(w, 5)": 0.00017, "u(w, 6)": 0.00017},
    "stanford_arm": {"q(b)": 1.5707963267948966},
    "stanford_arm_controlled": {"q(b)": 1.5707963267948966},
}
SET = {"four_bar": {"d": 100.0}}  # the figure of the source prints 10, its program has 100


def quiet(function, *args, **options):
    """The result of a function whose warnings are expected and tested elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bc.ModelWarning)
        return function(*args, **options)


def deck(text, routines=None, name="test.lsp"):
    """A deck from text."""
    return interpret_deck(read_deck(text, name), routines, name)


def system(text, **options):
    return deck(text, **options).system()


def file_of(name):
    return EXAMPLES / "decks" / f"{name}.lsp"


@cache
def from_deck(name):
    """Equations and simulation of one of the nine decks."""
    equations = quiet(lambda: bc.System.read(file_of(name)).equations())
    return equations, quiet(equations.compile, backend="python")


@cache
def from_python(name):
    """The same of its twin in Python."""
    return example(name), example(name).compile(backend="python")
