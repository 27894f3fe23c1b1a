"""Python's search for cycles, omitted while expressions are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Expressions hold no cycles: looking for them while millions are made costs a tenth of the
    time. Those that stay are counted among the old ones without a look at them."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
