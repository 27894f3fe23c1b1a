"""A complete simulation program, written by Bellcrank.

It reads parameters, initial values and inputs from a parameter file, writes an echo of all of them that is itself a
parameter file, runs, and writes every channel over time. `--help` lists the options. It needs Python and NumPy.
settings.py tells the model and its defaults, model.py holds the equations of motion, routines.py tables and external
routines. Files are in the units named there; equations use rad and consistent units; `factor` leads from the one to the
other.
"""

import argparse
import csv
import math
import os
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))  # python -I does not look beside the program

import choosing
import model
import settings
from numeric.branch import NotClosed
from numeric.course import Course
from numeric.events import Watch
from numeric.integrate import advance_by
from numeric.methods import METHODS, OWN, one_of
from numeric.tuning import BRIDGES, CONTROL, INPUTS, PLANS
from routines import ROUTINES
from signals import KINDS
from tables import Spline, set_live

FINE, ENDED_EARLY, INTERRUPTED = 0, 4, 130  # exit codes; problems end with 1


class Quantity:
    """A parameter or a state: value in its unit, of which one is `factor` equation units."""

    def __init__(self, keyword, unit, label, factor, value, given):
        self.keyword, self.unit, self.label, self.factor = keyword, unit, label, factor
        self.value, self.given = value, given


class Signal:
    """An input over time, in its unit: kind and numbers, or points and cubic pieces; kind "" while none is given."""

    def __init__(self, keyword, unit, label, factor, kind, numbers):
        self.keyword, self.unit, self.label, self.factor = keyword, unit, label, factor
        self.kind, self.numbers, self.file, self.straight = kind, numbers, "", False
        self.points, self.pieces = np.empty(0), np.empty((0, 4))


PARAMETERS = [Quantity(*row) for row in settings.PARAMETERS]
STATES = [Quantity(*row) for row in settings.STATES]
SIGNALS = [Signal(*row) for row in settings.SIGNALS]
ENTERED = [Quantity(*row) for row in settings.ENTERED]
ECHOED = [Quantity(*row) for row in settings.ECHOED]
N_Q, STEM, UNIT = settings.N_Q, settings.STEM, settings.UNIT
KEPT = [0.0] * settings.KEPT  # values of external routines that are kept over a run or a step: they follow the inputs


KNOWN = one_of((*METHODS, *OWN))  # methods


class Settings:
    title, t_end, step, every, method = settings.RUN
    tolerances = choosing.Tolerances()


problems = []


def problem(place, text):
    """What goes wrong is collected and told before anything runs."""
    problems.append(f"{place}: {text}" if place else text)


def stop_if_problems():
    """Ends the program if anything is wrong."""
    if problems:
        sys.exit("\n".join(f"{STEM}: {p}" for p in problems))
