"""Study files: TOML, parsed as data. All that is wrong is reported at once, also what the model
does not know.

A file has the tables model, run, parameters, initial, guess, inputs, outputs, metrics; grid or
samples or both, or several [[parts]] of them; and, if wanted, [[tables]] and [[plots]]. See
docs/studies.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bellcrank.core.errors import ModelError, RunError
from bellcrank.core.files.csv_table import read_csv
from bellcrank.core.files.file_names import file_exists
from bellcrank.core.files.shipped_files import example_folder, example_path, resolve_example
from bellcrank.core.files.text_files import read_toml
from bellcrank.study.study_records import (
    Given,
    ModelSpec,
    OutputSpec,
    PlotSpec,
    StudyDefinition,
    TableSpec,
)
from bellcrank.study.table_reader import StudyTableReader
from bellcrank.study.variations import read_inputs, read_metrics, read_parts

KEYS = (
    "name",
    "note",
    "model",
    "run",
    "parameters",
    "initial",
    "guess",
    "inputs",
    "outputs",
    "metrics",
    "grid",
    "samples",
    "parts",
    "tables",
    "plots",
)
RUN = ("t_end", "step", "method", "dae", "output_every", "backend", "rtol", "atol")
TABLE = ("title", "value", "rows", "columns", "part", "where", "best", "beside", "source")
PLOT = ("file", "title", "value", "x", "y", "lines", "part", "where", "best")


def read_definition(
    source: str | Path | Mapping[str, Any],
    folder: str | Path | None = None,
    allow_outside: bool = False,
) -> tuple[StudyDefinition, list[str]]:
    """What a TOML file says, or a mapping with the same content, and all that is wrong with it.

    A TOML file may name model files of its folder only, unless `allow_outside`: they are executed.
    """
    if isinstance(source, Mapping):
        data, name, base = dict(source), "study", Path(folder or ".")
    elif isinstance(source, str | Path):
        path = resolve_example(source)
        data, name, base = (
            read_toml(path),
            path.stem,
            Path(folder) if folder is not None else path.parent,
        )
    else:
        raise ModelError(
            f"a study is the path of a .toml file or a mapping, given {type(source).__name__}"
        )
    reader = StudyTableReader(data, "the study")
    definition = _read_tables(reader, name, base)
    if not (isinstance(source, Mapping) or allow_outside or _is_own(definition.model, base)):
        reader.add_problem(
            f"model.file = {str(definition.model.file)!r} is outside the folder of the study, "
            f"{base}, and would be executed: put it into that folder, or pass --allow-outside "
            f"(allow_outside=True)"
        )
        definition = replace(definition, model=ModelSpec())  # not even looked at
    return definition, reader.problems


def _read_tables(r: StudyTableReader, name: str, base: Path) -> StudyDefinition:
    r.check_keys(KEYS)
    study_parts = read_parts(r)
    return StudyDefinition(
        r.read_text("name", name),
        _read_model(r, base),
        _read_outputs(r),
        _read_run(r.sub_table("run")),
        _read_values(r.sub_table("parameters")),
        _read_values(r.sub_table("initial")),
        read_inputs(r.sub_table("inputs")),
        study_parts,
        read_metrics(r.sub_table("metrics")),
        tuple(s for t in r.sub_tables("tables") if (s := _read_table(t, base)) is not None),
        tuple(p for t in r.sub_tables("plots") if (p := _read_plot(t)) is not None),
        _read_values(r.sub_table("guess")),
    )


def _read_values(t: StudyTableReader) -> dict[str, Given]:
    """Numbers and formulas by name; 0 for what cannot be read, so that its name is looked at all
    the same."""
    values = {name: t.read_formula(name) for name in t.data}
    return {name: 0.0 if value is None else value for name, value in values.items()}


def _read_model(r: StudyTableReader, base: Path) -> ModelSpec:
    if "model" not in r.data:
        r.add_problem("model is missing: a table with vehicle = or file =")
        return ModelSpec()
    t = r.sub_table("model")
    t.check_keys(("vehicle", "file", "arguments", "terrain"))
    if ("vehicle" in t.data) == ("file" in t.data):
        t.add_problem("either vehicle = or file = is needed")
        return ModelSpec()
    arguments = dict(t.sub_table("arguments").data)
    if "file" in t.data:
        if "terrain" in t.data:
            t.add_problem(
                "terrain belongs to a vehicle; a model file has its own, or takes it by arguments"
            )
        file_name = t.read_text("file", "")
        path = base / file_name
        return ModelSpec(
            file=path if file_exists(path) else example_path(file_name) or path, arguments=arguments
        )
    ground = t.sub_table("terrain")
    terrain = dict(ground.data) if "terrain" in t.data else None
    if terrain and terrain.pop("file", None) is not None:
        terrain |= _read_profile(ground, base / ground.read_text("file", ""))
    return ModelSpec(t.read_text("vehicle", ""), None, arguments, terrain)


def _is_own(model: ModelSpec, base: Path) -> bool:
    """Is the model file, which is executed, in the folder of the study or an example?"""
    if model.file is None:
        return True
    folders = (base.resolve(), example_folder().resolve())
    return any(model.file.resolve().is_relative_to(folder) for folder in folders)


def _read_profile(t: StudyTableReader, path: Path) -> dict[str, list[float]]:
    """The columns x and h of a CSV file, for a profile."""
    try:
        columns = read_csv(path).channels
    except RunError as error:
        t.add_problem(str(error))
        return {}
    if len(columns) != 2:
        t.add_problem(f"{path} must have two columns, x and height")
        return {}
    return {"x": columns[0].values.tolist(), "h": columns[1].values.tolist()}


def _read_run(t: StudyTableReader) -> dict[str, Any]:
    t.check_keys(RUN)
    read: dict[str, Callable[[str], Any]] = {
        name: t.read_text for name in ("method", "dae", "backend")
    }
    if isinstance(t.data.get("atol"), Mapping):  # numbers by unit or state
        read["atol"] = lambda name: dict(t.sub_table(name).data)
    settings = {name: read.get(name, t.read_positive)(name) for name in t.data if name in RUN}
    return {name: value for name, value in settings.items() if value is not None}


def _read_outputs(r: StudyTableReader) -> dict[str, OutputSpec]:
    outer = r.sub_table("outputs")
    return {
        name: OutputSpec(x) if isinstance(x, str) else _read_output(outer.sub_table(name))
        for name, x in outer.data.items()
    }


def _read_output(t: StudyTableReader) -> OutputSpec:
    t.check_keys(("formula", "units", "label"))
    return OutputSpec(t.read_text("formula", ""), t.read_text("units"), t.read_text("label"))


def _read_table(t: StudyTableReader, base: Path) -> TableSpec | None:
    t.check_keys(TABLE)
    if not t.require_keys("value", "rows"):
        return None
    published_file = t.read_text("beside")
    return TableSpec(
        t.read_text("title", ""),
        t.read_text("value", ""),
        t.read_text("rows", ""),
        t.read_text("columns"),
        t.read_text("part"),
        dict(t.sub_table("where").data),
        t.read_choice("best", ("min", "max"), "min"),
        None if published_file is None else base / published_file,
        t.read_text("source", ""),
    )


def _read_plot(t: StudyTableReader) -> PlotSpec | None:
    t.check_keys(PLOT)
    if not t.require_keys("file", "value", "x"):
        return None
    file = t.read_text("file", "")
    if Path(file).suffix.lower() not in (".png", ".svg", ".pdf") or Path(file).name != file:
        t.add_problem(
            f"file = {file!r} must be a name that ends in .png, .svg or .pdf, without a folder"
        )
    if "y" in t.data and "lines" in t.data:
        t.add_problem("y makes a map and lines makes lines: one of them")
    return PlotSpec(
        file,
        t.read_text("value", ""),
        t.read_text("x", ""),
        t.read_text("y"),
        t.read_text("lines"),
        t.read_text("title", ""),
        t.read_text("part"),
        dict(t.sub_table("where").data),
        t.read_choice("best", ("min", "max"), "min"),
    )
