"""What a step of a derivation needs and has not got: which quantities, and how to give them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bellcrank.errors import ModelError


@dataclass(frozen=True)
class Need:
    """One missing quantity. `kind`: rate, orientation, w, alf, v, a, p, mass, inertia, scalar, connection."""

    kind: str
    first: str
    second: str = ""
    hint: str = ""  # a value that would fit, if one can be told

    @property
    def what(self) -> str:
        a, b = self.first, self.second
        return {
            "rate": f"the time derivative of {a}",
            "orientation": f"the orientation of {b} in {a}",
            "w": f"the angular velocity of {a} in {b}",
            "alf": f"the angular acceleration of {a} in {b}",
            "v": f"the velocity of {a} in {b}",
            "a": f"the acceleration of {a} in {b}",
            "p": f"the position of {b} from {a}",
            "mass": f"the mass of {a}",
            "scalar": f"the quantity {a}",
        }[self.kind]

    @property
    def python(self) -> str:
        """How to give it in Python."""
        a, b = self.first, self.second
        return {
            "rate": f"d.set_rate({a}, ...)",
            "orientation": f"d.rotate({a}, {b}, axis, angle) or d.dircos({a}, {b}, matrix)",
            "w": f"d.set_angular_velocity({a}, {b}, ...)",
            "alf": f"d.set_angular_acceleration({a}, {b}, ...)",
            "v": f"d.set_velocity({a}, {b}, ...), or d.v2pts, d.v1pt, d.velocity_from",
            "a": f"d.set_acceleration({a}, {b}, ...)",
            "p": f"d.set_position({a}, {b}, ...)",
            "mass": f"d.set_mass({a}, ...)",
            "scalar": f"d.constants('{a}'), d.coordinates('{a}') or d.define('{a}', ...)",
        }[self.kind]


class MissingError(ModelError):
    """A step that cannot be taken yet. `needs` says what is missing."""

    def __init__(self, needs: Sequence[Need], task: str = "") -> None:
        self.needs = list(dict.fromkeys(needs))
        self.task = task
        super().__init__(self.words(lambda n: n.python))
        self.args = (needs, task)

    def words(self, how: Callable[[Need], str]) -> str:
        """The message, with a way to give each quantity."""
        head = f"{self.task} needs " if self.task else "not known yet: "
        parts = []
        for n in self.needs:
            hint = f" ({n.hint} would fit what is given)" if n.hint else ""
            parts.append(f"{n.what}: give {how(n)}{hint}")
        return head + ("\n" + " " * 2).join(parts)


def missing(needs: Sequence[Need], task: str = "") -> MissingError:
    return MissingError(needs, task)
