"""Names of a description: well formed, used once, not reserved."""

from __future__ import annotations

from bellcrank.model.reading import Checker
from bellcrank.model.scope import NAME, SHORT, is_reserved

FORM = "a name starts with a letter and holds letters, digits, _ and dots."


def check_names(checker: Checker) -> None:
    d = checker.description
    returned = [r for e in d.externals for r in e.returns]
    spaces = {
        "body": [b.name for b in d.bodies],
        "point": [p.name for p in d.points],
        "force": [f.name for f in d.forces],
        "scalar": [*(v.name for v in d.variables), *(z.name for z in d.states), *d.definitions, *returned],
    }
    for space, names in spaces.items():
        _check_space(checker, space, names)
    for e in d.externals:
        where = f"external '{e.name}'"
        if e.when in ("input", "echo") and not e.returns:
            checker.problem(where, f"when='{e.when}' needs returns=: the names of what it gives.")
        for name in e.returns if e.entered else ():
            if (record := d.parameters.get(name)) is not None and record.value is not None:
                checker.problem(where, f"it gives '{name}', which has the value {record.value:g} already.")
    default_masses = {f"{b.name}m" for b in d.bodies if b.mass is None}
    for name in d.parameters:
        if is_reserved(name) and name not in {*SHORT, *default_masses}:
            checker.problem(f"parameter '{name}'", "the name is reserved.")
        elif not NAME.fullmatch(name):
            checker.problem(f"parameter {name!r}", FORM)


def _check_space(checker: Checker, space: str, names: list[str]) -> None:
    """Names of one kind."""
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str) or not NAME.fullmatch(name):
            checker.problem(f"{space} {name!r}", FORM)
            continue
        if name in seen:
            checker.problem(f"{space} '{name}'", "the name is used twice.")
        seen.add(name)
        if space == "scalar" and is_reserved(name):
            checker.problem(f"{space} '{name}'", "the name is reserved.")
        if space == "body" and name == "n":
            checker.problem("body 'n'", "the name is reserved for the inertial body.")
