"""What the memory of a page holds before a run, behind the numbers of its program: the table of the
model as the kernel knows it, a job with its arrays, inputs and signals.

In:  a `SimulationProgram`, signals, method and step. Out: bytes, and addresses by name.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bellcrank.codegen.c.kernel_features import kernel_features
from bellcrank.codegen.c.kernel_tables import method_number
from bellcrank.codegen.c.rigid import RigidWheel, wheel_data
from bellcrank.codegen.c.signals import NUMBERED
from bellcrank.codegen.kernel_data import (
    REAL_LISTS,
    Value,
    bridge_room,
    model_data,
    row_data,
    size_data,
)
from bellcrank.codegen.memory import FLOAT64_BYTES
from bellcrank.core.numeric.fixed_step_methods import DEFAULT
from bellcrank.core.numeric.tuning import EVENTS
from bellcrank.core.signals import Signal
from bellcrank.kernel.layout import Layout, layout_of
from bellcrank.program.program import SimulationProgram

MODES, TOLD = (
    11,
    2000,
)  # numbers of a rigid wheel, as in rigid.c; room for what wheels do, of which half stays free
MOST_AT_ONCE = 18  # actions of an event at one time, as in events.h
NEVER = 2**31 - 1  # step that is recorded besides the last one of a call


Rows = Sequence[Sequence[float]]


@dataclass(frozen=True)
class EventTables:
    """Events as the kernel reads them (`kernel/events.h`): what is watched, what is set, steps of
    formulas, the states that closed loops move first, how many values events read or set, and how
    many of these are no parameters of the program."""

    watched: Rows
    settings: Rows
    steps: Rows
    follows: Sequence[bool]
    values: int
    more: int


@dataclass(frozen=True)
class PageRunSettings:
    """How a page runs: its signals, in user units; of every input its signal, how often that is
    differentiated, and the scale to equation units; method and step; events; rigid wheels."""

    signals: Sequence[Signal] = ()
    inputs: Sequence[tuple[int, int, float]] = ()
    method: str = DEFAULT
    step: float = 1.0
    events: EventTables | None = None
    wheels: Sequence[RigidWheel] = ()


def model_values(
    program: SimulationProgram, part_flags: Mapping[str, int], functions: Mapping[str, int]
) -> tuple[dict[str, float], dict[str, np.ndarray]]:
    """The fields of the table of a model: numbers, with those of its functions, and arrays."""
    data: dict[str, Value] = {**size_data(program), **model_data(program, part_flags)}
    if program.loops is not None:
        data |= row_data(program.loops)
    numbers, arrays = as_fields(data)
    numbers |= functions
    numbers |= {
        name.removeprefix("HAS_"): x for name, x in part_flags.items() if name.startswith("HAS_")
    }
    numbers |= {
        name.lower(): part_flags[name]
        for name in ("CLOSURE_INPUTS", "REMEMBERS", "N_START", "N_UPDATE")
    }
    return numbers, arrays


def as_fields(data: Mapping[str, Value]) -> tuple[dict[str, float], dict[str, np.ndarray]]:
    """Data by the names of the fields: numbers, and lists as arrays."""
    numbers: dict[str, float] = {
        name.lower(): x for name, x in data.items() if isinstance(x, int | float)
    }
    arrays = {
        name.lower(): np.array([*x] or [0], dtype=float if name in REAL_LISTS else np.int32)
        for name, x in data.items()
        if not isinstance(x, int | float)
    }
    return numbers, arrays


class PageMemory:
    """The memory of a page from an address on: `data`, then zeros up to `end`; `at`: addresses by
    name."""

    def __init__(
        self,
        program: SimulationProgram,
        course: PageRunSettings,
        sizes: Mapping[str, int],
        first: int,
        functions: Mapping[str, int],
        grounds: Sequence[int] = (),
    ) -> None:
        self._first, self.data, self.at = first, bytearray(), dict[str, int]()
        model = layout_of("model.h", "Model")
        numbers, arrays = model_values(
            program, kernel_features(program, wheels=bool(course.wheels)), functions
        )
        if course.wheels:
            wheel_numbers, wheel_arrays = as_fields(
                {**wheel_data(course.wheels), "WHEEL_GROUND": grounds}
            )
            numbers, arrays = numbers | wheel_numbers, arrays | wheel_arrays
        lists = {name: self._place_array(x) for name, x in arrays.items()}
        self.at["model"] = self._place_structure(model, numbers | lists)
        self._place_inputs(course)
        n_q, n_u = len(program.coordinates), len(program.speeds)
        n, width = n_q + n_u, 1 + n_q + n_u + len(program.output_names) + len(program.inputs)
        events = course.events
        event_sizes = (
            {} if events is None else self._place_events(events, MODES * len(course.wheels))
        )
        if course.wheels:
            modes = np.zeros((len(course.wheels), MODES))
            modes[:, 4] = 1.0
            self.at["modes"] = self._place_array(modes)
            event_sizes |= {"depths": len(course.wheels), "told": 3 * TOLD}
        job = layout_of("job.h", "Job")
        self.at["job"] = self._allocate(b"\0" * job.size)
        self.end = self._first + len(self.data)
        breaks = sum(len(s.breaks) for s in course.signals)
        zeros = (
            {"past": 3 * (1 + n_u), "bridges": bridge_room(program.loops.scales.blocks)}
            if program.loops
            else {}
        )
        zeros |= {"job_end": -1, **event_sizes}
        zeros |= {"root_q": n_q, "root_u": n_u, "may": n} if program.loops else {}
        zeros |= {
            "p": len(program.parameters) + (events.more if events else 0),
            "c": len(program.constant_symbols),
            "w": len(program.inputs),
            "y": n,
        }
        zeros |= dict.fromkeys(("k", "old", "bad"), n) | {
            "kept": len(program.inputs),
            "rows": width,
            "breaks": breaks,
        }
        for name, count in {**zeros, "externals": 4, **sizes}.items():
            self.at[name], self.end = self.end, self.end + FLOAT64_BYTES * (count + 1)
        values: dict[str, float | Sequence[float]] = {
            "method": method_number(course.method),
            "every": NEVER,
        }
        values |= {name: address for name, address in self.at.items() if name in job.fields}
        values |= {"h": course.step, "with_inputs": 1, "from": self.at["y"], "visit": (0.0, 1.0)}
        values |= {"most_told": TOLD} if course.wheels else {}
        job.write(self.data, self.at["job"] - first, values)
        if events is not None:
            fields = layout_of("events.h", "Events").fields
            for name, address in self.at.items():
                if name.startswith("events."):
                    struct.pack_into(
                        "<I", self.data, self.at["events"] - first + fields[name[7:]][0], address
                    )

    def _place_array(self, array: np.ndarray) -> int:
        return self._allocate(array.tobytes())

    def _allocate(self, content: bytes) -> int:
        address = self._first + len(self.data)
        self.data += content + b"\0" * (-len(content) % FLOAT64_BYTES)
        return address

    def _place_structure(self, layout: Layout, values: Mapping[str, float]) -> int:
        content = bytearray(layout.size)
        layout.write(content, 0, values)
        return self._allocate(bytes(content))

    def _place_events(self, events: EventTables, modes: int) -> dict[str, int]:
        """Events and what is known of them; how many numbers follow that need not be there before a
        run."""
        tables = {"watched": ("Watched", events.watched), "settings": ("Setting", events.settings)}
        for name, (kind, rows) in {**tables, "steps": ("FormulaStep", events.steps)}.items():
            layout = layout_of("events.h", kind)
            self.at[f"events.{name}"] = self._place_records(
                layout, [dict(zip(layout.fields, r, strict=True)) for r in rows]
            )
        self.at["events.follows"] = self._place_array(np.array([*events.follows, 0], np.int32))
        n = len(events.watched)
        formulas = [*(w[:2] for w in events.watched), *(s[3:5] for s in events.settings)]
        longest = max((last - first for first, last in formulas), default=0)
        max_happenings = 4 * MOST_AT_ONCE * n
        numbers = {
            "n_events": n,
            "n_settings": len(events.settings),
            "n_values": events.values,
            "longest": longest,
        }
        numbers |= {"stopped": -1, "most_happenings": max_happenings, "n_modes": modes}
        self.at["events"] = self._place_structure(layout_of("events.h", "Events"), numbers)
        self.at["events.at_zero"] = self._place_records(
            layout_of("event_at_zero.h", "AtZero"), [{}] * n
        )
        unknown = {"idle": math.nan, "undefined": math.nan}
        self.at["events.counted"] = self._place_records(
            layout_of("events.h", "Counted"), [unknown] * n
        )
        self.at["events_end"] = self._first + len(self.data)
        happening = layout_of("events.h", "Happening").size // FLOAT64_BYTES
        sizes = {
            "values": events.values,
            "times": n * (EVENTS.most + 1),
            "happenings": max_happenings * happening,
        }
        return {f"events.{name}": count for name, count in sizes.items()}

    def _place_records(self, layout: Layout, rows: Sequence[Mapping[str, float]]) -> int:
        content = bytearray(layout.size * (len(rows) + 1))
        for k, row in enumerate(rows):
            layout.write(content, k * layout.size, row)
        return self._allocate(bytes(content))

    def _place_inputs(self, course: PageRunSettings) -> None:
        """Those of the model, then the signals themselves."""
        layout, signal_records = layout_of("input.h", "Input"), []
        for s in course.signals:
            if s.points is not None and s.pieces is not None:
                x, coefficients = (
                    self._place_array(np.asarray(a, float)) for a in (s.points, s.pieces)
                )
                signal_records.append(
                    {
                        "kind": NUMBERED.index("pieces"),
                        "n": len(s.points),
                        "x": x,
                        "pieces": coefficients,
                    }
                )
            else:
                signal_records.append({"kind": NUMBERED.index(s.name)})
        records = [*course.inputs, *((i, 0, 1.0) for i in range(len(course.signals)))]
        content = bytearray(layout.size * len(records))
        for k, (i, rate, scale) in enumerate(records):
            values: dict[str, float | Sequence[float]] = {
                **signal_records[i],
                "rate": rate,
                "scale": scale,
                "a": course.signals[i].numbers,
            }
            layout.write(content, k * layout.size, values)
        self.at["inputs"] = self._allocate(bytes(content))
        self.at["signals"] = self.at["inputs"] + layout.size * len(course.inputs)
