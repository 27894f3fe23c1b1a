"""Metrics: one number of a run, from its channels over time. One definition for studies, many runs
and manoeuvres.

    comfort = bc.metrics.rms("az")
    comfort(run)                                            # of one run
    sim.simulate_many(n=1000, ..., metrics=[comfort])       # of many, computed while they run
    bc.Study.read({..., "metrics": {"comfort": comfort}})   # of all runs of a study

`bc.metrics.KINDS` lists the kinds by name, `bc.metrics.rms.definition` says what one is. Each is
called with a channel or a list of channels, `percentile` and `crossing` also with their number, and
with the times `start=` and `end=` in s.
"""

from bellcrank.core.metrics import (
    KINDS,
    Metric,
    MetricKind,
    airborne,
    crossing,
    final,
    load_variation,
    max,
    mean,
    min,
    peak,
    percentile,
    rms,
    sd,
    std,
    travel,
    wd,
    wk,
)

__all__ = [
    "KINDS",
    "Metric",
    "MetricKind",
    "airborne",
    "crossing",
    "final",
    "load_variation",
    "max",
    "mean",
    "min",
    "peak",
    "percentile",
    "rms",
    "sd",
    "std",
    "travel",
    "wd",
    "wk",
]


def __dir__() -> list[str]:
    return sorted(__all__)
