"""A study that is ready to run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bellcrank.api.equations import Equations
from bellcrank.core.argument_checks import PublicDir
from bellcrank.core.errors import BellcrankError, ModelError, RunError, pluralize, require_callback
from bellcrank.mechanics.interface.interface import CHANNELS, PARAMETERS
from bellcrank.simulation.many.sample_plans import Value
from bellcrank.study.dask_team import CONNECT, WORKERS, DaskTeam, dask_client
from bellcrank.study.definition_check import definition_problems
from bellcrank.study.executor import StudyExecutor, run_in_process
from bellcrank.study.job import Job, apply_run_values, make_job, run_key
from bellcrank.study.local_team import local_team
from bellcrank.study.runner import StudyRunner, build_model
from bellcrank.study.store import StudyStore, job_differences
from bellcrank.study.study_file import read_definition
from bellcrank.study.study_records import StudyDefinition
from bellcrank.study.study_result import StudyResult
from bellcrank.study.study_rows import FINISHED, Row, StudyColumn

Progress = Callable[[int, int, int], None]  # done, of all, failed


class StudyError(ModelError):
    """A study that cannot be run as it stands, with all its problems."""

    def __str__(self) -> str:
        return super().__str__().replace("model ", "study ", 1)


class Study(PublicDir):
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
    >>> plan = {"name": "travel", "model": {"file": "quarter_car.py"}, "run": {"t_end": 1}}
    >>> plan["grid"] = {"k": [2e4, 3e4]}
    >>> plan["metrics"] = {"most": {"kind": "max", "of": "az"}}
    >>> study = bc.Study.read(plan, "examples")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = study.run(folder, in_process=True)
    >>> len(study), result["most"].shape
    (2, (2,))
    """

    internals = ("checked",)

    def __init__(self, definition: StudyDefinition, job: Job, equations: Equations) -> None:
        self.definition, self.equations, self._job = definition, equations, job
        self.run_points = [(p.name, values) for p in definition.parts for values in p.run_values()]
        self._keys = [run_key(job, values) for _, values in self.run_points]

    @classmethod
    def read(
        cls,
        source: str | Path | Mapping[str, Any],
        folder: str | Path | None = None,
        *,
        allow_outside: bool = False,
    ) -> Study:
        """Read a study: a plan of many runs of one model.

        Parameters
        ----------
        source : str, Path or mapping
            A TOML file, or a mapping with the same content.
        folder : str or Path, optional
            Folder of the files that the study names. Default: that of the study.
        allow_outside : bool, optional
            Executes a model file outside that folder, if a TOML file names one. Default: an error.

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
        return cls.checked(*read_definition(source, folder, allow_outside))

    @classmethod
    def checked(cls, definition: StudyDefinition, problems: list[str]) -> Study:
        """A study of a definition without faults; else an error with these problems and those that
        the model shows."""
        study_parts = [
            replace(p, grid={n: v[:1] for n, v in p.grid.items()}) for p in definition.parts[:1]
        ]
        first: dict[str, Value] = next(
            (values for p in study_parts for values in p.run_values()), {}
        )
        all_problems = list(problems)
        if definition.model.vehicle or definition.model.file:
            try:
                job = make_job(definition)
                first_job = apply_run_values(job, first)
                equations = build_model(first_job, definition.model.file).equations()
                all_problems += definition_problems(definition, first_job, equations.interface)
            except BellcrankError as error:
                all_problems += getattr(error, "problems", [str(error)])
        if all_problems:
            raise StudyError(all_problems, definition.name)
        return cls(definition, job, equations)

    def __repr__(self) -> str:
        return (
            f"Study({self.definition.name!r}: {pluralize(len(set(self._keys)), 'run')} of "
            f"{self.definition.model})"
        )

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
            Folder in which runs are kept as they end. Default: the name of the study with
            "_results".
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
        require_callback(progress, "progress", "the numbers of runs done, of all, and failed")
        if in_process and (scheduler or workers):
            raise RunError("in_process=True takes neither a scheduler nor workers")
        default_folder = re.sub(r"[^\w.-]+", "_", self.definition.name) + "_results"
        with StudyStore(default_folder if folder is None else folder) as store:
            if fresh:
                store.clear()
            stored = {} if fresh else store.records()
            notes = self._change_notes(store, stored)
            if retry:
                store.remove_records(
                    {
                        key
                        for key in self._keys
                        if key in stored and stored[key]["ended"] != FINISHED
                    }
                )
                stored = {k: r for k, r in stored.items() if r["ended"] == FINISHED}
            records = {key: stored[key] for key in self._keys if key in stored}
            n_reused = len(records)
            self._run_missing(
                store, records, progress, (scheduler, workers, in_process, timeout, patience)
            )
            return self._make_result(store, records, n_reused, notes)

    def _change_notes(self, store: StudyStore, stored: dict[str, Any]) -> list[str]:
        """What changed since the study was last started here, and what that means."""
        previous_job, notes = store.previous_job(), []
        store.store_job(self._job)
        differences = job_differences(previous_job, self._job) if previous_job is not None else []
        unused = len(set(stored) - set(self._keys))
        if differences and unused:
            suffix = f"; and {len(differences) - 5} more" if len(differences) > 5 else ""
            notes.append(
                f"the study has changed since it was last started here: "
                f"{'; '.join(differences[:5])}{suffix}"
            )
        if unused:
            usable = len(set(self._keys) & set(stored))
            notes.append(
                f"{pluralize(unused, 'kept run')} {'belongs' if unused == 1 else 'belong'} "
                f"to another form of the "
                f"study "
                f"and {'is' if unused == 1 else 'are'} left aside; {usable} of {len(self)} "
                f"can be used"
            )
        return notes

    def _run_missing(
        self, store: StudyStore, records: dict[str, Any], progress: Progress | None, options: Any
    ) -> None:
        scheduler, workers, in_process, timeout, patience = options
        pending = list(
            {
                k: (k, v)
                for k, (_, v) in zip(self._keys, self.run_points, strict=True)
                if k not in records
            }.values()
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
            run_in_process(self._job, pending, store, report)
            return
        if scheduler is not None:
            with dask_client(scheduler, timeout) as client:
                StudyExecutor(
                    DaskTeam(client, store.folder, patience), self._job, store, report
                ).run_all(pending)
            return
        first = apply_run_values(self._job, self.run_points[0][1])
        StudyRunner(
            self.equations, first["run"].get("backend")
        )  # puts the program into the cache, where workers find it
        with local_team(workers, store.folder) as team:
            StudyExecutor(team, self._job, store, report).run_all(pending)

    def _make_result(
        self, store: StudyStore, records_by_key: dict[str, Any], n_reused: int, notes: list[str]
    ) -> StudyResult:
        records = [records_by_key[key] for key in self._keys]
        listed = zip(self.run_points, records, strict=True)
        rows = tuple(
            Row(part, dict(values), r["metrics"], r["ended"]) for (part, values), r in listed
        )
        all_notes = tuple(
            dict.fromkeys((*notes, *(note for r in records for note in r.get("notes", ()))))
        )
        spent = sum(records_by_key[key]["seconds"] for key in set(self._keys))
        run_counts = len(self) - n_reused, n_reused, spent
        return StudyResult(
            self.definition, self._make_columns(), rows, store.folder, all_notes, *run_counts
        )

    def _make_columns(self) -> dict[str, StudyColumn]:
        """Units and words of what varies and of what is measured."""
        interface, columns = self.equations.interface, {}
        for name in self.definition.varied:
            if channel := interface.find_channel(name):
                columns[name] = StudyColumn(channel.unit.text, "initial value")
            elif parameter := interface.find_or_none(name, PARAMETERS):
                columns[name] = StudyColumn(parameter.unit.text, parameter.label)
            else:
                columns[name] = StudyColumn("s" if name in ("run.t_end", "run.step") else "", "")
        for name, m in self.definition.metrics.items():
            channels = [interface.find_or_raise(c, CHANNELS, "channel") for c in m.channels]
            columns[name] = StudyColumn(
                m.unit(channels[0].unit.text), f"{m.text} of {', '.join(x.name for x in channels)}"
            )
        return columns
