"""Texts that users read about cars use the words of vehicle dynamics."""

import ast
import re
from pathlib import Path

import pytest

import bellcrank

LIBRARY = Path(bellcrank.__file__).parent / "vehicles"
WRONG = re.compile(
    r"\bway (aside|out|from|until|of|along)|force along(?! its axes)|side[- "
    r"]force|\b(brak|driv|steer)ing moment|moment of the "
    r"(brake|motor|drive|engine)|\blean\b|\bpush of|distance of the (axles|front|rear)|over "
    r"road-wheel|half track over|"
    r"the same of|N s2|\btold\b|\bseats? of the spring|deviation of the .* wheel "
    r"loads|\bbeside\b(?![\"'>])",
)
FILES = sorted(
    p
    for folder in ("cars", "manoeuvres", "partial", "terrain", ".")
    for p in (LIBRARY / folder).glob("*.py")
)


def texts(path):
    """Strings of a file that are no docstrings, with the constant parts of f-strings joined."""
    tree = ast.parse(path.read_text())
    docs = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    parts = {id(v) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for v in n.values}
    for n in ast.walk(tree):
        if isinstance(n, ast.JoinedStr):
            yield (
                n.lineno,
                "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in n.values),
            )
        elif isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in docs | parts:
            yield n.lineno, n.value


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_texts_use_the_words_of_vehicle_dynamics(path):
    assert [(line, text) for line, text in texts(path) if WRONG.search(text)] == []
