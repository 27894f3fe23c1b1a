"""Translate: a deck to the Python model that makes the same System."""

from __future__ import annotations

import ast
import keyword
import textwrap
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bellcrank.api.system import System
from bellcrank.core.errors import ModelWarning
from bellcrank.formats.decks.deck import UNSET, Deck, SystemCall, parameters_without_value

WIDTH = 100


def translate_to_python(deck: Deck, name: str, routines: Iterable[Path] = ()) -> str:
    """The text of a Python model; `name` is that of the deck's file, `routines` are files of user
    functions."""
    merged_calls = _merge_output_groups([*deck.calls, *_default_value_calls(deck)])
    texts = _source_constants(merged_calls)
    body = [f"s = bc.System({_literal(deck.title)}, units={_literal(deck.units)})"]
    last_group = ""
    for call in merged_calls:
        group = _GROUPS.get(call.method, call.method)
        if last_group and group != last_group:
            body.append("")
        last_group = group
        body.extend(_call_source(call, texts))
    head = [
        f'"""{_docstring_text(deck.title)}.',
        "",
        f"Translated from the AUTOSIM deck {_docstring_text(name)}.",
    ]
    head += (
        ["", *textwrap.wrap("Remarks: " + "; ".join(map(_docstring_text, deck.remarks)), WIDTH)]
        if deck.remarks
        else []
    )
    routine_code = "\n\n\n".join(
        _without_docstring(file.read_text(encoding="utf-8")) for file in routines
    )
    header = "\n".join([*head, '"""', "", "import bellcrank as bc"])
    constants = [f"{name} = {_multiline_literal(text)}" for text, name in texts.items()]
    blocks = [
        *(
            [header, routine_code]
            if routine_code.startswith(("def ", "class ", "@"))
            else [f"{header}\n\n{routine_code}"]
            if routine_code
            else [header]
        ),
        *constants,
        f'def model():\n    """Values are in {deck.units} units."""\n'
        + textwrap.indent("\n".join([*body, "return s"]), "    "),
        'if __name__ == "__main__":\n    print(model().equations().summary())',
    ]
    return "\n\n\n".join(blocks) + "\n"


_GROUPS = {
    "add_point": "add_body",
    "add_loop_joint": "add_constraint",
    "add_strut": "add_force",
    "add_moment": "add_force",
    "add_gravity": "add_force",
    "add_outputs": "add_output",
    "set_units": "set",
    "set_defaults": "set",
    "set_labels": "set",
    "set_run": "set",
}


def _merge_output_groups(deck_calls: list[SystemCall]) -> list[SystemCall]:
    """Groups of outputs that follow each other become one call."""
    merged: list[SystemCall] = []
    for call in deck_calls:
        if merged and call.method == merged[-1].method == "add_outputs":
            merged[-1] = SystemCall("add_outputs", (*merged[-1].args, *call.args))
        else:
            merged.append(call)
    return merged


def _default_value_calls(deck: Deck) -> list[SystemCall]:
    """The values that AUTOSIM gives to parameters without one."""
    system = deck.system()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        missing = parameters_without_value(system, System.equations(system, optimise="none"))
    return (
        [
            SystemCall(
                "set_defaults", (dict.fromkeys(missing, UNSET),), comment="not set in the deck"
            )
        ]
        if missing
        else []
    )


def _source_constants(deck_calls: list[SystemCall]) -> dict[str, str]:
    """Texts of user functions in C and Fortran, and their names in the model."""
    name_of_text: dict[str, str] = {}
    for language in ("c", "fortran"):
        texts = [t for call in deck_calls if (t := call.options.get(language)) is not None]
        distinct = list(dict.fromkeys(texts))
        numbers = [""] if len(distinct) == 1 else [f"_{i}" for i in range(1, len(distinct) + 1)]
        name_of_text |= {
            text: f"{language.upper()}_ROUTINES{n}"
            for text, n in zip(distinct, numbers, strict=False)
        }
    return name_of_text


def _multiline_literal(text: str) -> str:
    """A text of several lines as Python."""
    if '"""' in text or text.endswith(('"', "\\")):
        return repr(text)
    return f'r"""{text}"""' if "\\" in text else f'"""\\\n{text}"""'


def _call_source(call: SystemCall, texts: Mapping[str, str]) -> list[str]:
    """A call as Python, in as many lines as it takes."""
    args = [_literal(a) for a in call.args]
    options = dict(call.options)
    if call.method in ("set_defaults", "set_units", "set_labels"):
        (values,) = call.args
        if all(n.isidentifier() and not keyword.iskeyword(n) for n in values):
            args, options = [], dict(values)
    args += [f"{name}={_option_source(name, value, texts)}" for name, value in options.items()]
    comment = [f"# {call.comment}"] if call.comment else []
    flat = f"s.{call.method}({', '.join(args)})"
    if len(flat) <= WIDTH - 4:
        return [*comment, flat]
    if call.method in ("set_defaults", "set_units"):
        rows = textwrap.wrap(
            ", ".join(args), WIDTH - 12, break_on_hyphens=False, break_long_words=False
        )
        rows[-1] += ","
        return [*comment, f"s.{call.method}(", *(f"    {row}" for row in rows), ")  # fmt: skip"]
    return [*comment, f"s.{call.method}(", *(f"    {a}," for a in args), ")"]


def _option_source(name: str, value: Any, texts: Mapping[str, str]) -> str:
    if name in ("c", "fortran"):
        return texts[value]
    return str(value.__name__) if name == "python" else _literal(value)


def _literal(value: Any) -> str:
    """A value as Python text, strings in double quotes."""
    if isinstance(value, str):
        quoted = repr(value)
        return f'"{quoted[1:-1]}"' if quoted.startswith("'") and '"' not in value else quoted
    if isinstance(value, tuple):
        inside = ", ".join(map(_literal, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_literal(k)}: {_literal(v)}" for k, v in value.items()) + "}"
    return repr(value)


def _docstring_text(text: str) -> str:
    """Words that may stand in a docstring."""
    return " ".join(text.replace("\\", "/").replace('"', "'").split())


def _without_docstring(text: str) -> str:
    tree = ast.parse(text)
    first = tree.body[0] if tree.body else None
    lines = text.splitlines()
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        lines = lines[first.end_lineno :]
    return "\n".join(lines).strip()
