"""The hand-led derivation: Kane's method step by step, on the same algebra and with the same later
stages."""

from bellcrank.kane import euler
from bellcrank.kane.derivation import Derivation
from bellcrank.kane.dynamics import Body
from bellcrank.kane.frames import DirectionCosines, Frame
from bellcrank.kane.linearized_equations import Linear
from bellcrank.kane.missing_quantities import MissingError
from bellcrank.kane.motion import Point

__all__ = [
    "Body",
    "Derivation",
    "DirectionCosines",
    "Frame",
    "Linear",
    "MissingError",
    "Point",
    "euler",
]


def __dir__() -> list[str]:
    return sorted(__all__)
