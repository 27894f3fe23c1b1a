"""A program for pages: WebAssembly that is attached to a kernel of pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bellcrank.codegen.c.functions import C_NAMES
from bellcrank.codegen.kernel_function import KernelFunction, kernel_function_digest
from bellcrank.codegen.linkages import kernel_function
from bellcrank.codegen.memory import WASM_PAGE_BYTES
from bellcrank.codegen.wasm.kernel_module import kernel_module
from bellcrank.codegen.wasm.page_memory import PageMemory, PageRunSettings
from bellcrank.codegen.wasm.program_module import Mirrored, attached_program
from bellcrank.core.errors import ModelError
from bellcrank.kernel.layout import layout_of
from bellcrank.program.program import SimulationProgram

# those that pages choose from, the smallest first, and what they have besides fixed steps
PAGE_KERNELS = {
    "page": (),
    "page_linkages": ("LINKAGES",),
    "page_ground": ("GROUND",),
    "page_loops": ("LOOPS",),
    "page_events": ("LOOKS",),
    "page_bridges": ("LOOPS", "BRIDGES"),
    "page_wheels": ("WHEELS", "LINKAGES", "GROUND", "LOOKS"),
    "page_mechanisms": ("LOOPS", "BRIDGES", "LINKAGES", "GROUND"),
    "page_all": ("LOOPS", "BRIDGES", "LINKAGES", "GROUND", "LOOKS"),
}
TABLE = 1  # where their tables of functions begin for models
FIELDS = (
    "t",
    "h",
    "t_end",
    "begun",
    "reached",
    "n_breaks",
    "n_told",
)  # of a job, that pages set or read


@dataclass(frozen=True)
class BrowserProgram:
    """`kernel` and `module`: bytes of WebAssembly; `at`: addresses by name; `fields`: offsets in
    the job; `sizes`: how many results functions have, by name; `routines`: addresses, by what the
    kernel knows of each; `mirrored`: lists that are to be copied first."""

    kernel: bytes
    module: bytes
    at: Mapping[str, int]
    fields: Mapping[str, int]
    sizes: Mapping[str, int]
    routines: Mapping[str, int]
    mirrored: Sequence[Mirrored]

    def place_of(self, ground: KernelFunction) -> int | None:
        """The address of a ground, if the program has it."""
        return self.routines.get(kernel_function_digest(ground))


def browser_program(
    program: SimulationProgram, course: PageRunSettings | None = None
) -> BrowserProgram:
    """The functions of runs with fixed steps; rejects what browsers cannot call."""
    refuse_foreign(program)
    run_functions = [f for f in program.functions_of("minimal") if f.name != "constants"]
    sizes = {C_NAMES.get(f.name, f.name): len(f.section.results) for f in run_functions}
    result_counts = {name: n for name, n in sizes.items() if name in ("poses", "marks", "closure")}
    course = course or PageRunSettings()
    page_memories: list[PageMemory] = []

    def page_memory(address: int, names: Sequence[str], grounds: Sequence[int]) -> bytes:
        functions = {name: TABLE + i for i, name in enumerate(names)}
        page_memories.append(
            PageMemory(program, course, result_counts, address, functions, grounds)
        )
        return bytes(page_memories[0].data)

    wasm = attached_program(
        program, WASM_PAGE_BYTES, TABLE, wheels=course.wheels, trailer=page_memory
    )
    addresses = {**page_memories[0].at, "sines": wasm.sines, "end": page_memories[0].end}
    job = layout_of("job.h", "Job").fields
    kernel = kernel_module(_page_kernel(program, wasm.imports, course))
    fields = {name: job[name][0] for name in FIELDS}
    return BrowserProgram(
        kernel, wasm.module, addresses, fields, sizes, wasm.routines, wasm.mirrored
    )


def refuse_foreign(program: SimulationProgram) -> None:
    """Complains of user functions that are given as text of other languages, or as functions of
    Python."""
    foreign = [f"'{r.name}'" for r in program.externals if kernel_function(program, r) is None]
    if foreign:
        is_plural = len(foreign) > 1
        raise ModelError(
            f"a live page computes in the browser and cannot call the user "
            f"function{'s' * is_plural} "
            f"{', '.join(foreign)}: write what {'they do' if is_plural else 'it does'} as "
            f"formulas or as tables",
            program.name,
        )


def _page_kernel(
    program: SimulationProgram, imports: Sequence[str], course: PageRunSettings
) -> str:
    """The smallest kernel that has what a program needs."""
    loops = program.loops
    features = {
        "LOOPS": loops is not None,
        "BRIDGES": loops is not None and bool(loops.scales.blocks),
    }
    features |= {"LINKAGES": not {"lookup", "implicit"}.isdisjoint(imports)}
    features |= {"GROUND": any(name.startswith(("ground", "grid")) for name in imports)}
    features |= {"LOOKS": course.events is not None, "WHEELS": bool(course.wheels)}
    required = {part for part, is_needed in features.items() if is_needed}
    return next(
        name for name, kernel_features in PAGE_KERNELS.items() if required <= {*kernel_features}
    )
