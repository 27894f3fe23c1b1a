"""Bellcrank: describe a vehicle or mechanism, get its equations of motion as a small, fast
simulation program.

The public names are listed in `__init__.pyi`, for type checkers and for Python alike, with the
functions of formulas. Each is imported from its module when it is first used, so that a program
loads what it needs and nothing else.
"""

from _thread import RLock as _RLock

from bellcrank.core.version import __version__ as __version__

_lock = (
    _RLock()
)  # one thread imports at a time: folders and their modules would else meet half made
_homes = {}  # public name: the module that defines it; filled when the first is asked for


def _public_homes():
    if not _homes:
        import ast

        stub = ast.parse(__loader__.get_data(__file__ + "i"))
        lines = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
        _homes.update(
            {name.asname: node.module for node in lines for name in node.names if name.asname}
        )
    return _homes


def _formula_functions():
    from bellcrank.model.formula import SCALAR  # sin, cos, ... of numbers, expressions and formulas

    return SCALAR


def _public_names():
    return [*_public_homes(), *_formula_functions()]


def __getattr__(name):
    with _lock:
        return _load_public(name)


def _load_public(name):
    from importlib import import_module

    if name == "__all__":
        import builtins  # which has abs, min and max of its own

        return [x for x in _public_names() if not hasattr(builtins, x)]
    home = None if name.startswith("_") else _public_homes().get(name)
    if home == __name__:  # a package of public names
        value = import_module(f"{home}.{name}")
    elif home is not None:
        module = import_module(home)
        value = getattr(module, name) if hasattr(module, name) else import_module(f"{home}.{name}")
    elif not name.startswith("_") and name in _formula_functions():
        value = _formula_functions()[name]
    else:
        raise AttributeError(f"module 'bellcrank' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted([*_public_names(), *(x for x in globals() if x.startswith("__"))])
