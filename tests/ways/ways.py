"""All ways to run a model: each gives times and states of a whole run in user units, or says why it
does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bellcrank.simulation.backend.compiler import find_compiler
from bellcrank.simulation.backend.gpu_batch import gpu_obstacle
from tests.programs import SKIPPED, build
from tests.ways.capabilities import Capability

Found = tuple[np.ndarray, dict[str, np.ndarray]]


class Elsewhere(Exception):
    """The runs were done in another way, as a note says, or ended early with a message."""


@dataclass(frozen=True)
class Way:
    name: str
    run: Callable[[Capability, Any, Path], Found]
    missing: Callable[[], str] = lambda: ""  # what this machine does not have for it


def names(eom: Any) -> list[str]:
    return [x.name for x in eom.interface.states]


def simulated(capability: Capability, eom: Any, backend: str) -> Found:
    sim = eom.compile(backend=backend)
    assert sim.backend == backend
    run = sim.simulate(**_dae(capability))
    assert run.ended == "finished"
    return run.time, {x: run[x] for x in names(eom)}


def _dae(capability: Capability) -> dict[str, str]:
    return {"dae": capability.dae} if capability.dae else {}


def native(capability: Capability, eom: Any, folder: Path) -> Found:
    return simulated(capability, eom, "c")


def without_compiler(capability: Capability, eom: Any, folder: Path) -> Found:
    return simulated(capability, eom, "wasm")


def stepper(capability: Capability, eom: Any, folder: Path) -> Found:
    st = eom.compile(backend="c").stepper(**_dae(capability))
    run, rows = eom.interface.run, []
    for i in range(round(run.t_end / run.step) + 1):
        if i:
            st.step()
        rows.append([st.t, *(st.state[x] for x in names(eom))])
    return _columns(eom, rows)


def _columns(eom: Any, rows: Any) -> Found:
    array = np.array(rows)
    return array[:, 0], dict(zip(names(eom), array[:, 1:].T, strict=True))


def _many(backend: str) -> Callable[[Capability, Any, Path], Found]:
    def run(capability: Capability, eom: Any, folder: Path) -> Found:
        sim = eom.compile(backend="c")
        varied = next(x for x in eom.interface.parameters if x.default)
        values = {varied.name: np.array([1.01, 1.0, 0.99]) * varied.default}
        many = sim.simulate_many(parameters=values, backend=backend, **_dae(capability))
        if many.settings["backend"] != backend:
            raise Elsewhere(*many.notes)
        assert many.ended[1] == "finished"
        return many.time, {x: many[x][1] for x in names(eom)}

    return run


def gpu(capability: Capability, eom: Any, folder: Path) -> Found:
    """A GPU, or where there is none a processor that plays it."""
    from tests.simulation.many.test_cuda import play

    with pytest.MonkeyPatch.context() as patch:
        if gpu_obstacle():
            play(patch, folder)
        return _many("cuda")(capability, eom, folder)


def _program(language: str) -> Callable[[Capability, Any, Path], Found]:
    def run(capability: Capability, eom: Any, folder: Path) -> Found:
        found = build(eom, language, folder, flags="-O0", **_dae(capability)).run(folder / "run")
        return found.time, {x: found[x] for x in names(eom)}

    return run


def fmu(capability: Capability, eom: Any, folder: Path) -> Found:
    from bellcrank.export.fmu import binaries
    from tests.fmus import Opened

    with pytest.MonkeyPatch.context() as patch:  # compiled in less time than the tests take
        patch.setattr(binaries, "FLAGS", tuple("-O0" if f == "-O2" else f for f in binaries.FLAGS))
        unit = Opened(
            eom.export("fmu", folder / "model.fmu", **_dae(capability)), "CoSimulation"
        ).start()
    run, rows = eom.interface.run, []
    length = run.step * (run.output_every or 1)
    for i in range(round(run.t_end / length) + 1):
        if i:
            unit.step((i - 1) * length, length)
        rows.append([i * length, *unit.get(*unit.states)])
    unit.close()
    return _in_user_units(eom, rows)


def _in_user_units(eom: Any, rows: Any) -> Found:
    factors = [x.unit.factor for x in eom.interface.states]
    return _columns(eom, np.array(rows) / [1.0, *factors])


def embedded(capability: Capability, eom: Any, folder: Path) -> Found:
    from tests.embedded import Embedded

    if capability.dae:
        eom.export("embedded", folder, **_dae(capability))
    made = Embedded(eom, folder)
    model = made.model()
    steps = round(eom.interface.run.t_end / model.h)
    model.h = eom.interface.run.t_end / steps
    rows = []
    for i in range(steps + 1):
        failed = made.call("step" if i else "begin", model)
        if failed:
            raise Elsewhere(f"returns {failed} at t = {model.t:g} s")
        rows.append([model.t, *model.y[: len(names(eom))]])
    return _in_user_units(eom, rows)


def page(capability: Capability, eom: Any, folder: Path) -> Found:
    from tests.node import page_runs, unpacked

    made = eom.export("page", **_dae(capability))
    run = eom.interface.run
    (found,) = page_runs(made, (run.t_end, unpacked(made.text)[0]["step"], 1))
    if "error" in found:
        raise Elsewhere(found["error"])
    return np.array(found["t"]), {x: np.array(found[x]) for x in names(eom)}


def _no_compiler() -> str:
    return "" if find_compiler() else "there is no C compiler"


def _package(name: str) -> Callable[[], str]:
    from importlib.util import find_spec

    return lambda: "" if find_spec(name) else f"{name} is not installed"


def _no_node() -> str:
    from tests.node import NODE

    return "" if NODE else "node is not installed"


def _no_gpu() -> str:
    import shutil

    return (
        ""
        if shutil.which("g++") or not gpu_obstacle()
        else "there is neither a GPU nor a C++ compiler"
    )


def _lacks(language: str) -> Callable[[], str]:
    return lambda: SKIPPED[language][1] if SKIPPED[language][0] else ""


WAYS = [
    Way("native", native, _no_compiler),
    Way("without compiler", without_compiler, _package("wasmtime")),
    Way("stepper", stepper, _no_compiler),
    Way("lanes", _many("lanes"), _no_compiler),
    Way("cores", _many("cores"), _no_compiler),
    Way("GPU", gpu, _no_gpu),
    Way("written C", _program("c"), _lacks("c")),
    Way("written Fortran", _program("fortran"), _lacks("fortran")),
    Way("FMU co-simulation", fmu, lambda: _no_compiler() or _package("fmpy")()),
    Way("embedded", embedded, _no_compiler),
    Way("page", page, _no_node),
]
