"""Names that know the System they were given in, so that a body of another one does not stand for
its namesake."""

from __future__ import annotations

from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.model.records import Description


class OwnName(str):
    """The name behind a handle; `owner` is the number and the name of its System."""

    owner: tuple[int, str] | None

    def __new__(cls, text: str, owner: tuple[int, str] | None = None) -> OwnName:
        name = super().__new__(cls, text)
        name.owner = owner
        return name


def check_owner(name: Any, description: Description, kind: str) -> None:
    """An error if a name comes from a handle of another System."""
    owner = getattr(name, "owner", None)
    if owner is not None and owner[0] != description.number:
        mismatch = f"belongs to the system '{owner[1]}', not to '{description.name}'"
        raise ModelError(f"{kind} '{name}' {mismatch}; use one of this system")
