"""Published values of tyre forces, as columns, and the tyres they belong to."""

import tomllib
from pathlib import Path

import numpy as np

import bellcrank as bc

TYRES = Path(__file__).parents[2] / "examples" / "tyres"
BOOK, PAC = TYRES / "book_205_60R15.tir", TYRES / "pac2002_185_80R14.tir"
DATA = tomllib.loads(Path(__file__).with_name("tyre_tables.toml").read_text("utf-8"))
INPUTS = {
    "Fz": "Fz",
    "kappa": "kappa",
    "alpha": "alpha",
    "gamma": "gamma",
    "pressure": "p",
    "Vx": "V",
    "phit": "phit",
}


def columns(name):
    """The columns of a table by name."""
    table = DATA[name]
    return dict(zip(table["columns"], np.array(table["rows"]).T, strict=True))


def inputs(found):
    """Those columns that `forces` takes."""
    given = {own: found[name] for name, own in INPUTS.items() if name in found}
    return {"kappa": 0.0, "alpha": 0.0, **given}


def book62():
    """The tyre of the book with made-up coefficients of 6.2."""
    book = bc.vehicles.tyres.MagicFormula.read(BOOK)
    return bc.vehicles.tyres.MagicFormula({**book.coefficients, **DATA["mf62_extra"]}, "6.2")


def table_tmeasy():
    """A tyre with the curves of the table at its nominal load: the first along, the others
    across."""
    return bc.vehicles.tyres.TMeasy(
        4000.0, dfx0=(25.0, 25.0), fxm=(0.8, 0.8), fxs=(0.775, 0.775), sxm=(0.11, 0.11), sxs=(0.5, 0.5),
        dfy0=(20.0, 20.0), fym=(0.75, 0.75), fys=(0.6, 0.6), sym=(0.2, 0.2), sys=(0.8, 0.8),
    )  # fmt: skip


def off(value, published):
    """The largest difference over the largest value."""
    return float(np.max(np.abs(value - published)) / np.max(np.abs(published)))
