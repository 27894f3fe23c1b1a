"""Study files: TOML, parsed as data. All that is wrong is reported at once, also what the model does not know.

A file has the tables model, run, parameters, initial, guess, inputs, outputs, metrics; grid or samples or both, or
several [[parts]] of them; and, if wanted, [[tables]] and [[plots]]. See docs/studies.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bellcrank.errors import ModelError, RunError
from bellcrank.files.csv_table import read_csv
from bellcrank.files.shipped import example_path, existing
from bellcrank.files.text import read_toml
from bellcrank.study.read_values import read_inputs, read_metrics, read_parts
from bellcrank.study.reader import Reader
from bellcrank.study.records import Definition, Given, ModelSpec, OutputSpec, PlotSpec, TableSpec

KEYS = (
    "name", "note", "model", "run", "parameters", "initial", "guess", "inputs", "outputs", "metrics", "grid",
    "samples", "parts", "tables", "plots",
)  # fmt: skip
RUN = ("t_end", "step", "method", "dae", "output_every", "backend", "rtol", "atol")
TABLE = ("title", "value", "rows", "columns", "part", "where", "best", "beside", "source")
PLOT = ("file", "title", "value", "x", "y", "lines", "part", "where", "best")


def read_definition(
    source: str | Path | Mapping[str, Any], folder: str | Path | None = None
) -> tuple[Definition, list[str]]:
    """What a TOML file says, or a mapping with the same content, and all that is wrong with it."""
    if isinstance(source, Mapping):
        data, name, base = dict(source), "study", Path(folder or ".")
    elif isinstance(source, str | Path):
        path = existing(source)
        data, name, base = read_toml(path), path.stem, Path(folder) if folder is not None else path.parent
    else:
        raise ModelError(f"a study is the path of a .toml file or a mapping, given {type(source).__name__}")
    reader = Reader(data, "the study")
    return _definition(reader, name, base), reader.problems


def _definition(r: Reader, name: str, base: Path) -> Definition:
    r.known(KEYS)
    study_parts = read_parts(r)
    return Definition(
        r.text("name", name),
        _model(r, base),
        _outputs(r),
        _run(r.table("run")),
        _given(r.table("parameters")),
        _given(r.table("initial")),
        read_inputs(r.table("inputs")),
        study_parts,
        read_metrics(r.table("metrics")),
        tuple(s for t in r.tables("tables") if (s := _table(t, base)) is not None),
        tuple(p for t in r.tables("plots") if (p := _plot(t)) is not None),
        _given(r.table("guess")),
    )


def _given(t: Reader) -> dict[str, Given]:
    """Numbers and formulas by name; 0 for what cannot be read, so that its name is looked at all the same."""
    values = {name: t.formula(name) for name in t.data}
    return {name: 0.0 if value is None else value for name, value in values.items()}


def _model(r: Reader, base: Path) -> ModelSpec:
    if "model" not in r.data:
        r.problem("model is missing: a table with vehicle = or file =")
        return ModelSpec()
    t = r.table("model")
    t.known(("vehicle", "file", "arguments", "terrain"))
    if ("vehicle" in t.data) == ("file" in t.data):
        t.problem("either vehicle = or file = is needed")
        return ModelSpec()
    arguments = dict(t.table("arguments").data)
    if "file" in t.data:
        if "terrain" in t.data:
            t.problem("terrain belongs to a vehicle; a model file has its own, or takes it by arguments")
        file_name = t.text("file", "")
        path = base / file_name
        return ModelSpec(file=path if path.exists() else example_path(file_name) or path, arguments=arguments)
    ground = t.table("terrain")
    terrain = dict(ground.data) if "terrain" in t.data else None
    if terrain and terrain.pop("file", None) is not None:
        terrain |= _points(ground, base / ground.text("file", ""))
    return ModelSpec(t.text("vehicle", ""), None, arguments, terrain)


def _points(t: Reader, path: Path) -> dict[str, list[float]]:
    """The columns x and h of a CSV file, for a profile."""
    try:
        columns = read_csv(path).channels
    except RunError as error:
        t.problem(str(error))
        return {}
    if len(columns) != 2:
        t.problem(f"{path} must have two columns, x and height")
        return {}
    return {"x": columns[0].values.tolist(), "h": columns[1].values.tolist()}


def _run(t: Reader) -> dict[str, Any]:
    t.known(RUN)
    read: dict[str, Callable[[str], Any]] = {name: t.text for name in ("method", "dae", "backend")}
    if isinstance(t.data.get("atol"), Mapping):  # numbers by unit or state
        read["atol"] = lambda name: dict(t.table(name).data)
    settings = {name: read.get(name, t.positive)(name) for name in t.data if name in RUN}
    return {name: value for name, value in settings.items() if value is not None}


def _outputs(r: Reader) -> dict[str, OutputSpec]:
    outer = r.table("outputs")
    return {name: OutputSpec(x) if isinstance(x, str) else _output(outer.table(name)) for name, x in outer.data.items()}


def _output(t: Reader) -> OutputSpec:
    t.known(("formula", "units", "label"))
    return OutputSpec(t.text("formula", ""), t.text("units"), t.text("label"))


def _table(t: Reader, base: Path) -> TableSpec | None:
    t.known(TABLE)
    if not t.needs("value", "rows"):
        return None
    published_file = t.text("beside")
    return TableSpec(
        t.text("title", ""), t.text("value", ""), t.text("rows", ""), t.text("columns"), t.text("part"),
        dict(t.table("where").data), t.choice("best", ("min", "max"), "min"),
        None if published_file is None else base / published_file, t.text("source", ""),
    )  # fmt: skip


def _plot(t: Reader) -> PlotSpec | None:
    t.known(PLOT)
    if not t.needs("file", "value", "x"):
        return None
    file = t.text("file", "")
    if Path(file).suffix.lower() not in (".png", ".svg", ".pdf") or Path(file).name != file:
        t.problem(f"file = {file!r} must be a name that ends in .png, .svg or .pdf, without a folder")
    if "y" in t.data and "lines" in t.data:
        t.problem("y makes a map and lines makes lines: one of them")
    return PlotSpec(
        file, t.text("value", ""), t.text("x", ""), t.text("y"), t.text("lines"), t.text("title", ""), t.text("part"),
        dict(t.table("where").data), t.choice("best", ("min", "max"), "min"),
    )  # fmt: skip
