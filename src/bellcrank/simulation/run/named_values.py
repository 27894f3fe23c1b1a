"""Numbers by name, in user units: what a model shows at one time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.mechanics.interface.interface import Interface, Quantity

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


class ChannelLayout:
    """Where some quantities of a model stand in a row of results, and how they are turned into user
    units."""

    def __init__(self, interface: Interface, listed: Sequence[Quantity]) -> None:
        self.interface, self.names = interface, tuple(x.name for x in listed)
        columns = [x.column for x in listed]
        first = columns[0] if columns else 0
        side_by_side = columns == list(range(first, first + len(columns)))
        self.columns: slice | list[int] = (
            slice(first, first + len(columns)) if side_by_side else columns
        )
        self.factors = np.array([x.unit.factor for x in listed])
        self.indices = {x.key: i for i, x in enumerate(listed)}
        self.kinds = tuple(dict.fromkeys(x.kind for x in listed))

    def values(self, row: np.ndarray) -> NamedValues:
        """The numbers of a row, or of rows."""
        return NamedValues(self, row[..., self.columns] / self.factors)

    def find_index(self, name: object) -> int | None:
        """Where a name stands, as a user may spell it; None if it does not."""
        quantity = self.interface.find_or_none(name, self.kinds)
        return None if quantity is None else self.indices.get(quantity.key)

    def index_of(self, name: object) -> int:
        """The same; an error names those that stand here."""
        index = self.find_index(name)
        if index is None:
            listed = ", ".join(self.names) or "none"
            raise ModelError(
                f"no value '{name}' here.{did_you_mean(str(name), self.names)} There are: {listed}."
            )
        return index


class NamedValues(Mapping[str, Any]):
    """Numbers by name; as an array (`np.asarray`) they stand in the order of the names."""

    def __init__(self, layout: ChannelLayout, array: np.ndarray) -> None:
        self._layout, self.array = layout, array

    def __getitem__(self, name: Any) -> Any:
        value = self.array[..., self._layout.index_of(name)]
        return float(value) if value.ndim == 0 else value

    def __iter__(self) -> Iterator[str]:
        return iter(self._layout.names)

    def __len__(self) -> int:
        return len(self._layout.names)

    def __contains__(self, name: object) -> bool:
        return self._layout.find_index(name) is not None

    def get(self, name: Any, default: Any = None) -> Any:
        index = self._layout.find_index(name)
        return default if index is None else self[name]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.array, dtype=dtype) if copy or dtype is not None else self.array

    def __repr__(self) -> str:
        return repr({name: self[name] for name in self})
