"""Python files of a user: while one runs, what stands next to it can be imported as by a script;
then it is forgotten.

Two files in different folders may have neighbours of the same name; neither sees those of the
other, nor modules of that name which the program that loads them uses.
"""

from __future__ import annotations

import ast
import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from types import ModuleType

_importing = RLock()  # the path and the table of modules are one for all threads
_INSTALLED = {"site-packages", "dist-packages"}


@contextmanager
def import_from_folder(file: Path) -> Iterator[None]:
    """Inside, modules and packages in the folder of a file can be imported."""
    folder = file.resolve().parent
    with _importing:
        hidden = {name for name in _modules_in(folder) if _hides_other_module(name, folder)}
        hidden_modules = {
            name: m for name, m in sys.modules.copy().items() if name.partition(".")[0] in hidden
        }
        for name in hidden_modules:
            sys.modules.pop(name, None)
        loaded_before, entry = set(sys.modules), str(folder)
        sys.path.insert(0, entry)
        importlib.invalidate_caches()  # files may be younger than the last look into the folder
        try:
            yield
        finally:
            if entry in sys.path:
                sys.path.remove(entry)
            new = [name for name in sys.modules.copy() if name not in loaded_before]
            for name in [
                n for n in new if _is_in_folder(sys.modules.get(n.partition(".")[0]), folder)
            ]:
                sys.modules.pop(name, None)
            sys.modules.update(hidden_modules)


def imported_files(file: Path) -> list[Path]:
    """The Python files next to a file that it imports, directly or by others; they are read, not
    run."""
    folder = file.parent
    imported: dict[Path, None] = {}
    pending = [file]
    while pending:
        current = pending.pop()
        new = [
            p
            for name in _imported_names(current, folder)
            for p in _files_of(name, folder)
            if p not in imported and p != file
        ]
        imported.update(dict.fromkeys(new))
        pending += new
    return sorted(imported)


def _imported_names(file: Path, folder: Path) -> list[tuple[str, ...]]:
    """Modules that a file may import, by the parts of their names, counted from the folder."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8-sig"))
    except (OSError, SyntaxError, ValueError):  # reported when it is run
        return []
    names: list[tuple[str, ...]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [tuple(a.name.split(".")) for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            package = file.relative_to(folder).parts[: -node.level] if node.level else ()
            base = (*package, *(node.module or "").split(".")) if node.module else package
            names += [base, *((*base, a.name) for a in node.names)]
    return names


def _files_of(name: tuple[str, ...], folder: Path) -> list[Path]:
    """The files that importing a name runs: those of its packages, and its own."""
    paths = [folder.joinpath(*name[:i]) for i in range(1, len(name) + 1)]
    files = [p for path in paths for p in (path / "__init__.py", path.with_name(f"{path.name}.py"))]
    return [p for p in files if p.is_file()]


def _modules_in(folder: Path) -> set[str]:
    """Names of modules and packages in a folder."""
    try:
        names = os.listdir(folder)
    except OSError:  # reported when the file is read
        return set()
    files = {name[:-3] for name in names if name.endswith(".py") and (folder / name).is_file()}
    return files | {
        name for name in names if "." not in name and (folder / name / "__init__.py").is_file()
    }


def _hides_other_module(name: str, folder: Path) -> bool:
    """Does a neighbour of that name hide another module that is nobody's standard?"""
    module = sys.modules.get(name)
    if module is None or name in sys.stdlib_module_names or name in ("bellcrank", "__main__"):
        return False
    installed = not _INSTALLED.isdisjoint(Path(getattr(module, "__file__", None) or "").parts)
    return not installed and not _is_in_folder(module, folder)


def _is_in_folder(module: ModuleType | None, folder: Path) -> bool:
    """Is it a module or a package in that folder itself?"""
    file, paths = getattr(module, "__file__", None), getattr(module, "__path__", None)
    locations = [Path(p) for p in paths] if paths is not None else [Path(file)] if file else []
    return any(path.resolve().parent == folder for path in locations)
