"""Tables of closed loops in C, for minimal equations and for those with multipliers."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.expr import ZERO
from bellcrank.numeric.projection import Block, Scales
from bellcrank.program.loops import Loops
from bellcrank.program.program import Program


def scale_tables(scales: Scales, order: bool = True) -> str:
    """Numbers that bring the rows of loops to entries of about one, and the `order` of pivots."""
    lines = [f"#define USUAL_RATIO {scales.usual!r}"]
    for name, numbers in (("ROW_SCALE[N_V]", scales.rows), ("COLUMN_SCALE[N_U]", scales.columns)):
        lines += [f"static const real {name} = {{", *(f"    {x!r}," for x in numbers), "};"]
    if order:
        lines += [
            f"#define USUAL_ORDER {scales.usual_order!r}",
            f"enum {{ N_ORDER = {len(scales.order)} }};",
            "static const int ORDER[N_ORDER + 1][2] = { /* row and column of the pivots of `derivatives` */",
            *(f"    {{{i}, {j}}}," for i, j in scales.order),
            "    {0, 0}",
            "};",
        ]
    return "\n".join([*lines, ""])


def loop_tables(program: Program, loops: Loops) -> str:
    """Loops whose speeds are the independent ones: steps end on the constraints."""
    corrected = corrected_places(loops) if loops.correction is not None else ""
    blocks = _blocks(loops.scales.blocks) if loops.scales.blocks else ""
    return _redundant(program, loops) + corrected + blocks + side_tables(loops)


def dae_tables(program: Program, loops: Loops) -> str:
    """Loops for methods for differential-algebraic equations."""
    return _redundant(program, loops) + _structure(loops)


def side_tables(loops: Loops) -> str:
    """Directions that must point as drawn."""
    if not loops.sides:
        return ""
    listed = ", ".join(map(str, loops.sided))
    return (
        f"enum {{ N_SIDES = {len(loops.sides)} }};\n"
        f"static const int side_of[N_G] = {{{listed}}}; /* of each row of g: its direction, or -1: on both sides */\n"
    )


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
    return (
        f"enum {{ SPEEDS_ARE_RATES = {int(plain)} }}; /* is q' = u? */\n"
        f"enum {{ N_PAIRED = {loops.paired} }}; /* rows of g whose rates are the same rows of v */\n"
    )


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
