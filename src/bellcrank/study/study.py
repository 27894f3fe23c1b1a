"""A study that is ready to run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bellcrank.api.equations import Equations
from bellcrank.errors import BellcrankError, ModelError, RunError, check_called, counted
from bellcrank.interface.interface import CHANNELS, PARAMETERS
from bellcrank.kinds import Listed
from bellcrank.many.sampling import Value
from bellcrank.study.check import problems_with
from bellcrank.study.cluster import CONNECT, WORKERS, Cluster, remote
from bellcrank.study.definition import read_definition
from bellcrank.study.executor import Executor, alone
from bellcrank.study.job import Job, job_of, run_key, settled
from bellcrank.study.local import local
from bellcrank.study.records import Definition
from bellcrank.study.result import StudyResult
from bellcrank.study.rows import FINISHED, Column, Row
from bellcrank.study.runner import Runner, build
from bellcrank.study.store import Store, changes

Progress = Callable[[int, int, int], None]  # done, of all, failed


class StudyError(ModelError):
    """A study that cannot be run as it stands, with all its problems."""

    def __str__(self) -> str:
        return super().__str__().replace("model ", "study ", 1)


class Study(Listed):
    """A plan of many runs of one model. `bc.Study.read(path)` makes one, `run` runs it.

    Parameters
    ----------
    definition : Definition
        Content of the study file.
    job : Job
        The model and how it is run.
    equations : Equations
        The equations of the model.

    Attributes
    ----------
    points : list
        Name of the part and values of each run.

    Examples
    --------
    >>> import tempfile
    >>> import bellcrank as bc
    >>> plan = {"name": "travel", "model": {"file": "quarter_car.py"}, "run": {"t_end": 1}, "grid": {"k": [2e4, 3e4]}}
    >>> plan["metrics"] = {"most": {"kind": "max", "of": "az"}}
    >>> study = bc.Study.read(plan, "examples")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = study.run(folder, in_process=True)
    >>> len(study), result["most"].shape
    (2, (2,))
    """

    internals = ("checked",)

    def __init__(self, definition: Definition, job: Job, equations: Equations) -> None:
        self.definition, self.equations, self._job = definition, equations, job
        self.points = [(p.name, values) for p in definition.parts for values in p.runs()]
        self._keys = [run_key(job, values) for _, values in self.points]

    @classmethod
    def read(cls, source: str | Path | Mapping[str, Any], folder: str | Path | None = None) -> Study:
        """Read a study: a plan of many runs of one model.

        Parameters
        ----------
        source : str, Path or mapping
            A TOML file, or a mapping with the same content.
        folder : str or Path, optional
            Folder of the files that the study names. Default: that of the study.

        Returns
        -------
        Study
            The study; its model is derived and the plan is checked.

        Raises
        ------
        ModelError
            If the study has mistakes: all of them are listed.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import bellcrank as bc
        >>> lines = [
        ...     "import bellcrank as bc",
        ...     "def model():",
        ...     "    s = bc.System('ball')",
        ...     "    s.add_point_mass('ball', translate='z', mass=1)",
        ...     "    s.add_gravity((0, 0, -1))",
        ...     "    return s",
        ... ]
        >>> plan = {"name": "fall", "model": {"file": "ball.py"}, "run": {"t_end": 1, "step": 0.1}}
        >>> plan |= {"grid": {"g": [5, 10]}, "metrics": {"depth": {"kind": "min", "of": "q(ball)"}}}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = (Path(folder) / "ball.py").write_text(chr(10).join(lines))
        ...     print(bc.Study.read(plan, folder))
        Study('fall': 2 runs of ball.py)
        """
        return cls.checked(*read_definition(source, folder))

    @classmethod
    def checked(cls, definition: Definition, problems: list[str]) -> Study:
        """A study of a definition without faults; else an error with these problems and those that the model shows."""
        study_parts = [replace(p, grid={n: v[:1] for n, v in p.grid.items()}) for p in definition.parts[:1]]
        first: dict[str, Value] = next((values for p in study_parts for values in p.runs()), {})
        all_problems = list(problems)
        if definition.model.vehicle or definition.model.file:
            try:
                job = job_of(definition)
                first_job = settled(job, first)
                equations = build(first_job, definition.model.file).equations()
                all_problems += problems_with(definition, first_job, equations.interface)
            except BellcrankError as error:
                all_problems += getattr(error, "problems", [str(error)])
        if all_problems:
            raise StudyError(all_problems, definition.name)
        return cls(definition, job, equations)

    def __repr__(self) -> str:
        return f"Study({self.definition.name!r}: {counted(len(set(self._keys)), 'run')} of {self.definition.model})"

    def __len__(self) -> int:
        return len(set(self._keys))

    def run(
        self,
        folder: str | Path | None = None,
        *,
        scheduler: str | None = None,
        workers: int | None = None,
        in_process: bool = False,
        fresh: bool = False,
        retry: bool = False,
        progress: Progress | None = None,
        timeout: float = CONNECT,
        patience: float = WORKERS,
    ) -> StudyResult:
        """Run what is not done yet, on all cores or on a Dask cluster.

        Parameters
        ----------
        folder : str or Path, optional
            Folder in which runs are kept as they end. Default: the name of the study with "_results".
        scheduler : str, optional
            Address of a Dask scheduler. Default: processes of this computer.
        workers : int, optional
            Number of processes. Default: one per core.
        in_process : bool, default False
            Run in this process alone.
        fresh : bool, default False
            Run all again.
        retry : bool, default False
            Run again what failed.
        progress : callable, optional
            Called with the numbers of runs done, of all, and failed.
        timeout, patience : float, optional
            Time in s to reach a scheduler, and to wait for its workers.

        Returns
        -------
        StudyResult
            A row for each run.

        Raises
        ------
        RunError
            If the options do not go together, or if the scheduler cannot be reached.
        """
        check_called(progress, "progress", "the numbers of runs done, of all, and failed")
        if in_process and (scheduler or workers):
            raise RunError("in_process=True takes neither a scheduler nor workers")
        default_folder = re.sub(r"[^\w.-]+", "_", self.definition.name) + "_results"
        with Store(default_folder if folder is None else folder) as store:
            if fresh:
                store.clear()
            stored = {} if fresh else store.records()
            notes = self._compare(store, stored)
            if retry:
                store.forget({key for key in self._keys if key in stored and stored[key]["ended"] != FINISHED})
                stored = {k: r for k, r in stored.items() if r["ended"] == FINISHED}
            records = {key: stored[key] for key in self._keys if key in stored}
            n_reused = len(records)
            self._run_rest(store, records, progress, (scheduler, workers, in_process, timeout, patience))
            return self._result(store, records, n_reused, notes)

    def _compare(self, store: Store, stored: dict[str, Any]) -> list[str]:
        """What changed since the study was last started here, and what that means."""
        previous_job, notes = store.before(), []
        store.note(self._job)
        differences = changes(previous_job, self._job) if previous_job is not None else []
        unused = len(set(stored) - set(self._keys))
        if differences and unused:
            suffix = f"; and {len(differences) - 5} more" if len(differences) > 5 else ""
            notes.append(f"the study has changed since it was last started here: {'; '.join(differences[:5])}{suffix}")
        if unused:
            usable = len(set(self._keys) & set(stored))
            notes.append(
                f"{counted(unused, 'kept run')} {'belongs' if unused == 1 else 'belong'} to another form of the study "
                f"and {'is' if unused == 1 else 'are'} left aside; {usable} of {len(self)} can be used"
            )
        return notes

    def _run_rest(self, store: Store, records: dict[str, Any], progress: Progress | None, options: Any) -> None:
        scheduler, workers, in_process, timeout, patience = options
        pending = list(
            {k: (k, v) for k, (_, v) in zip(self._keys, self.points, strict=True) if k not in records}.values()
        )

        total, failed = len(self), sum(r["ended"] != FINISHED for r in records.values())

        def report(record: dict[str, Any]) -> None:
            nonlocal failed
            failed += record["key"] not in records and record["ended"] != FINISHED
            records[record["key"]] = record
            if progress is not None:
                progress(len(records), total, failed)

        if progress is not None:
            progress(len(records), total, failed)
        if not pending:
            return
        if in_process:
            alone(self._job, pending, store, report)
            return
        if scheduler is not None:
            with remote(scheduler, timeout) as client:
                Executor(Cluster(client, store.folder, patience), self._job, store, report).do(pending)
            return
        first = settled(self._job, self.points[0][1])
        Runner(self.equations, first["run"].get("backend"))  # puts the program into the cache, where workers find it
        with local(workers, store.folder) as team:
            Executor(team, self._job, store, report).do(pending)

    def _result(self, store: Store, records_by_key: dict[str, Any], n_reused: int, notes: list[str]) -> StudyResult:
        records = [records_by_key[key] for key in self._keys]
        listed = zip(self.points, records, strict=True)
        rows = tuple(Row(part, dict(values), r["metrics"], r["ended"]) for (part, values), r in listed)
        all_notes = tuple(dict.fromkeys((*notes, *(note for r in records for note in r.get("notes", ())))))
        spent = sum(records_by_key[key]["seconds"] for key in set(self._keys))
        run_counts = len(self) - n_reused, n_reused, spent
        return StudyResult(self.definition, self._columns(), rows, store.folder, all_notes, *run_counts)

    def _columns(self) -> dict[str, Column]:
        """Units and words of what varies and of what is measured."""
        interface, columns = self.equations.interface, {}
        for name in self.definition.varied:
            if channel := interface.channel(name):
                columns[name] = Column(channel.unit.text, "initial value")
            elif parameter := interface.get(name, PARAMETERS):
                columns[name] = Column(parameter.unit.text, parameter.label)
            else:
                columns[name] = Column("s" if name in ("run.t_end", "run.step") else "", "")
        for name, m in self.definition.metrics.items():
            channels = [interface.find(c, CHANNELS, "channel") for c in m.channels]
            columns[name] = Column(m.unit(channels[0].unit.text), f"{m.text} of {', '.join(x.name for x in channels)}")
        return columns
