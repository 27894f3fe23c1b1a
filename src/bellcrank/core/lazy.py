"""Public names of a package that are imported from their modules when they are first used.

They are listed in `__init__.pyi`, for type checkers and for Python alike.
"""

from __future__ import annotations

import ast
import sys
from _thread import RLock
from collections.abc import Callable
from importlib import import_module
from typing import Any

_lock = RLock()  # one thread imports at a time: folders and their modules would else meet half made


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package."""
    module = sys.modules[package]
    loader: Any = module.__loader__
    tree = ast.parse(loader.get_data(f"{module.__file__}i"))
    lines = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    homes = {a.asname: (str(node.module), a.name) for node in lines for a in node.names if a.asname}

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home, there = homes[name]
        with _lock:
            value = (
                import_module(f"{home}.{there}")
                if home == package
                else getattr(import_module(home), there)
            )
            setattr(module, name, value)
        return value

    return get, lambda: sorted(homes), sorted(homes)
