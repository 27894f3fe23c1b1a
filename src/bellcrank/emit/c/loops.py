"""Closed loops in C: what fills their run-time sources, for minimal equations and for those with multipliers."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.emit.c import job
from bellcrank.emit.c.methods import half_explicit_tables
from bellcrank.emit.c.run import Run, sets_inputs
from bellcrank.emit.c.runtime_files import definitions, runtime
from bellcrank.emit.number import Number
from bellcrank.emit.steps import symbols_in
from bellcrank.expr import ZERO
from bellcrank.numeric.projection import Block, Scales
from bellcrank.numeric.tuning import ASSEMBLY, BRIDGES, LOOPS, MULTIPLIERS
from bellcrank.program.loops import Loops
from bellcrank.program.program import Program
from bellcrank.program.statements import section_expressions


def null_space(scales: Scales, reduced: bool) -> list[str]:
    """How rows of loops are eliminated in numbers, and how accelerations on their null space are found."""
    if not reduced:
        return [runtime("pivoted.c", SCALES=_scales(scales))]
    order = [
        f"#define USUAL_ORDER {scales.usual_order!r}",
        f"enum {{ N_ORDER = {len(scales.order)} }};",
        "static const int ORDER[N_ORDER + 1][2] = { /* row and column of the pivots of `derivatives` */",
        *(f"    {{{i}, {j}}}," for i, j in scales.order),
        "    {0, 0}",
        "};",
        "",
    ]
    return [runtime("pivoted.c", SCALES=_scales(scales) + "\n".join(order)), runtime("null_space.c")]


def _scales(k: Scales) -> str:
    """Numbers that bring the rows of loops to entries of about one."""
    lines = [f"#define USUAL_RATIO {k.usual!r}"]
    for name, numbers in (("ROW_SCALE[N_V]", k.rows), ("COLUMN_SCALE[N_U]", k.columns)):
        lines += [f"static const real {name} = {{", *(f"    {x!r}," for x in numbers), "};"]
    return "\n".join([*lines, ""])


def minimal_run(program: Program, loops: Loops, number: Number) -> Run:
    """Runs with independent speeds: steps end on the constraints."""
    acts = {*program.inputs}.intersection(symbols_in(section_expressions(program.closure)))
    setting = sets_inputs(program) if acts else ""
    corrected = ""
    if loops.correction is not None:
        corrected = correction(loops, setting, "CORRECTIONS && !(size < SETTLED)", "WATCHED") + runtime(
            "staged_rates.c"
        )
    bridge = ""
    if loops.scales.blocks:
        bridge = runtime("bridge.c", BLOCKS=_blocks(loops.scales.blocks), TUNING=definitions(BRIDGES, number))
    closed = runtime(
        "projection.c",
        TUNING=definitions(LOOPS, number),
        LEAST_NORM=least_norm_text(),
        CORRECTION=corrected,
        SET=setting,
        REDUNDANT=_redundant(program, loops),
        BRIDGE=bridge,
    )
    step = runtime("projected_step.c", CORRECTED=corrected, BRIDGE=bridge)
    admits = runtime("adaptive_loops.c", CORRECTED=corrected, BRIDGE=bridge, SET=sets_inputs(program))
    return Run(job.LOOPS, loops=closed, corrected=corrected, step=step, move="projected_step", admits=admits)


def assembly_text(program: Program, loops: Loops, number: Number) -> str:
    """How closed loops are closed at the start; follows the text of a run, whose file has the function `inertias`."""
    return runtime("assembly.c", CLOSING=closing_text(loops, number), INPUTS=sets_inputs(program))


def closing_text(loops: Loops, number: Number) -> str:
    """How closed loops are closed by what may move; follows `closure`, `sides` and `least_norm`."""
    return runtime(
        "closing.c",
        TUNING=definitions(ASSEMBLY, number),
        SIDES=", ".join(map(str, loops.sided)) if loops.sides else "",
        N_SIDES=str(len(loops.sides)),
    )


def least_norm_text() -> str:
    """The smallest change that meets linear equations."""
    return runtime("length.c") + runtime("least_norm.c")


def multiplier_run(program: Program, loops: Loops, number: Number) -> Run:
    """Runs by a method for differential-algebraic equations."""
    redundant = _redundant(program, loops)
    dae = runtime("dae.c", TUNING=definitions(MULTIPLIERS, number), SET=sets_inputs(program), REDUNDANT=redundant)
    text = _structure(loops) + half_explicit_tables() + dae
    return Run(job.DAE, multipliers=text, step=runtime("dae_step.c"), move="dae_step", adaptive=False)


def correction(loops: Loops, setting: str, turns: str, steady: str) -> str:
    """The correction of regular positions: goes on for so many `turns`, and needs pivots above `steady`."""
    return corrected_places(loops) + runtime("correction.c", SET=setting, TURNS=turns, STEADY=steady)


def corrected_places(loops: Loops, real: str = "real") -> str:
    """Places that the correction of regular positions moves, and scales, in numbers of a type."""
    correction = loops.correction
    assert correction is not None
    arrays = {
        "int CORRECTED_Q": correction.q,
        "int CORRECTED_U": correction.u,
        f"{real} PIVOT_SCALE": correction.pivot_scales,
    }
    lines = [f"enum {{ N_CORRECTED_Q = {len(correction.q)}, N_CORRECTED_U = {len(correction.u)} }};"]
    for name, numbers in arrays.items():
        listed = ", ".join(repr(x) for x in numbers) or "0"  # C has no empty arrays
        lines.append(f"static const {name}[] = {{{listed}}};")
    return "\n".join([*lines, "", ""])


def _redundant(program: Program, loops: Loops) -> str:
    """What runs need that use the redundant equations."""
    plain = tuple(program.coordinate_rates.results) == program.speeds
    paired = f"enum {{ N_PAIRED = {loops.paired} }}; /* rows of g whose rates are the same rows of v */\n"
    sizes = f"enum {{ SPEEDS_ARE_RATES = {int(plain)} }}; /* is q' = u? */\n" + paired
    return sizes + runtime("system_places.c") + runtime("redundant.c")


def bridge_room(blocks: Sequence[Block]) -> int:
    """How many numbers the bridges of blocks take: each a kind, a residual and seven vectors."""
    return len(blocks) * (2 + 7 * _widest(blocks))


def _widest(blocks: Sequence[Block]) -> int:
    return max((len(speeds) for _, speeds, _, _ in blocks), default=0)


def _blocks(blocks: Sequence[Block]) -> str:
    """Rows, speeds and coordinates of blocks."""
    rows, speeds, coordinates, usual = zip(*blocks, strict=True)
    arrays = {
        "int BLOCK_AT[N_BLOCKS + 1]": (_starts(speeds), "where the speeds of each block begin"),
        "int BLOCK_U[]": ([j for block in speeds for j in block], "speeds"),
        "int BLOCK_Q[]": ([j for block in coordinates for j in block], "coordinates of which they are the rates"),
        "int BLOCK_ROW_AT[N_BLOCKS + 1]": (_starts(rows), "where the rows of each block begin"),
        "int BLOCK_ROW[]": ([i for block in rows for i in block], "rows"),
        "real BLOCK_USUAL[N_BLOCKS]": (usual, "ratio of pivots"),
    }
    sizes = {"N_BLOCKS": len(blocks), "WIDEST": _widest(blocks), "MOST_BLOCK_ROWS": max(map(len, rows))}
    return f"enum {{ {', '.join(f'{k} = {v}' for k, v in sizes.items())} }};\n" + "".join(
        f"static const {name} = {{{', '.join(map(repr, numbers))}}}; /* {note} */\n"
        for name, (numbers, note) in arrays.items()
    )


def _structure(loops: Loops) -> str:
    """Where entries of M and J stand that are not zero in every position, and what follows for J M^-1 J'."""
    M, J = ([[x is not ZERO for x in row] for row in rows] for rows in (loops.M, loops.J))
    columns = [[j for j, x in enumerate(row) if x] for row in J]
    pairs = [sorted({*columns[r]}.intersection(columns[s])) for r in range(len(J)) for s in range(r + 1)]
    diagonal = all(not x for i, row in enumerate(M) for j, x in enumerate(row) if i != j)
    arrays = {
        "MASS_FROM[N_U]": (
            [row.index(True) if any(row) else i for i, row in enumerate(M)],
            "first entry of each row of M",
        ),
        "ROW_AT[N_V + 1]": (_starts(columns), "where the columns of each row of J begin"),
        "ROW_COLUMN[]": ([j for row in columns for j in row] or [0], "columns"),
        "PAIR_AT[]": (_starts(pairs), "where those begin that two rows have both"),
        "PAIR_COLUMN[]": ([j for row in pairs for j in row] or [0], "these columns"),
    }
    flags = f"enum {{ DIAGONAL = {int(diagonal)} }}; /* of M */\n"
    return flags + "".join(
        f"static const int {name} = {{{', '.join(map(str, numbers))}}}; /* {note} */\n"
        for name, (numbers, note) in arrays.items()
    )


def _starts(rows: Sequence[Sequence[int]]) -> list[int]:
    return [sum(map(len, rows[:i])) for i in range(len(rows) + 1)]
