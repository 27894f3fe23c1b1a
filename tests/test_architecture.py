"""How the house is built: no file needs a file that needs it, names say one thing, the user's
classes are thin.

The layers of folders stand in `pyproject.toml` and are checked by `lint-imports`.
"""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import bellcrank

SRC = Path(bellcrank.__file__).parents[1]
ONE_FILE_EACH = (
    "motion",
    "builder",
    "interface",
    "equilibrium",
)  # but for what is written per language


def modules():
    found = {}
    for path in (SRC / "bellcrank").rglob("*.py"):
        parts = path.relative_to(SRC).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def statements(tree):
    """All statements, without what they compute."""
    left = [tree]
    while left:
        node = left.pop()
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            if isinstance(inner := getattr(node, part, None), list):
                left += inner
        yield node


def imports(path, known):
    """Modules that a file imports, also inside functions and for types alone."""
    found = set()
    for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            folder = path.relative_to(SRC).parts[: -node.level] if node.level else ()
            home = ".".join([*folder, *([node.module] if node.module else [])])
            found |= {
                f"{home}.{a.name}" if f"{home}.{a.name}" in known else home for a in node.names
            }
    return found & known.keys()


def circle(graph):
    """Modules each of which needs the next, and the last the first; empty if there are none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_a_circle_is_seen():
    assert {*circle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}})} == {*"bc"}


def test_imports_from_the_same_folder_are_seen():
    known = modules()
    assert "bellcrank.core.numeric.fixed_step_methods" in imports(
        known["bellcrank.core.numeric.integrate"], known
    )


def test_no_file_needs_a_file_that_needs_it():
    known = modules()
    graph = {name: imports(path, known) - {name} for name, path in known.items()}
    assert not circle(graph)


def test_one_name_one_thing():
    stems = [
        path.stem
        for name, path in modules().items()
        if name.split(".")[1:2] not in (["codegen"], ["export"])
    ]
    assert [name for name in ONE_FILE_EACH if stems.count(name) != 1] == []


def test_user_classes_delegate():
    """A call that a user types is a signature, its docstring and few statements: all else stands at the
    stage that does it."""
    trees = [
        ast.parse(path.read_text(encoding="utf-8"))
        for path in (SRC / "bellcrank" / "api").glob("*.py")
    ]
    made = [f for tree in trees for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)]
    bodies = [f.body[ast.get_docstring(f) is not None :] for f in made]
    statements = [
        sum(isinstance(x, ast.stmt) for node in body for x in ast.walk(node)) for body in bodies
    ]
    assert len(statements) > 60 and sum(statements) < 190 and max(statements) < 25


def test_the_page_of_the_architecture_names_what_there_is():
    text = (SRC.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = {name for name in re.findall(r"`([a-z_]+/[a-z_/]*(?:\.(?:pyi?|[ch]))?)", text)}
    assert len(named) > 40
    roots = (SRC / "bellcrank", SRC.parent)
    assert [
        name for name in sorted(named) if not any((root / name).exists() for root in roots)
    ] == []


TEXTS = ("*.py", "*.pyi", "*.c", "*.f90", "*.html", "*.js", "*.css", "*.in", "*.toml", "Makefile*")


def test_no_line_is_longer_than_the_page():
    """Sources of every language, those that are filled too."""
    long = [
        f"{path.relative_to(SRC)}:{i}"
        for pattern in TEXTS
        for path in (SRC / "bellcrank").rglob(pattern)
        for i, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line.partition("  # type: ignore")[0])
        > (100 if path.suffix in (".py", ".pyi") else 120)
    ]
    assert long == []
