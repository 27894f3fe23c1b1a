"""Kinds of signals that an input may be: value, rate and second rate at a time, and when they are not smooth."""

from collections import namedtuple
from math import @FUNCTIONS@, pi

two_pi = 2 * pi

# names of the numbers, value(rate, t, numbers...), breaks(numbers...), how often it can be differentiated, what must be
# positive
Kind = namedtuple("Kind", "names value breaks smooth positive")


@FORMULAS@

KINDS = {
    @KINDS@
}
