"""How results are shown: named lists and Kane's equations, in text and LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bellcrank.symbolic.expr import Expr, Symbol, add, to_latex
from bellcrank.symbolic.vector.basis import Vector


class PrintedResult:
    """What prints as it reads, and shows as LaTeX in a notebook."""

    def latex(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return str(self)

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"


def aligned_latex(rows: Iterable[tuple[str, str]]) -> str:
    """Equations one below the other in LaTeX, by their sides."""
    return (
        "\\begin{aligned}\n"
        + " \\\\\n".join(f"{left_side} &= {right_side}" for left_side, right_side in rows)
        + "\n\\end{aligned}"
    )


def latex_matrix(rows: Iterable[Iterable[Expr]]) -> str:
    """A matrix in LaTeX."""
    body = r" \\ ".join(" & ".join(to_latex(x) for x in row) for row in rows)
    return rf"\begin{{bmatrix}} {body} \end{{bmatrix}}"


class Listed(PrintedResult, dict[str, Expr | Vector]):
    """Named results in order: a line each. `list(x.values())` are the plain results."""

    def __getitem__(self, key: str | int) -> Expr | Vector:
        return list(self.values())[key - 1] if isinstance(key, int) else super().__getitem__(key)

    def scalars(self) -> tuple[Expr, ...]:
        """The results, if they are scalars."""
        return tuple(v for v in self.values() if isinstance(v, Expr))

    def __str__(self) -> str:
        return "\n".join(f"{name} = {value}" for name, value in self.items())

    def latex(self) -> str:
        return aligned_latex(
            (_latex_result_name(n), v.latex() if isinstance(v, Vector) else to_latex(v))
            for n, v in self.items()
        )


def _latex_result_name(name: str) -> str:
    """F*_u1 as F^*_{u1}, v_u1(P) as v_{u1}^{P}."""
    head, _, suffix = name.partition("_")
    index, _, owner = suffix.partition("(")
    raised = "^{*}" if head.endswith("*") else f"^{{{owner[:-1]}}}" if owner else ""
    return f"{head.rstrip('*')}{raised}_{{{index}}}"


@dataclass(frozen=True, repr=False)
class KaneStatement(PrintedResult):
    """F_r + F_r* = 0 for each speed."""

    speeds: tuple[Symbol, ...]
    active: tuple[Expr, ...]
    inertia: tuple[Expr, ...]

    @property
    def residuals(self) -> Mapping[Symbol, Expr]:
        """F_r + F_r* by speed."""
        return {
            u: add(f, g) for u, f, g in zip(self.speeds, self.active, self.inertia, strict=True)
        }

    def __str__(self) -> str:
        return "\n".join(f"{u}: {e} = 0" for u, e in self.residuals.items())

    def latex(self) -> str:
        return aligned_latex((to_latex(e), "0") for e in self.residuals.values())
