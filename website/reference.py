"""The reference: a page for each part of the public names, whose text is that of the docstrings.

The names are those of `__init__.pyi`, the members of public folders those of their `__all__`; what
the methods of public classes say that they return is listed behind them.
"""

from __future__ import annotations

import ast
import inspect
import typing
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType, UnionType
from typing import Any

import bellcrank as bc
from bellcrank.symbolic.expr.function_table import CALLED
from website.words import as_markdown

# title of a page, and the modules whose public names stand there; the first that fits
PAGES = {
    "Files": ("loading", "examples", "core.files", "api.model_files"),
    "Systems": ("api.system", "model.describe", "model.joints"),
    "Formulas": ("model.formula", "symbolic.expr"),
    "Equations": ("api.equations",),
    "Simulations": ("api.simulation", "signals", "core.signals"),
    "Runs": ("simulation.run",),
    "Analyses": ("analysis",),
    "Many runs": ("random", "simulation.many"),
    "Metrics": ("metrics", "core.metrics"),
    "Studies": ("study",),
    "Measured data": ("measured", "optimize"),
    "Checks": ("verify",),
    "Tyres": ("vehicles.tyres",),
    "Manoeuvres": ("vehicles.manoeuvres",),
    "Terrain": ("vehicles.terrain",),
    "Vehicles": ("vehicles",),
    "Linkages": ("linkage", "simulation.backend.compiled_linkage"),
    "Kane": ("kane",),
    "Gymnasium": ("gym",),
    "Errors": ("core.errors",),
}
FOLDERS = ("kane", "linkage", "gym")  # public by their documents, next to the names of the list
RETURNED = "What methods return"
TYPES = "Types"


def write_reference(pages: Path) -> list[dict[str, str]]:
    """Writes the pages; their titles and paths."""
    entries = public_entries()
    returned = returned_classes([thing for _, thing in entries])
    folder = pages / "reference"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.md").write_text(_index(entries, returned), encoding="utf-8")
    nav = [{"Reference": "reference/index.md"}]
    for title in PAGES:
        here = sorted(
            (x for x in entries if page_of(x[1]) == title), key=lambda x: _order(title, x[1])
        )
        further = [x for x in returned if page_of(x[1]) == title]
        text = [f"# {title}", *(_section(*x) for x in here)]
        if title == "Formulas":
            text.append(_functions())
        if further:
            text += [f"## {RETURNED}", *(_section(*x, level=3) for x in further)]
        (folder / _file(title)).write_text("\n\n".join(text) + "\n", encoding="utf-8")
        nav.append({title: f"reference/{_file(title)}"})
    (folder / _file(TYPES)).write_text(_types(), encoding="utf-8")
    return [*nav, {TYPES: f"reference/{_file(TYPES)}"}]


def public_entries() -> list[tuple[str, Any]]:
    """Every public name, as a user writes it, and what it is; a folder stands before its
    members."""
    names = [name for name in bc.__dir__() if name in bc._public_homes()] + list(FOLDERS)
    found = list[tuple[str, Any]]()
    for name in names:
        thing = getattr(bc, name)
        if _is_alias(thing) or thing is bc.choices:
            continue  # on the page of types
        found += _with_members(f"bc.{name}", thing)
    first: dict[int, tuple[str, Any]] = {}
    for entry in found:  # what has two names stands under the first
        first.setdefault(id(entry[1]), entry)
    return list(first.values())


def _with_members(name: str, thing: Any) -> list[tuple[str, Any]]:
    """A public name and, of a module, all that it lists."""
    if not isinstance(thing, ModuleType):
        return [(name, thing)]
    members = getattr(thing, "__all__", None) or [k for k in vars(thing) if _own(thing, k)]
    listed = [(f"{name}.{k}", getattr(thing, k)) for k in members]
    kept = [
        (k, x) for k, x in listed if isinstance(x, ModuleType) or hasattr(x, "__qualname__")
    ]  # no data
    return [(name, thing), *(entry for k, x in kept for entry in _with_members(k, x))]


def _is_alias(thing: Any) -> bool:
    """Is it a type that stands for several, or for a choice of values?"""
    return isinstance(thing, UnionType) or typing.get_origin(thing) in (
        typing.Union,
        typing.Literal,
    )


def _types() -> str:
    """Names of types that annotations use."""
    head = [
        f"# {TYPES}",
        "",
        "Types of arguments, for annotations of your own.",
        "",
        "| name | values |",
        "|---|---|",
    ]
    of_top = [(f"bc.{k}", getattr(bc, k)) for k in bc._public_homes()]
    of_choices = [(f"bc.choices.{k}", x) for k, x in vars(bc.choices).items()]
    rows = []
    for name, thing in [*of_top, *of_choices]:
        if _is_alias(thing):
            listed = (
                x if isinstance(x, str) else getattr(x, "__name__", str(x))
                for x in typing.get_args(thing)
            )
            rows.append(f"| `{name}` | {', '.join(f'`{x}`' for x in listed)} |")
    return "\n".join([*head, *rows, ""])


def _own(module: ModuleType, name: str) -> bool:
    """Is it defined in a module, for its users?"""
    thing = getattr(module, name)
    return not name.startswith("_") and getattr(thing, "__module__", "") == module.__name__


def returned_classes(things: list[Any]) -> list[tuple[str, Any]]:
    """Classes of the package that public functions and methods say to return, in this order."""
    found = list[Any]()
    for of in things:
        members = (
            [of] if inspect.isfunction(of) else vars(of).values() if inspect.isclass(of) else []
        )
        inherited = (
            [v for c in of.__mro__[1:] for v in vars(c).values()] if inspect.isclass(of) else []
        )
        for function in [*members, *inherited]:
            given = _returned(function)
            for x in [given, *typing.get_args(given)]:
                ours = (
                    inspect.isclass(x)
                    and x.__module__.startswith("bellcrank.")
                    and not x.__name__.startswith("_")
                )
                if ours and x not in things and x not in found and page_of(x) is not None:
                    found.append(x)
    return [(x.__name__, x) for x in found]


def _returned(function: Any) -> Any:
    """What a public function or method says to return."""
    if not inspect.isfunction(function) or function.__name__.startswith("_"):
        return None
    try:
        return typing.get_type_hints(function, None, _for_types(function.__module__)).get("return")
    except (NameError, TypeError):
        return None


@cache
def _for_types(module: str) -> dict[str, Any]:
    """What a module imports for its annotations alone."""
    body = ast.parse(inspect.getsource(import_module(module))).body
    lines = [
        x
        for block in body
        if isinstance(block, ast.If)
        for x in block.body
        if isinstance(x, ast.ImportFrom)
    ]
    return {a.name: getattr(import_module(str(x.module)), a.name) for x in lines for a in x.names}


def home_of(thing: Any) -> str:
    """The module that something is defined in, without the name of the package."""
    name = thing.__name__ if isinstance(thing, ModuleType) else thing.__module__
    return str(name).removeprefix("bellcrank.")


def page_of(thing: Any) -> str | None:
    """The title of the page on which something stands."""
    home = f"{home_of(thing)}."
    return next(
        (title for title, of in PAGES.items() if any(home.startswith(f"{x}.") for x in of)), None
    )


def _order(title: str, thing: Any) -> int:
    """Names of the first modules of a page stand first."""
    home = f"{home_of(thing)}."
    return next(i for i, x in enumerate(PAGES[title]) if home.startswith(f"{x}."))


def _file(title: str) -> str:
    return f"{title.lower().replace(' ', '_')}.md"


def _path(thing: Any) -> str:
    """Where something is defined, which is the anchor of its section, too."""
    return (
        thing.__name__
        if isinstance(thing, ModuleType)
        else f"{thing.__module__}.{thing.__qualname__}"
    )


def _section(name: str, thing: Any, level: int = 2) -> str:
    """A name with all that its docstrings say."""
    options = {"heading": f"'{name}'", "toc_label": f"'{name}'", "heading_level": str(level)}
    if isinstance(thing, ModuleType):
        options["members"] = "false"
    elif inspect.isclass(thing) and issubclass(thing, bc.System):
        options["members"] = (
            f"[{', '.join(members_of(thing))}]"  # else by lines, which are those of several files
        )
    return "\n".join(
        [f"::: {_path(thing)}", "    options:", *(f"      {k}: {v}" for k, v in options.items())]
    )


def members_of(thing: type[bc.System]) -> list[str]:
    """Public methods and properties of a system, those of its base classes first: bodies before
    equations."""
    listed = [(name, x) for c in reversed(thing.__mro__[:-1]) for name, x in vars(c).items()]
    shown = dict.fromkeys(
        name
        for name, x in listed
        if not inspect.isclass(x) and inspect.getdoc(x) and name[0] != "_"
    )
    return [name for name in shown if name not in ("internals", *thing.internals)]


def _functions() -> str:
    """The functions of formulas, which their table knows."""
    rows = [
        f"| `{f.name}({f.arguments})` | {_meaning(f)} | `{f.dimension}` |" for f in CALLED.values()
    ]
    head = [
        "## Functions of formulas",
        "",
        "In text and in Python (`bc.sin` ...). Dimensions: A is an angle, x is",
    ]
    head += [
        "whatever is given, 1 a pure number.",
        "",
        "| function | as | dimensions |",
        "|---|---|---|",
    ]
    return "\n".join([*head, *rows])


def _meaning(f: Any) -> str:
    return f"`{f.in_terms}`".replace("|", "\\|") if f.in_terms else ""


def _index(entries: list[tuple[str, Any]], returned: list[tuple[str, Any]]) -> str:
    """All names with the first message of each."""
    lines = ["# Reference", "", "```python", "import bellcrank as bc", "```", ""]
    for title in PAGES:
        lines += [f"## [{title}]({_file(title)})", "", "| name | |", "|---|---|"]
        for name, thing in [*entries, *returned]:
            if page_of(thing) == title:
                lines.append(f"| [`{name}`]({_file(title)}#{_path(thing)}) | {_first(thing)} |")
        lines.append("")
    return "\n".join(lines)


def _first(thing: Any) -> str:
    """The first message of a docstring, for a cell of a table."""
    text = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    sentence = text.partition(". ")[0].partition(": ")[0].rstrip(".:")
    return as_markdown(sentence)
