"""Names of a description: well formed, used once, not reserved."""

from __future__ import annotations

from bellcrank.model.reading import Checker
from bellcrank.model.scope import DUMMIES, NAME, SHORT, is_reserved

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
            if (record := d.parameters.get(name.lower())) is not None and record.value is not None:
                checker.problem(where, f"it gives '{name}', which has the value {record.value} already.")
    default_masses = {f"{b.name}m".lower() for b in d.bodies if b.mass is None}
    for key, record in ((r.name.lower(), r) for r in d.parameters.values()):
        if (is_reserved(record.name) or key in DUMMIES) and key not in {*SHORT, *default_masses}:
            hint = " Inside a magnitude it stands for the force's own motion; dummies= renames those."
            checker.problem(f"parameter '{record.name}'", f"the name is reserved.{hint if key in DUMMIES else ''}")
        elif not NAME.fullmatch(record.name):
            checker.problem(f"parameter {record.name!r}", FORM)


def _check_space(checker: Checker, space: str, names: list[str]) -> None:
    """Names of one kind."""
    seen: dict[str, str] = {}
    for name in names:
        if not isinstance(name, str) or not NAME.fullmatch(name):
            checker.problem(f"{space} {name!r}", FORM)
            continue
        other = seen.get(name.lower())
        if other is not None:
            told = "is used twice." if other == name else f"differs from '{other}' by case alone."
            checker.problem(f"{space} '{name}'", f"the name {told}")
        seen[name.lower()] = name
        if space == "scalar" and is_reserved(name):
            checker.problem(f"{space} '{name}'", "the name is reserved.")
        if space == "body" and name.lower() == "n":
            checker.problem("body 'n'", "the name is reserved for the inertial body.")
