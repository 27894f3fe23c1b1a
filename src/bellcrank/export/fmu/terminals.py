"""terminalsAndIcons/terminalsAndIcons.xml of FMI 3: inputs and outputs of one part of a model as one connector.

In:  `Variables`. Out: text, or "" where no part has an input. A part is what dotted names have before the last dot:
`fl.torque` (input) and `fl.speed` (output) are members of the terminal `fl`, and a tool connects them in one stroke.
"""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from bellcrank.export.fmu.variables import Variables

PLACE = "terminalsAndIcons/terminalsAndIcons.xml"


def terminals(variables: Variables) -> str:
    """The text of the file."""
    parts: dict[str, list[tuple[str, str]]] = {}
    with_inputs = set()
    for x in variables.listed:
        part, dot, member = x.name.rpartition(".")
        if dot and x.causality in ("input", "output") and member.isidentifier():
            parts.setdefault(part, []).append((x.name, member))
            if x.causality == "input":
                with_inputs.add(part)
    if not with_inputs:
        return ""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<fmiTerminalsAndIcons fmiVersion="3.0">',
        "  <Terminals>",
    ]
    for part in (p for p in parts if p in with_inputs):
        lines.append(f'    <Terminal name={quoteattr(part)} matchingRule="bus">')
        lines += [
            f"      <TerminalMemberVariable variableName={quoteattr(name)} memberName={quoteattr(member)} "
            'variableKind="signal"/>'
            for name, member in parts[part]
        ]
        lines.append("    </Terminal>")
    return "\n".join([*lines, "  </Terminals>", "</fmiTerminalsAndIcons>", ""])
