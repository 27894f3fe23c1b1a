"""What the kernel is reported of a model: which parts it has, and the tables of these parts.

In:  a `SimulationProgram`. Out: parts by name, and text of C that stands between the functions of
the model and the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bellcrank.codegen.c.c_data import c_data_definitions
from bellcrank.codegen.c.rigid import RigidWheel, wheel_tables
from bellcrank.codegen.kernel_data import model_data
from bellcrank.codegen.schedule_steps import symbols_in_order
from bellcrank.program.program import SimulationProgram
from bellcrank.program.statements import section_expressions


def kernel_features(
    program: SimulationProgram,
    dae: bool = False,
    stiff: bool = False,
    wheels: bool = False,
    adaptive: bool = True,
    calls: bool = False,
    looks: bool = False,
    assembles: bool = False,
) -> dict[str, int]:
    """The parts of a model by their names in C. `calls`: rates by one call, and runs step by step;
    `looks`: rows within a step; `assembles`: loops that are closed at a start."""
    loops = None if wheels or dae else program.loops
    multipliers = dae and program.loops is not None and not wheels
    plain = not multipliers and not wheels
    assembled = program.loops if assembles and not wheels else loops
    acts = loops is not None and {*program.inputs}.intersection(
        symbols_in_order(section_expressions(program.closure))
    )
    return {
        "HAS_LOOPS": int(loops is not None),
        "HAS_CORRECTION": int(loops is not None and loops.correction is not None),
        "HAS_BRIDGES": int(loops is not None and bool(loops.scales.blocks)),
        "HAS_SIDES": int(assembled is not None and bool(assembled.sides)),
        "CLOSURE_INPUTS": int(bool(acts)),
        "HAS_SYSTEM": int(loops is not None or multipliers),
        "HAS_DAE": int(multipliers),
        "HAS_WHEELS": int(wheels),
        "HAS_ADAPTIVE": int(plain and adaptive),
        "HAS_STIFF": int(plain and adaptive and stiff),
        "HAS_SLOPES": int(stiff and bool(program.sloped)),
        "HAS_CALLS": int(calls and not multipliers),
        "HAS_STEPS": int(calls),
        "HAS_LOOKS": int(looks),
        "HAS_ASSEMBLY": int(assembled is not None and assembles),
        "REMEMBERS": int(bool(program.stateful_routine_names)),
        "N_START": len(program.start.results),
        "N_UPDATE": len(program.update.results),
    }


def feature_tables(
    program: SimulationProgram, part_flags: Mapping[str, int], wheels: Sequence[RigidWheel] = ()
) -> str:
    """The parts as C knows them, and their tables."""
    texts = [
        "/* ---- what the kernel knows of the model */\n",
        *(f"#define {k} {n}" for k, n in part_flags.items()),
        "",
    ]
    texts.append(c_data_definitions(model_data(program, part_flags)))
    if part_flags["HAS_WHEELS"]:
        texts.append(wheel_tables(wheels))
    return "\n".join(texts)
