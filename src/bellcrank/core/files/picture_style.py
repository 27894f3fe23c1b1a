"""Settings of matplotlib: commands take those of the user, not those of the working folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_STYLE = "matplotlibrc"
_ignores_style_of_folder: ContextVar[bool] = ContextVar("ignores_style_of_folder", default=False)


@contextmanager
def ignore_style_of_folder() -> Iterator[None]:
    """While this lasts, a `matplotlibrc` in the working folder does not steer pictures: what it
    sets may start programs."""
    token = _ignores_style_of_folder.set(True)
    try:
        yield
    finally:
        _ignores_style_of_folder.reset(token)


def use_own_style() -> None:
    """Replaces settings that come from the working folder by those of the user, or the defaults,
    where they are ignored."""
    if not _ignores_style_of_folder.get():
        return
    import matplotlib

    if Path(matplotlib.matplotlib_fname()).parent.resolve() != Path.cwd():
        return
    matplotlib.rcdefaults()
    style_paths = [Path(matplotlib.get_configdir())]
    if named_path := os.environ.get("MATPLOTLIBRC"):
        style_paths.insert(0, Path(named_path))
    for style_path in style_paths:
        path = style_path / _STYLE if style_path.is_dir() else style_path
        if path.is_file():
            matplotlib.rc_file(path)
            return
