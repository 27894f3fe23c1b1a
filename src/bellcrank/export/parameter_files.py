"""Parameter files of a model: what they say as settings of a run, and the echo of a run as such a
file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core import signals
from bellcrank.core.errors import RunError, did_you_mean, issue_warning
from bellcrank.core.files.atomic import write_texts
from bellcrank.core.files.parsfile import RUN_KEYWORDS, SIGNALS, ParsEntry, ParsFile, parse_number
from bellcrank.core.files.record import report_io_errors
from bellcrank.core.files.text_files import read_text
from bellcrank.core.numeric.fixed_step_methods import ADAPTIVE
from bellcrank.core.units import UNIT_SYSTEMS
from bellcrank.export.standalone.setup import (
    KeyedQuantity,
    ProgramSetup,
    default_input,
    signal_file,
)
from bellcrank.mechanics.interface.interface import DECLARED, STATES, states_by_all_keys
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.simulation.run.point_evaluation import echo
from bellcrank.simulation.run.result import Run
from bellcrank.simulation.run.signal_inputs import to_signal


def read_settings(setup: ProgramSetup, pars: ParsFile | str | Path) -> dict[str, Any]:
    """What a parameter file says, as arguments of `simulate`; all that is wrong with it is reported
    at once."""
    file = pars if isinstance(pars, ParsFile) else ParsFile.read(pars)
    reader = _ParameterFileReader(setup)
    for entry in file.entries:
        reader.read_entry(entry)
    if reader.problems:
        raise RunError("\n".join(reader.problems))
    if reader.absolute:
        reader.settings["atol"] = reader.absolute.get("", reader.absolute)
        if "" in reader.absolute and len(reader.absolute) > 1:  # of all states, but for some
            usual = dict.fromkeys((s.unit for s in setup.states), reader.absolute.pop(""))
            reader.settings["atol"] = usual | reader.absolute
    return reader.settings


class _ParameterFileReader:
    """Settings in the making."""

    def __init__(self, setup: ProgramSetup) -> None:
        self.setup = setup
        numbered = states_by_all_keys("q", setup.interface.coordinates) | states_by_all_keys(
            "u", setup.interface.speeds
        )
        self.states = {k: x.name for k, x in numbered.items() if re.fullmatch(r"[qu]\(\d+\)", k)}
        self.states |= {s.keyword.lower(): s.name for s in setup.states}
        self.parameters = {p.keyword.lower(): p.name for p in setup.parameters}
        self.inputs = {s.keyword.lower(): s.name for s in setup.signals}
        self.settings: dict[str, Any] = {"parameters": {}, "initial": {}, "inputs": {}}
        self.problems: list[str] = []
        self.absolute: dict[str, float] = {}  # tolerances of states by name or unit; "": of all

    def read_entry(self, entry: ParsEntry) -> None:
        key = entry.keyword
        word = entry.words[0] if entry.words else ""
        state = self.states.get(key)
        if key in self.parameters or state is not None:
            value = parse_number(word)
            if value is None:
                self._add_problem(entry, f"{key} needs a number, found '{word}'")
            elif key in self.parameters:
                self.settings["parameters"][self.parameters[key]] = value
            elif state is not None:
                self.settings["initial"]["".join(state.split())] = value
        elif key in self.inputs:
            self._read_input(entry)
        elif self.setup.interface.find_or_none(key, ("removed",)) is not None:
            self._add_problem(entry, f"{key} follows from a constraint and cannot be given")
        elif key in RUN_KEYWORDS:
            self._read_run_setting(entry, word)
        elif key.startswith("atol(") and key.endswith(")"):
            self._read_run_setting(entry, word, key[5:-1])
        elif self.setup.interface.find_or_none(key, ("idle", "unused")) is not None:
            issue_warning(
                f"{entry.location}: the model has the parameter '{key}', but does not depend on it"
            )
        else:
            setup = self.setup
            keywords = [
                *(x.keyword for x in (*setup.parameters, *setup.states, *setup.signals)),
                *RUN_KEYWORDS,
            ]
            self._add_problem(entry, f"no keyword is called '{key}'.{did_you_mean(key, keywords)}")

    def _add_problem(self, entry: ParsEntry, text: str) -> None:
        self.problems.append(f"{entry.location}: {text}")

    def _read_run_setting(self, entry: ParsEntry, word: str, whose: str = "") -> None:
        if entry.keyword == "method":
            self.settings["method"] = word
            return
        value = parse_number(word)
        if value is None or value <= 0:
            self._add_problem(entry, f"{entry.keyword} needs a positive number, found '{word}'")
        elif entry.keyword == "iprint":
            if value != int(value):
                self._add_problem(
                    entry, f"iprint needs a whole number of at least 1, found '{word}'"
                )
            self.settings["output_every"] = int(value)
        elif entry.keyword == "rtol":
            self.settings["rtol"] = value
        elif entry.keyword.startswith("atol"):
            self._read_absolute_tolerance(entry, whose, value)
        else:
            self.settings["t_end" if entry.keyword == "stopt" else "step"] = value

    def _read_absolute_tolerance(self, entry: ParsEntry, whose: str, value: float) -> None:
        """An absolute tolerance of all states, of those with a unit, or of one."""
        unit = next((s.unit for s in self.setup.states if s.unit.lower() == whose), None)
        name = self.states.get(whose, unit)
        if whose and name is None:
            self._add_problem(
                entry, f"{entry.keyword}: no state is called '{whose}', and none has such a unit"
            )
        else:
            self.absolute[name if whose and name is not None else ""] = value

    def _read_input(self, entry: ParsEntry) -> None:
        try:
            self.settings["inputs"][self.inputs[entry.keyword]] = _parse_input(entry)
        except RunError as error:
            self._add_problem(entry, str(error))


def _parse_input(entry: ParsEntry) -> Any:
    """A number, or a signal of some kind or from a file."""
    word = entry.words[0].lower() if entry.words else ""
    value = parse_number(word)
    if value is not None:
        return value
    if word == "file" and len(entry.words) > 1:
        return read_signal(entry.words[1], entry.path.parent)
    count = SIGNALS.get(word, 0)
    if not count:
        raise RunError(
            f"{entry.keyword} needs a number or one of {', '.join(SIGNALS)}, found '{word}'"
        )
    numbers = [x for x in map(parse_number, entry.words[1 : 1 + count]) if x is not None]
    if len(numbers) < count:
        raise RunError(f"{entry.keyword}: {word} needs {count} numbers")
    return numbers[0] if word == "constant" else signals.SIGNAL_KINDS[word].make_signal(*numbers)


def read_signal(name: str, folder: Path) -> Any:
    """A sampled input from its file: straight lines, or cubic pieces."""
    path = folder / name if (folder / name).is_file() else Path(name)
    text = read_text(path)
    rows: list[list[float]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.strip().startswith("*"):
            continue
        numbers = [parse_number(x) for x in line.replace(",", " ").split()]
        row = [x for x in numbers if x is not None]
        is_malformed = len(row) != len(numbers) or len(row) not in (2, 5)
        if is_malformed or (rows and (len(row) != len(rows[0]) or row[0] <= rows[-1][0])):
            expected = (
                "expected a time later than the one before and a value, or a time and four "
                "coefficients"
            )
            raise RunError(f"{path}, line {number}: {expected}")
        rows.append(row)
    if len(rows) < 2:
        raise RunError(f"{path}: an input needs at least two points")
    data = np.array(rows)
    if data.shape[1] == 2:
        return signals.sampled(data[:, 0].tolist(), data[:, 1].tolist(), path.stem)
    return signals.piecewise_cubic(data[:, 0], data[:-1, 1:])


def write_echo(
    setup: ProgramSetup, loaded: LoadedModel, run: Run, options: Mapping[str, Any], path: str | Path
) -> Path:
    """Writes a parameter file with every value as a run used it; sampled inputs go to files next to
    it.

    `loaded` made the run and is asked for what user functions gave.
    """
    path = Path(path)
    values = setup.interface.values_by_key(options.get("parameters", {}), DECLARED, "parameters")
    parameters = tuple(
        replace(p, value=float(values[p.name])) if p.name in values else p for p in setup.parameters
    )
    states = tuple(replace(s, value=float(run[s.name][0]), given=True) for s in setup.states)
    input_signals = setup.interface.values_by_key(options.get("inputs", {}), ("input",), "inputs")
    listed = tuple(_echo_input(s, input_signals.get(s.quantity.key)) for s in setup.signals)
    every = int(options.get("output_every", setup.every))
    setup = replace(
        setup,
        parameters=parameters,
        states=states,
        signals=listed,
        every=every,
        t_end=run.settings["t_end"],
        step=run.settings["step"],
        method=run.settings["method"],
        tolerances=_tolerance_keywords(setup, run, options),
        **_user_function_values(setup, loaded, run, options),
    )
    files = {path: default_input(setup)}
    files |= {
        path.with_name(s.sample_file_name): signal_file(s) for s in listed if s.sample_file_name
    }
    report_io_errors("write", path, lambda: write_texts(files))
    return path


def _tolerance_keywords(
    setup: ProgramSetup, run: Run, options: Mapping[str, Any]
) -> tuple[tuple[str, float], ...]:
    """Tolerances of a run by keyword; an absolute one only if it was given."""
    if run.settings["method"] not in ADAPTIVE:
        return ()
    atol = options.get("atol")
    if not isinstance(atol, Mapping):
        return (("RTOL", run.settings["rtol"]), *([] if atol is None else [("ATOL", float(atol))]))
    return (
        ("RTOL", run.settings["rtol"]),
        *(x for k, v in atol.items() for x in _absolute_tolerance_keywords(setup, k, float(v))),
    )


def _absolute_tolerance_keywords(
    setup: ProgramSetup, name: Any, value: float
) -> list[tuple[str, float]]:
    """An absolute tolerance of a state or unit by keyword; units that no state has are
    converted."""
    state = setup.interface.find_or_none(name, STATES)
    if state is not None:
        return [(f"ATOL({s.keyword})", value) for s in setup.states if s.name == state.name]
    if any(s.unit == name for s in setup.states):
        return [(f"ATOL({name})", value)]
    unit = UNIT_SYSTEMS[setup.interface.units].parse_unit(str(name))
    matching = (s for s in setup.states if s.quantity.unit.dimension == unit.dimension)
    return [
        (f"ATOL({s.keyword})", float(unit.to_equation_units(value)) / s.factor) for s in matching
    ]


def _user_function_values(
    setup: ProgramSetup, loaded: LoadedModel, run: Run, options: Mapping[str, Any]
) -> dict[str, Any]:
    """What user functions gave when parameters had been read, and give to the echo."""
    if not setup.entered and not setup.echoed:
        return {}
    states = [run[s.name][0] * s.factor for s in setup.states]
    parameters, inputs = options.get("parameters"), options.get("inputs")
    echoed = echo(loaded, 0.0, states[: setup.n_q], states[setup.n_q :], parameters, inputs)
    entered = loaded.parameter_values(parameters)[len(setup.parameters) :]
    return {
        "entered": tuple(
            replace(q, value=x / q.factor) for q, x in zip(setup.entered, entered, strict=True)
        ),
        "echoed": tuple(replace(q, value=echoed[q.name] / q.factor) for q in setup.echoed),
    }


def _echo_input(listed: KeyedQuantity, signal_given: Any) -> KeyedQuantity:
    if signal_given is None:
        return listed
    signal = to_signal(signal_given, listed.name)
    return replace(listed, signal=None if signal.name == "function" else signal)
