"""What pages say that their code prints, compared with what it prints."""

import re

import pytest

NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?")


def matches(printed: str, shown: str) -> None:
    """The same words; numbers to the digits that are shown, as compilers differ in the last."""
    assert NUMBER.sub("#", printed).split() == NUMBER.sub("#", shown).split()
    expected = [float(x) for x in NUMBER.findall(shown)]
    assert [float(x) for x in NUMBER.findall(printed)] == pytest.approx(
        expected, rel=2e-3, abs=2e-3
    )
