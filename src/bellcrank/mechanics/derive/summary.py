"""A few lines about a derivation: degrees of freedom, operations, how derived, seconds."""

from __future__ import annotations

from bellcrank.core.errors import did_you_mean, issue_warning, pluralize
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.mechanics.interface.interface import PARAMETERS


def summary(d: DerivedModel) -> str:
    """The lines."""
    c, p = d.program.count, d.program
    q, u = (
        pluralize(len(p.coordinates), "coordinate"),
        pluralize(len(d.independent_speeds), "independent speed"),
    )
    lines = [
        f"{d.name}: {pluralize(len(d.bodies), 'body', 'bodies')}, {q}, {u}",
        f"operations: {c.add} add, {c.multiply} multiply, {c.divide} divide, {c.function} "
        f"functions (total {c.total});"
        f" classic {c.add} / {c.muldiv_classic} and {c.calls_classic} calls",
        f"derived by {d.method_label} in {sum(d.seconds.values()):.3f} s",
    ]
    lines += [f"passes: {', '.join(f'{name} {n}' for name, n in p.stages)}"] if p.stages else []
    return "\n".join([*lines, *(f"note: {n}" for n in d.analysis.notes)])


def warn_of_unused(derived: DerivedModel) -> None:
    """Warns of parameters that were given a value and that the model does not use, with similar
    names."""
    parameter_names = sorted(x.name for x in derived.interface.of_kinds(PARAMETERS))
    declared = (
        derived.analysis.mechanism.description.parameters
    )  # others were reported by the analysis
    for x in derived.interface.unreferenced_parameters:
        record = declared[x.key]
        described = record.units is not None or record.label is not None  # it may stand in events
        if x.default is not None and x.key != "g" and record.declared and not described:
            suggestion = did_you_mean(x.name, parameter_names)
            issue_warning(
                f"a value is given for '{x.name}', but the model does not use it.{suggestion}"
            )
