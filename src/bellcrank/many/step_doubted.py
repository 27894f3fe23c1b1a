"""Is the step of many runs too large? Asked of few of them, where they begin: those that stand out, and the first."""

from __future__ import annotations

import warnings

import numpy as np

from bellcrank.errors import BellcrankError, ModelWarning
from bellcrank.many.given import Given
from bellcrank.many.starts import ready_run
from bellcrank.numeric.methods import ADAPTIVE
from bellcrank.numeric.run_spec import RunSpec
from bellcrank.run.loaded import Loaded
from bellcrank.run.step_limit import step_too_large


def step_doubted(loaded: Loaded, spec: RunSpec, given: Given, sizes: np.ndarray) -> str:
    """What `simulate` says of a step that is too large where a run begins, with its number; else "".

    `sizes`: how large the results of every run are beside those of the others. Growing errors show there.
    """
    if spec.method in ADAPTIVE or loaded.remembers or loaded.analysis.mechanism.description.contacts:
        return ""
    for run in dict.fromkeys([int(np.argmax(sizes)), 0]):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ModelWarning)  # `many.run(i)` tells them
                session = ready_run(loaded, spec, given, run)
        except BellcrankError:  # it cannot begin, and says so
            continue
        row = np.concatenate([[spec.begins], session.run.state])[None, :]
        if said := step_too_large(spec, session.evaluation, row):
            return f"run {run}: {said}"
    return ""
