"""Closed loops in JavaScript: the numbers of their rows, and what keeps them closed in a run."""

from __future__ import annotations

from typing import Any

from bellcrank.emit.javascript.runtime_files import real, runtime
from bellcrank.numeric.tuning import ASSEMBLY, BRIDGES, ELIMINATION, LOOPS, constants
from bellcrank.program.loops import Loops
from bellcrank.program.program import Program


def loop_numbers(program: Program, loops: Loops) -> dict[str, Any]:
    """Sizes of closed loops and what brings their rows to entries of about one; what a correction moves."""
    k, sizes, c = loops.scales, loops.sizes(len(program.coordinates)), loops.correction
    found: dict[str, Any] = {"n_q": sizes.n_q, "n_u": sizes.n_u, "n_g": sizes.n_g, "n_v": sizes.n_v}
    found |= {"paired": sizes.paired, "rank_g": k.rank_g, "rank_v": k.rank_v}
    found |= {"rows": k.rows, "columns": k.columns, "usual": k.usual, "order": k.order, "usual_order": k.usual_order}
    moved = None if c is None else {"q": c.q, "u": c.u, "scales": c.pivot_scales}
    sided = loops.sided if loops.sides else []
    return {**found, "correction": moved, "blocks": k.blocks, "sided": sided}


def loop_keeping(loops: Loops) -> str:
    """`keeper_of`, `least_norm` and `assembled`."""
    numbers = {c.name.upper(): real(c.value) for c in (*constants(ELIMINATION), *constants(LOOPS))}
    numbers |= {"LIGHT": real(ASSEMBLY.light)}
    curves = {**numbers, **{c.name.upper(): real(c.value) for c in constants(BRIDGES)}}
    bridges = runtime("bridges.js" if loops.scales.blocks else "no_bridges.js", curves)
    quintics = runtime("quintics.js") if loops.scales.blocks else ""
    assembly = runtime("assembly.js", {c.name.upper(): real(c.value) for c in constants(ASSEMBLY)} | numbers)
    return quintics + runtime("loops.js", numbers, BRIDGES=bridges.rstrip()) + assembly
