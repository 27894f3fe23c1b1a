"""A functional mock-up unit of a model, written whole: description, sources, libraries.

In:  `DerivedModel`. Out: a file. The same model gives the same bytes: dates are fixed, and the
token by which a library and a description know each other is a digest of all the rest.
"""

from __future__ import annotations

import hashlib
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from xml.sax.saxutils import quoteattr

from bellcrank.core.errors import BellcrankError, BuildError, ModelError, issue_warning
from bellcrank.core.files.atomic import AtomicWrite
from bellcrank.core.numeric.fixed_step_methods import AUTO, DEFAULT, METHODS, OWN
from bellcrank.export.fmu.binaries import build_binaries, platforms_of
from bellcrank.export.fmu.description import (
    FmuCredits,
    FmuModelInfo,
    build_description,
    model_description_xml,
)
from bellcrank.export.fmu.documentation import documentation_html
from bellcrank.export.fmu.sources import completes_steps, model_source
from bellcrank.export.fmu.sources import source_files as sources
from bellcrank.export.fmu.variables import FmuVariables, variables_of
from bellcrank.export.initial_data import require_complete, start_state
from bellcrank.export.model_setup import kernel_features, program_setup
from bellcrank.export.program_events import with_events
from bellcrank.export.programs import name_comments
from bellcrank.export.standalone.setup import PLAIN, KernelFeatures
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.program.derivatives import SlopeTable
from bellcrank.program.program import SimulationProgram
from bellcrank.program.statements import (
    EMPTY_SECTION,
    Section,
    prune_section,
    statement_expressions,
)
from bellcrank.scene.render import render_frame
from bellcrank.simulation.run.body_poses import initial_pose, load_for_picture
from bellcrank.simulation.run.dae_methods import Dae
from bellcrank.symbolic.expr import Expr, Func, Number, postorder
from bellcrank.symbolic.expr.function_table import COMPARISONS

VERSIONS = (2, 3)
NO_CREDITS = FmuCredits()
NO_SLOPES = SlopeTable(EMPTY_SECTION, (), (), (), ())
WHEN = (1980, 1, 1, 0, 0, 0)  # of all files within: the earliest that can be said


def write_fmu(
    derived: DerivedModel,
    path: str | Path,
    fmi: int = 2,
    platforms: str | Sequence[str] = "host",
    dae: str | Dae | None = None,
    **texts: str,
) -> Path:
    """Writes the unit; its path. What cannot be exported is reported, and nothing is written.
    `texts`: as `FmuCredits` has it."""
    if fmi not in VERSIONS:
        raise ModelError(
            f"fmi={fmi!r} is not a version of FMI that is written; it is 2 or 3", derived.name
        )
    platform_names = platforms_of(platforms)
    require_complete(derived, "a unit")
    files = unit_files(
        derived, fmi, platform_names, kernel_features(derived, dae), FmuCredits(**texts)
    )
    fmu_path = Path(path)
    try:
        fmu_path.parent.mkdir(parents=True, exist_ok=True)
        with (
            AtomicWrite() as partial_files,
            zipfile.ZipFile(partial_files.path_for(fmu_path), "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            for name, content in files.items():
                about = zipfile.ZipInfo(name, WHEN)
                about.compress_type, about.external_attr, about.create_system = (
                    zipfile.ZIP_DEFLATED,
                    0o644 << 16,
                    3,
                )
                archive.writestr(about, content)
    except (OSError, ValueError) as error:
        raise BuildError(
            f"cannot write {fmu_path}: {getattr(error, 'strerror', None) or error}"
        ) from None
    return fmu_path


def unit_files(
    derived: DerivedModel,
    version: int,
    platform_names: Sequence[str],
    special: KernelFeatures = PLAIN,
    credits: FmuCredits = NO_CREDITS,
) -> dict[str, bytes]:
    """All files of a unit by name; `special`: what its kernel does besides plain steps."""
    program = derived.program
    setup = with_events(
        program_setup(derived, special=special), None, None, derived.analysis.independent_speeds
    )
    method = _cosimulation_method(derived) if special.allows_adaptive_steps else setup.method
    has_events = bool(setup.events)
    slopes = _exportable_derivatives(derived) if special.allows_adaptive_steps else NO_SLOPES
    indicators = event_indicators(program)
    variables = variables_of(
        program, setup, start_state(derived, setup), slopes, len(indicators.results)
    )
    subject = FmuModelInfo(
        setup.title,
        setup.stem,
        derived.interface.units,
        variables,
        setup.t_end,
        setup.step,
        setup.every,
        completes_steps(program) or program.loops is not None or has_events,
        method in METHODS,
        special.allows_adaptive_steps,
        method,
        setup.about,
        credits
        if credits.description
        else replace(credits, description=f"{setup.title}: {setup.about[0]}"),
    )
    model = model_source(
        program, slopes, indicators, name_comments(derived.interface), method, has_events, special
    )

    def build_files(token: str) -> dict[str, str]:
        texts = {"modelDescription.xml": model_description_xml(subject, version, token)}
        source_files = sources(program, setup, variables, version, token, model, method)
        return texts | {f"sources/{name}": text for name, text in source_files.items()}

    texts = build_files(_guid(build_files("")))
    compiled = {
        name.partition("/")[2]: text for name, text in texts.items() if name.startswith("sources/")
    }
    libraries = build_binaries(compiled, setup.stem, version, platform_names)
    texts["documentation/index.html"] = documentation_html(subject, version)
    if version == 3:
        texts["sources/buildDescription.xml"] = build_description(setup.stem)
        if connectors := terminals_xml(variables):
            texts[TERMINALS] = connectors
    files = {name: text.encode() for name, text in texts.items()}
    if image := icon_png(derived):
        files[ICONS[version]] = image
    return files | {f"binaries/{name}": library for name, library in libraries.items()}


def _cosimulation_method(derived: DerivedModel) -> str:
    """The method of co-simulation: that of the model, if programs have it."""
    model_method = derived.interface.run.method or DEFAULT
    if model_method.lower() in (*METHODS, *OWN):
        return model_method.lower()
    issue_warning(
        f"the model asks for the method {model_method}, which is SciPy's: the unit takes "
        f"{AUTO} for co-simulation"
    )
    return AUTO


def _guid(texts: Mapping[str, str]) -> str:
    """A digest in the form of a GUID."""
    digest = hashlib.sha256("\x00".join(texts.values()).encode()).hexdigest()
    slices = (0, 8), (8, 12), (12, 16), (16, 20), (20, 32)
    return "{" + "-".join(digest[a:b] for a, b in slices) + "}"


def _exportable_derivatives(derived: DerivedModel) -> SlopeTable:
    """Slopes, if all that they call can be had in C."""
    slopes = derived.derivative_table
    return slopes if all(r.known_in("c") for r in slopes.routines) else NO_SLOPES


# ---- the icon: the model as it starts, as tools show it on a block


ICONS = {2: "model.png", 3: "terminalsAndIcons/icon.png"}  # by version of FMI
SIZE = 200  # pixels


def icon_png(derived: DerivedModel) -> bytes:
    """The image; a model without bodies, or without a configuration to start from, has none."""
    from PIL import Image

    if (
        not derived.analysis.mechanism.bodies or derived.program.entry.results
    ):  # values that user functions give
        return b""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of values that the picture alone needs
            start = initial_pose(
                load_for_picture(derived.analysis, derived.interface, derived.program)
            )
    except BellcrankError:
        return b""
    data = BytesIO()
    Image.fromarray(render_frame(start.scene, start.poses[0], SIZE, SIZE)).quantize(64).save(
        data, "PNG", optimize=True
    )
    return data.getvalue()


# ---- event indicators of a unit: numbers that change their sign where the rates may jump
# They are the differences of what is compared in the rates, and arguments of sign(). What only
# bends there, min(), max() and abs(), has none.


def event_indicators(program: SimulationProgram) -> Section:
    """The indicators, each once, in the order in which the rates come upon them."""
    statements = program.derivatives.statements
    roots = [e for s in statements for e in statement_expressions(s)]
    indicators: dict[Expr, None] = {}
    for node in postorder([*roots, *program.derivatives.results]):
        if (
            isinstance(node, Func)
            and node.function is None
            and (node.name in COMPARISONS or node.name == "sign")
        ):
            x = node.args[0] if node.name == "sign" else node.args[0] - node.args[1]
            if not isinstance(x, Number) and x not in indicators and -x not in indicators:
                indicators[x] = None
    return prune_section(Section((), tuple(indicators)), statements)


# ---- terminals of FMI 3: inputs and outputs of one part of a model as one connector, if a part has
# an input A part is what dotted names have before the last dot:
# `fl.torque` (input) and `fl.speed` (output) are members of the terminal `fl`, and a tool connects
# them in one stroke.


TERMINALS = "terminalsAndIcons/terminalsAndIcons.xml"


def terminals_xml(variables: FmuVariables) -> str:
    """The text of the file."""
    members: dict[str, list[tuple[str, str]]] = {}
    with_inputs = set()
    for x in variables.listed:
        part, dot, member = x.name.rpartition(".")
        if dot and x.causality in ("input", "output") and member.isidentifier():
            members.setdefault(part, []).append((x.name, member))
            if x.causality == "input":
                with_inputs.add(part)
    if not with_inputs:
        return ""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<fmiTerminalsAndIcons fmiVersion="3.0">',
        "  <Terminals>",
    ]
    for part in (p for p in members if p in with_inputs):
        lines.append(f'    <Terminal name={quoteattr(part)} matchingRule="bus">')
        lines += [
            f"      <TerminalMemberVariable variableName={quoteattr(name)} "
            f"memberName={quoteattr(member)} "
            'variableKind="signal"/>'
            for name, member in members[part]
        ]
        lines.append("    </Terminal>")
    return "\n".join([*lines, "  </Terminals>", "</fmiTerminalsAndIcons>", ""])
