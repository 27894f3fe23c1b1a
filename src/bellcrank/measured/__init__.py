"""Measured data: logs of other programs as channels of a model, and how well a run agrees with
them.

    log = bc.measured.read("log.csv", "map.toml")      # channels by the names of the model
    found = bc.measured.compare(run, log)              # errors by channel
    print(found); found.page("correlation.html")

`bc.optimize.fit` finds parameters from such logs; `bc.vehicles.manoeuvres.run(car, "recorded",
log=...)` drives a car by one.
"""

from bellcrank.measured.correlation import ChannelError, Correlation, compare
from bellcrank.measured.log import read

__all__ = ["ChannelError", "Correlation", "compare", "read"]


def __dir__() -> list[str]:
    return sorted(__all__)
