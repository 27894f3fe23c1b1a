"""The front door for files: `load` finds out what a file holds and reads it with the class of that
kind.

A kind is one record of `FILE_KINDS`. Its class has a classmethod `read`, which scripts with types
call themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bellcrank.api.model_files import check_arguments
from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.files.format_choice import FORMATS
from bellcrank.core.files.shipped_files import example_path, resolve_example
from bellcrank.core.files.text_files import read_toml, reject_pipe

if TYPE_CHECKING:
    from bellcrank.api.system import System
    from bellcrank.core.files.parsfile import ParsFile
    from bellcrank.linkage import Linkage, Table
    from bellcrank.simulation.run.result import Run
    from bellcrank.study import Study
    from bellcrank.vehicles.cars.car import Car
    from bellcrank.vehicles.motorcycles.motorcycle import Motorcycle
    from bellcrank.vehicles.terrain.terrain import Road, Surface
    from bellcrank.vehicles.tyres.magic_formula import MagicFormula

HEAD_BYTES = 2**16  # bytes of a file that are looked at
TABLES = (".csv", ".txt")
CAR = ("body", "front", "rear", "steering", "brakes", "drive")  # tables that every car file has
MOTORCYCLE = ("frame", "front", "rear")  # those of every motorcycle file
OF_CARS = ("body", "car")  # of which a car file has one, and no motorcycle file
STUDY = ("model", "metrics", "grid", "samples", "parts")


class FileSample:
    """What is looked at of a file: its ending, its first bytes as text, and all of a TOML file."""

    def __init__(self, path: Path) -> None:
        self.path, self.ending = path, path.suffix.lower()
        reject_pipe(path, ModelError)
        try:
            with path.open("rb") as stream:
                self.head = stream.read(HEAD_BYTES)
        except OSError as error:
            raise ModelError(f"cannot read {path}: {error.strerror or error}") from None

    @cached_property
    def head_text(self) -> str:
        return "" if b"\0" in self.head else self.head.decode("utf-8-sig", errors="replace")

    @cached_property
    def toml_keys(self) -> tuple[str, ...]:
        """Top-level names of a TOML file."""
        return tuple(read_toml(self.path)) if self.ending == ".toml" else ()

    @cached_property
    def header_cells(self) -> list[str]:
        """The first row of a table that is not a remark."""
        rows = [
            line
            for line in self.head_text.splitlines()
            if line.strip() and not line.lstrip().startswith("#")
        ]
        if self.ending not in TABLES or not rows:
            return []
        mark = next((m for m in ";\t," if m in rows[0]), None)
        return [cell.strip().lower() for cell in rows[0].split(mark)]

    def has_toml_key(self, *keys: str) -> bool:
        """Has a TOML file one of these names?"""
        return any(key in self.toml_keys for key in keys)


def _is_height_table(s: FileSample) -> bool:
    """Is the first row of a table made of numbers? Its first cell, the corner, may be empty or a
    word."""
    return len(s.header_cells) > 1 and all(_is_number(cell) for cell in s.header_cells[1:])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class FileKind:
    """What a file may be: the class that reads it, and how it is known."""

    name: str
    known_by: str
    module: str
    reader: str
    is_one: Callable[[FileSample], bool]

    def read_file(self, path: Path, options: dict[str, Any]) -> Any:
        """What the class makes of a file."""
        read = getattr(import_module(self.module), self.reader).read
        check_arguments(f"{path.name}: {self.reader}.read", read, options, 1)
        return read(path, **options)


FILE_KINDS = (
    FileKind(
        "model",
        "Python (.py) with a function model(), or an AUTOSIM deck (.lsp)",
        "bellcrank.api.system",
        "System",
        lambda s: s.ending in (".py", ".lsp"),
    ),
    FileKind(
        "motorcycle",
        f"TOML with tables such as [{MOTORCYCLE[0]}], [{MOTORCYCLE[1]}] and [{MOTORCYCLE[2]}]",
        "bellcrank.vehicles.motorcycles.motorcycle",
        "Motorcycle",
        lambda s: set(MOTORCYCLE) <= set(s.toml_keys) and not s.has_toml_key("model", *OF_CARS),
    ),
    FileKind(
        "car",
        f"TOML with tables such as [{CAR[0]}], [{CAR[1]}] and [{CAR[2]}]",
        "bellcrank.vehicles.cars.car",
        "Car",
        lambda s: s.has_toml_key(*CAR, *OF_CARS) and not s.has_toml_key("model"),
    ),
    FileKind(
        "study",
        f"TOML with [{STUDY[0]}] and [{STUDY[1]}]",
        "bellcrank.study",
        "Study",
        lambda s: s.has_toml_key(*STUDY),
    ),
    FileKind(
        "linkage",
        "hard points: TOML with [points], or a table (.csv) with the header name,x,y,z",
        "bellcrank.linkage",
        "Linkage",
        lambda s: (
            s.has_toml_key("points")
            or (s.ending == ".csv" and s.header_cells[:4] == ["name", "x", "y", "z"])
        ),
    ),
    FileKind(
        "linkage table",
        "JSON that Table.save wrote",
        "bellcrank.linkage",
        "Table",
        lambda s: '"bellcrank linkage table' in s.head_text,
    ),
    FileKind(
        "tyre",
        "a tyre property file (.tir, or with a line FITTYP = or PROPERTY_FILE_FORMAT =)",
        "bellcrank.vehicles.tyres",
        "MagicFormula",
        lambda s: (
            s.ending == ".tir"
            or re.search(r"(?mi)^\s*(FITTYP|PROPERTY_FILE_FORMAT)\s*=", s.head_text) is not None
        ),
    ),
    FileKind(
        "road",
        "OpenCRG text (.crg)",
        "bellcrank.vehicles.terrain.terrain",
        "Road",
        lambda s: s.ending == ".crg",
    ),
    FileKind(
        "ground",
        "a table of heights (.csv, .txt) whose first row is numbers, or arrays (.npz, .npy)",
        "bellcrank.vehicles.terrain.terrain",
        "Surface",
        lambda s: s.ending in (".npz", ".npy") or _is_height_table(s),
    ),
    FileKind(
        "parameter file",
        ".par, .echo, or text that begins with PARSFILE",
        "bellcrank.core.files.parsfile",
        "ParsFile",
        lambda s: (
            s.ending in (".par", ".echo") or s.head_text.lstrip().lower().startswith("parsfile\n")
        ),
    ),
    FileKind(
        "run",
        f"channels over time ({', '.join(FORMATS)})",
        "bellcrank.simulation.run.result",
        "Run",
        lambda s: s.ending in FORMATS,
    ),
)
"""In the order in which they are looked for: the first that fits is taken."""


def load(
    path: str | Path, **options: Any
) -> (
    System
    | Study
    | Car
    | Motorcycle
    | Linkage
    | Table
    | MagicFormula
    | Road
    | Surface
    | ParsFile
    | Run
):
    """Read a file, whatever it holds: its content and ending decide.

    The type of the result depends on the file, which no type checker knows. In scripts with types,
    call the classmethod of the kind: `bc.System.read`, `bc.Study.read`, `bc.vehicles.Car.read`,
    `bc.vehicles.Motorcycle.read`,
    `bc.linkage.Linkage.read`, `bc.linkage.Table.read`, `bc.vehicles.tyres.MagicFormula.read`,
    `bc.vehicles.terrain.Road.read`, `bc.vehicles.terrain.Surface.read`, `bc.ParsFile.read` or
    `bc.Run.read`.

    Parameters
    ----------
    path : str or Path
        A model (.py, .lsp), car, motorcycle or study (.toml), hard points (.toml, .csv), table of a
        linkage (.json), tyre (.tir), road (.crg), ground (.csv, .txt, .npz, .npy), parameter file
        (.par, .echo) or run (.csv, .erd, .json, .mat, .mf4, .nc, .parquet). Also the name of an
        example, a car, a motorcycle or hard points that come with Bellcrank: "four_bar",
        "passenger", "sport", "macpherson". Python files are executed: load those you trust. All
        other files are data.
    **options : Any
        Options of the classmethod, such as arguments of `model()` or `spacing=` of a road.

    Returns
    -------
    System, Study, Car, Motorcycle, Linkage, Table, MagicFormula, Road, Surface, ParsFile or Run
        What the file holds.

    Raises
    ------
    ModelError
        If there is no such file, if it is none of these, or if it has mistakes. The message says
        what was looked for.
    RunError
        If a run or a parameter file cannot be read.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.load("passenger")
    Car('passenger car', 1466 kg, wheelbase 2.7 m)
    >>> bc.load("macpherson")
    Linkage('macpherson', macpherson, left, inputs travel, rack)
    """
    if not isinstance(path, str | Path):
        raise ModelError(f"load({path!r:.60}): give the path of a file")
    file_path = Path(path)
    if not file_path.exists():
        kind_found = _builtin_kind(file_path)
        if kind_found is not None:
            return kind_found.read_file(file_path, options)
        file_path = resolve_example(file_path)
    if file_path.is_dir():
        raise ModelError(f"load: {file_path} is a folder; give the path of a file")
    sample = FileSample(file_path)
    kind_found = next((kind for kind in FILE_KINDS if kind.is_one(sample)), None)
    if kind_found is None:
        keys_text = (
            f" Its top-level keys are {', '.join(sample.toml_keys)}." if sample.toml_keys else ""
        )
        kind_list = "\n".join(f"  {kind.name}: {kind.known_by}" for kind in FILE_KINDS)
        raise ModelError(
            f"load: {file_path} is none of the files that are known.{keys_text} Looked "
            f"for:\n{kind_list}"
        )
    return kind_found.read_file(file_path, options)


def _builtin_kind(name: Path) -> FileKind | None:
    """The kind of what comes with Bellcrank by a name; None for an example, which is a file."""
    from bellcrank import examples
    from bellcrank.linkage.hard_point_files import shipped
    from bellcrank.vehicles.cars.car import car_names
    from bellcrank.vehicles.motorcycles.motorcycle import motorcycle_names

    listed = {"car": car_names(), "motorcycle": motorcycle_names(), "linkage": shipped()}
    homes = [kind for kind in FILE_KINDS if str(name) in listed.get(kind.name, ())]
    if len(homes) == 1:
        return homes[0]
    if homes:
        readers = {
            "car": "bc.vehicles.Car.read",
            "motorcycle": "bc.vehicles.Motorcycle.read",
            "linkage": "bc.linkage.Linkage.read",
        }
        kinds_text = " and ".join(f"a {kind.name}" for kind in homes)
        raise ModelError(
            f"load: '{name}' is {kinds_text}; call "
            f"{' or '.join(readers[kind.name] for kind in homes)}"
        )
    if example_path(name) is not None:
        return None
    names = [*(name for kind in listed.values() for name in kind), *examples.names()]
    neighbours = [p.name for p in name.parent.iterdir()] if name.parent.is_dir() else []
    guess = did_you_mean(name.name, [*neighbours, *names])
    listing = (
        ""
        if name.suffix
        else f" Names of what comes with Bellcrank: {', '.join(dict.fromkeys(names))}."
    )
    raise ModelError(f"load: no file {name}.{guess}{listing}")
