"""Bellcrank: describe a vehicle or mechanism, get its equations of motion as a small, fast simulation program.

The public names are listed in `__init__.pyi`, for type checkers and for Python alike: each is imported from its module
when it is first used, so that a program loads what it needs and nothing else.
"""

import builtins
from importlib import import_module

from bellcrank.version import __version__ as __version__

_homes = {}  # public name: the module that defines it; filled when the first is asked for


def _list():
    if not _homes:
        import ast

        listed = ast.parse(__loader__.get_data(__file__ + "i"))
        lines = [node for node in listed.body if isinstance(node, ast.ImportFrom)]
        _homes.update({name.asname: node.module for node in lines for name in node.names})
    return _homes


def __getattr__(name):
    if name == "__all__":  # what `import *` takes: not abs, min and max, of which Python has its own
        return [x for x in _list() if not hasattr(builtins, x) and not x.startswith("_")]
    if name.startswith("_"):
        raise AttributeError(f"module 'bellcrank' has no attribute {name!r}")
    home = _list().get(name)
    try:
        module = import_module(home or f"bellcrank.{name}")  # one of its folders, if no public name
    except ModuleNotFoundError as error:
        if home is None and error.name == f"bellcrank.{name}":
            raise AttributeError(f"module 'bellcrank' has no attribute {name!r}") from None
        raise
    if home is None:
        return module
    value = getattr(module, name) if hasattr(module, name) else import_module(f"{home}.{name}")
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *_list()])
