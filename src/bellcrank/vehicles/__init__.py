"""Vehicles: cars, trucks and trailers, motorcycles, and simple ones of partial vehicles; their
tyres, terrain and manoeuvres.

Public names are listed in `__init__.pyi`; each is imported from its module when it is first used.
"""

from bellcrank.core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
