"""Studies: one model run many times over grids and samples of its parameters, and metrics of every
run.

In:  a study file (`definition`), which names a model, the values to try and the metrics.
Out: a `StudyResult` with a row for every run. Runs go to the processes of a Dask cluster
(`executor`); each is kept on disk as it ends (`store`). Only public names of Bellcrank are used.
"""

from bellcrank.study.study import Study
from bellcrank.study.study_result import StudyResult

__all__ = ["Study", "StudyResult"]
