"""Names that a user typed: which of the known names is meant.

Names of a model are case-sensitive. Whoever looks one up may omit or add blanks, and may write
capitals otherwise where only one name can be meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from bellcrank.core.errors import ModelError

T = TypeVar("T")
_CALL = re.compile(r"\s*([a-z_]+)\s*\(\s*([^(),]+?)\s*(?:,\s*([^(),]+?)\s*)?\)\s*")


def name_text(name: Any) -> str:
    """A symbol stands for its name."""
    return name.name if hasattr(name, "name") else str(name)


def normalized_name(name: Any) -> str:
    """The one way in which names are compared: without blanks."""
    return "".join(name_text(name).split())


def find_name(name: Any, candidates: Iterable[str], kind: str = "name") -> str | None:
    """The known name that is equal but for blanks, else the only one that is equal but for blanks
    and capitals; None if there is none. Several are an error."""
    listed, key = list(candidates), normalized_name(name)
    exact = next((x for x in listed if normalized_name(x) == key), None)
    if exact is not None:
        return exact
    folded = key.lower()
    return require_unique([x for x in listed if normalized_name(x).lower() == folded], name, kind)


def require_unique(matches: list[str], name: Any, kind: str) -> str | None:
    """The one name that was found; several, which differ by capitals, are an error."""
    if len(matches) > 1:
        listed = " and ".join(f"'{x}'" for x in matches)
        raise ModelError(
            f"{kind} '{name_text(name)}' may be {listed}: names are case-sensitive, write "
            f"one of them"
        )
    return matches[0] if matches else None


def make_names_unique(names: Sequence[str]) -> list[str]:
    """Names of which each occurs once: the second "a" is "a (2)"."""
    earlier_counts = [names[:i].count(name) for i, name in enumerate(names)]
    return [
        f"{name} ({k + 1})" if k else name for name, k in zip(names, earlier_counts, strict=True)
    ]


def one_each(values: Mapping[Any, T], keys: Mapping[Any, str], label: str) -> dict[str, T]:
    """What is given by the key of each name; two names of one thing are an error."""
    values_by_key: dict[str, T] = {}
    names: dict[str, Any] = {}
    for name, value in values.items():
        key = keys[name]
        if key in values_by_key:
            pair = f"'{name_text(names[key])}' and '{name_text(name)}'"
            raise ModelError(f"{label}: {pair} are the same ({key}); give one of them")
        values_by_key[key], names[key] = value, name
    return values_by_key


def routine_name(name: str) -> str:
    """The name of a routine in its own source, where users call it as they like; in ours a word
    stands before it."""
    return re.sub(r"[^A-Za-z0-9_]+", "_", name).rstrip("_")


def parse_call_text(text: str) -> tuple[str, tuple[str, ...]] | None:
    """The word and the numbers, still text, of uniform(1, 2); None if it is not like that. Nothing
    is executed."""
    match = _CALL.fullmatch(text)
    return (
        None if match is None else (match[1], tuple(x for x in match.groups()[1:] if x is not None))
    )
