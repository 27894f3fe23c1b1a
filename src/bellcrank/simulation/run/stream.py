"""Channels of a model as it continues, for whoever listens on this machine: datagrams with a line
of JSON each.

In:  rows of results. Out: UDP to the loopback address, `{"t": 0.01, "az": 1.5, ...}` in user units,
which dashboards read. Nobody is waited for: a datagram that nobody takes is lost.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType

import numpy as np

from bellcrank.core.errors import RunError
from bellcrank.mechanics.interface.interface import CHANNELS, Interface, Quantity
from bellcrank.simulation.run.named_values import ChannelLayout

HOST = "127.0.0.1"  # nobody outside hears of it
LARGEST = 65_507  # bytes of a datagram
MOST = 500  # channels in one datagram: more are sent in several


class ChannelStream:
    """Sends channels of rows; all of them, or those named."""

    def __init__(self, interface: Interface, port: int, names: Sequence[str] = ()) -> None:
        if not 0 < port < 1 << 16:
            raise RunError(f"port {port} is none: ports are 1 to 65535")
        channels = (
            tuple(dict.fromkeys(_find_channel(interface, n) for n in names))
            if names
            else interface.channels
        )
        listed = [channels[i : i + MOST] for i in range(0, len(channels), MOST)] or [()]
        self._layouts = [ChannelLayout(interface, part) for part in listed]
        self._to = HOST, port
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)

    def send(self, row: np.ndarray) -> None:
        """Sends one row: time, states, outputs, inputs in equation units."""
        for layout in self._layouts:
            values = layout.values(row).array.tolist()
            fields = {"t": float(row[0]), **dict(zip(layout.names, values, strict=True))}
            text = json.dumps(
                {k: v if np.isfinite(v) else None for k, v in fields.items()}
            ).encode()
            if len(text) > LARGEST:
                raise RunError(
                    f"{len(layout.names)} channels take {len(text)} bytes; a datagram holds "
                    f"{LARGEST}"
                )
            with suppress(OSError):  # nobody listens, or not fast enough
                self._socket.sendto(text, self._to)

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> ChannelStream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _find_channel(interface: Interface, name: str) -> Quantity:
    return interface.find_channel(name) or interface.find_or_raise(name, CHANNELS, "channel")
