"""State: coordinates and speeds of a model with their names and units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, SupportsIndex, overload

import numpy as np

from bellcrank.core.errors import NoChannel, did_you_mean
from bellcrank.core.name_lookup import find_name
from bellcrank.core.units import unit_system
from bellcrank.mechanics.interface.interface import Interface

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


class State(tuple[np.ndarray, np.ndarray]):
    """A state of a model in equation units (rad, consistent units), as `Simulation.assemble`
    returns it.

    A state is accepted wherever (q, u) is, and as x by the function of `Simulation.rhs`.

    Attributes
    ----------
    q, u : ndarray
        Coordinates and speeds: `q, u = state`. `np.asarray(state)` is the array [q, u].
    units : mapping
        Units by name of the state, coordinates first: `state.units["q(arm)"]`.

    Examples
    --------
    >>> import numpy as np
    >>> import bellcrank as bc
    >>> state = bc.State(np.array([0.5]), np.array([2.0]), {"q(arm)": "rad", "u(arm)": "rad/s"})
    >>> state["u(arm)"], np.asarray(state).tolist()
    (2.0, [0.5, 2.0])
    """

    internals = ("from_arrays",)
    units: Mapping[str, str]

    def __new__(cls, q: np.ndarray, u: np.ndarray, units: Mapping[str, str]) -> State:
        """`units` by name of state, coordinates first."""
        self = super().__new__(cls, (q, u))
        self.units = dict(units)
        return self

    @classmethod
    def from_arrays(cls, interface: Interface, q: np.ndarray, u: np.ndarray) -> State:
        """The state of a model."""
        system = unit_system(interface.units)
        return cls(
            q, u, {x.name: system.equation_unit(x.unit.dimension).text for x in interface.states}
        )

    @property
    def q(self) -> np.ndarray:
        """Coordinates, user-defined states last."""
        return self[0]

    @property
    def u(self) -> np.ndarray:
        """Speeds."""
        return self[1]

    def keys(self) -> list[str]:
        """List the names of the states, so that `dict(state)` has the values by name.

        Returns
        -------
        list of str
            Coordinates first.
        """
        return list(self.units)

    _ipython_key_completions_ = keys

    @overload
    def __getitem__(self, key: SupportsIndex) -> np.ndarray: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[np.ndarray, ...]: ...
    @overload
    def __getitem__(self, key: str) -> float: ...
    def __getitem__(
        self, key: SupportsIndex | slice | str
    ) -> np.ndarray | tuple[np.ndarray, ...] | float:
        if not isinstance(key, str):
            return super().__getitem__(key)
        names = self.keys()
        match = find_name(key, names, "state")
        if match is None:
            raise NoChannel(
                f"no state '{key}'.{did_you_mean(key, names)} States: {', '.join(names)}"
            )
        return float(np.asarray(self)[names.index(match)])

    def __contains__(self, item: object) -> bool:
        """Is it the name of a state, in any spelling that `state[name]` takes?"""
        if not isinstance(item, str):
            return any(item is part for part in self)
        return find_name(item, self.keys(), "state") is not None

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("coordinates and speeds are two arrays: one of both is a copy")
        return np.concatenate((self[0], self[1]), dtype=dtype)

    def __getnewargs__(self) -> tuple[np.ndarray, np.ndarray, Mapping[str, str]]:
        return self[0], self[1], self.units

    def __repr__(self) -> str:
        listed = zip(self.units.items(), np.asarray(self), strict=True)
        return (
            f"State({', '.join(f'{name} = {x:.6g} {unit}'.rstrip() for (name, unit), x in listed)})"
        )
