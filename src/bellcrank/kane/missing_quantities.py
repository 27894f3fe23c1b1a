"""What a step of a derivation needs and has not got: which quantities, and how to give them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from bellcrank.core.errors import ModelError

Result = TypeVar("Result")
WAYS = {  # kind: what it is, how it is given in Python, how in the AUTOLEV dialect
    "rate": ("the time derivative of {0}", "d.set_rate({0}, ...)", "{0}'=formula"),
    "orientation": (
        "the orientation of {1} in {0}",
        "d.rotate({0}, {1}, axis, angle) or d.dircos({0}, {1}, matrix)",
        "SIMPROT({0},{1},axis,angle) or DIRCOS({0},{1},..)",
    ),
    "w": (
        "the angular velocity of {0} in {1}",
        "d.set_angular_velocity({0}, {1}, ...)",
        "W{0}{1}=vector",
    ),
    "alf": (
        "the angular acceleration of {0} in {1}",
        "d.set_angular_acceleration({0}, {1}, ...)",
        "ALF{0}{1}=DERIV(W{0}{1},T,{1})",
    ),
    "v": (
        "the velocity of {0} in {1}",
        "d.set_velocity({0}, {1}, ...), or d.v2pts, d.v1pt",
        "V{0}{1}=vector or V2PTS({1},frame,point,{0})",
    ),
    "a": (
        "the acceleration of {0} in {1}",
        "d.set_acceleration({0}, {1}, ...)",
        "A{0}{1}=DERIV(V{0}{1},T,{1})",
    ),
    "p": ("the position of {1} from {0}", "d.set_position({0}, {1}, ...)", "P{0}{1}=vector"),
}


@dataclass(frozen=True)
class MissingQuantity:
    """One missing quantity of a kind of `WAYS`."""

    kind: str
    first: str
    second: str = ""
    hint: str = ""  # a value that would fit, if one can be reported

    @property
    def description(self) -> str:
        return WAYS[self.kind][0].format(self.first, self.second)

    def remedy(self, dialect: bool) -> str:
        """How it is given, in Python or in the dialect."""
        names = (self.first, self.second)
        return (
            WAYS[self.kind][2].format(*map(str.upper, names))
            if dialect
            else WAYS[self.kind][1].format(*names)
        )


class MissingError(ModelError):
    """A step that cannot be taken yet.

    Parameters
    ----------
    needs : sequence
        What is missing.
    task : str
        What was asked for.

    Examples
    --------
    >>> from bellcrank.kane import Derivation, MissingError
    >>> d = Derivation("pendulum")
    >>> A = d.body("A")
    >>> try:
    ...     d.velocity(A.cm)
    ... except MissingError as error:
    ...     print(len(error.needs) > 0)
    True
    """

    def __init__(self, needs: Sequence[MissingQuantity], task: str = "") -> None:
        self.needs = list(dict.fromkeys(needs))
        self.task = task
        super().__init__(self.words())
        self.args = (needs, task)

    def words(self, dialect: bool = False) -> str:
        """Write the message, with a way to give each quantity.

        Parameters
        ----------
        dialect : bool, default False
            In the language of AUTOLEV instead of Python?

        Returns
        -------
        str
            The message.
        """
        hints = [f" ({n.hint} would fit what is given)" if n.hint else "" for n in self.needs]
        lines = [
            f"{n.description}: give {n.remedy(dialect)}{hint}"
            for n, hint in zip(self.needs, hints, strict=True)
        ]
        return (f"{self.task} needs " if self.task else "not known yet: ") + "\n  ".join(lines)


def run_steps(steps: Iterable[Callable[[], Result]]) -> tuple[list[Result], list[MissingQuantity]]:
    """What steps give, and what any of them misses."""
    results: list[Result] = []
    missing: list[MissingQuantity] = []
    for step in steps:
        try:
            results.append(step())
        except MissingError as error:
            missing += error.needs
    return results, missing
