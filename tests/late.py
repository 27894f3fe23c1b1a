"""Packages that few tests use, loaded by the first test that does: collecting all tests does not
wait for them."""

from importlib import import_module


class Late:
    """A module that is imported, and with a class an object of it made, when something of it is
    asked for."""

    def __init__(self, name, *made):
        self._name, self._made = name, made

    def _get(self):
        module = import_module(self._name)
        return getattr(module, self._made[0])(*self._made[1:]) if self._made else module

    def __getattr__(self, what):
        if what.startswith(
            ("_", "pytest", "is_hypothesis")
        ):  # asked of everything when tests are collected
            raise AttributeError(what)
        return getattr(self._get(), what)
