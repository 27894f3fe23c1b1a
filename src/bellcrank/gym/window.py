"""A window that shows images, for environments with render_mode="human"."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from bellcrank.core.errors import issue_warning

if TYPE_CHECKING:
    from matplotlib.image import AxesImage


class ImageWindow:
    """Images in a window of matplotlib, each for `period` seconds of real time; without a display
    it warns, and is not
    `visible`."""

    def __init__(self, period: float) -> None:
        import matplotlib
        from matplotlib import pyplot

        backend = matplotlib.get_backend()
        self.visible = backend.lower() in _interactive_backends()
        if not self.visible:
            issue_warning(
                f"render_mode='human' shows nothing: the backend '{backend}' of matplotlib "
                f"has no windows. Choose "
                "another (MPLBACKEND=TkAgg or QtAgg), or take render_mode='rgb_array' for images."
            )
            return
        self._pyplot, self._period = pyplot, period
        self._figure = pyplot.figure(figsize=(6.4, 4.0))
        axes = self._figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        self._axes, self._next = axes, time.perf_counter()
        self._image: AxesImage | None = None

    def show_image(self, image: np.ndarray) -> None:
        """Shows an image, no sooner than the one before has had its time."""
        if self._image is None:
            self._image = self._axes.imshow(image, interpolation="none")
        else:
            self._image.set_data(image)
        self._figure.canvas.draw_idle()
        current_time = time.perf_counter()
        self._next = max(self._next + self._period, current_time)
        self._pyplot.pause(max(1e-3, self._next - current_time))

    def close(self) -> None:
        """Closes it."""
        if self.visible:
            self._pyplot.close(self._figure)


def _interactive_backends() -> list[str]:
    """Backends of matplotlib that have windows, in small letters."""
    from matplotlib.backends import BackendFilter, backend_registry

    return [name.lower() for name in backend_registry.list_builtin(BackendFilter.INTERACTIVE)]
