"""Tyres: how they hold the road, a law in each module of this folder, to be given as `bc.Tyre(...,
slip=law)`.

Names that a module lists in `__all__` are found here as soon as the module is there: a law is added
in one file. What it has to do is written down in `model.describe.patch.SlipLaw`; laws over
deflections start from
`model.describe.slip.DeflectionLaw`.
"""

from importlib import import_module
from pkgutil import iter_modules

from bellcrank.model.describe.slip import Slip

__all__ = ["Slip"]

for _module in (import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)):
    globals().update({name: getattr(_module, name) for name in _module.__all__})
    __all__ += _module.__all__


def __dir__() -> list[str]:
    return sorted(__all__)
