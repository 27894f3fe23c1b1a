"""modelDescription.xml of both versions of FMI, and what builds the sources of one of version 3.

In:  `FmuVariables` and what else a reader must know of the model. Out: text. Elements follow the
order of the schemas.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from xml.sax.saxutils import quoteattr

from bellcrank.core.units import TIME
from bellcrank.core.version import __version__
from bellcrank.export.fmu.unit_definitions import UnitDefinitions
from bellcrank.export.fmu.variables import FmuUnknown, FmuVariable, FmuVariables

LOGGED = {
    "logStatusWarning": "warnings",
    "logStatusDiscard": "calls that came to nothing",
    "logStatusError": "errors",
}


@dataclass(frozen=True)
class FmuCredits:
    """What a user says of an FMU, under the names of the attributes; empty ones are omitted."""

    description: str = ""
    author: str = ""
    version: str = ""
    license: str = ""
    copyright: str = ""


@dataclass(frozen=True)
class FmuModelInfo:
    """What the description is about. `completes`: must steps of model exchange be reported?
    `fixed`: are those of co-simulation of one length? `exchange`: is there model exchange, with
    derivatives?
    `parts`: what the model consists of, in lines."""

    title: str
    stem: str
    units: str
    variables: FmuVariables
    t_end: float
    step: float
    every: int
    completes: bool
    fixed: bool
    exchange: bool
    method: str
    parts: tuple[str, ...]
    credits: FmuCredits


def model_description_xml(about: FmuModelInfo, version: int, token: str) -> str:
    """The text of modelDescription.xml."""
    units = UnitDefinitions(about.units)
    variables = [_variable(x, i, units, version) for i, x in enumerate(about.variables.listed)]
    head = f'fmiVersion="{version}.0" modelName={quoteattr(about.title)} '
    head += f'{"guid" if version == 2 else "instantiationToken"}="{token}"'
    head += "".join(
        f" {key}={quoteattr(text)}" for key, text in asdict(about.credits).items() if text
    )
    tool = f'generationTool="Bellcrank {__version__}" variableNamingConvention="structured"'
    events = f' numberOfEventIndicators="{len(about.variables.indicators)}"' if version == 2 else ""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<fmiModelDescription {head} {tool}{events}>",
        *(_fmi2_interface_elements(about) if version == 2 else _fmi3_interface_elements(about)),
        *units.to_xml(),
        "  <LogCategories>",
        *(f'    <Category name="{name}" description="{words}"/>' for name, words in LOGGED.items()),
        "  </LogCategories>",
        f'  <DefaultExperiment startTime="0" stopTime="{about.t_end!r}" '
        f'stepSize="{about.step * about.every!r}"/>',
        "  <ModelVariables>",
        *variables,
        "  </ModelVariables>",
        "  <ModelStructure>",
        *(
            _fmi2_model_structure(about.variables)
            if version == 2
            else _fmi3_model_structure(about.variables)
        ),
        "  </ModelStructure>",
        "</fmiModelDescription>",
        "",
    ]
    return "\n".join(lines)


def _fmi2_interface_elements(about: FmuModelInfo) -> list[str]:
    capabilities = (
        'canNotUseMemoryManagementFunctions="true" canGetAndSetFMUstate="true" '
        'canSerializeFMUstate="true" '
        f'providesDirectionalDerivative="{_xml_boolean(about.exchange)}"'
    )
    sources = '<SourceFiles><File name="fmi2.c"/></SourceFiles>'
    quiet = "" if about.completes else ' completedIntegratorStepNotNeeded="true"'
    steps = 'canHandleVariableCommunicationStepSize="true" canInterpolateInputs="true"'
    exchange = (
        f'  <ModelExchange modelIdentifier="{about.stem}"{quiet} '
        f"{capabilities}>{sources}</ModelExchange>"
    )
    cosimulation = (
        f'  <CoSimulation modelIdentifier="{about.stem}" {steps} '
        f"{capabilities}>{sources}</CoSimulation>"
    )
    return [exchange, cosimulation] if about.exchange else [cosimulation]


def _xml_boolean(value: bool) -> str:
    return "true" if value else "false"


def _fmi3_interface_elements(about: FmuModelInfo) -> list[str]:
    capabilities = (
        'canGetAndSetFMUState="true" canSerializeFMUState="true" '
        f'providesDirectionalDerivatives="{_xml_boolean(about.exchange)}" '
        f'providesAdjointDerivatives="{_xml_boolean(about.exchange)}"'
    )
    completion = f'needsCompletedIntegratorStep="{_xml_boolean(about.completes)}"'
    steps = 'canHandleVariableCommunicationStepSize="true"'
    steps += f' fixedInternalStepSize="{about.step!r}"' if about.fixed else ""
    exchange = f'  <ModelExchange modelIdentifier="{about.stem}" {completion} {capabilities}/>'
    cosimulation = f'  <CoSimulation modelIdentifier="{about.stem}" {steps} {capabilities}/>'
    return [exchange, cosimulation] if about.exchange else [cosimulation]


def _variable(x: FmuVariable, reference: int, units: UnitDefinitions, version: int) -> str:
    common = f'name={quoteattr(x.name)} valueReference="{reference}" causality="{x.causality}"'
    common += f' variability="{x.variability}"' + (f' initial="{x.initial}"' if x.initial else "")
    common += f" description={quoteattr(x.label)}" if x.label else ""
    seconds = units.system.equation_unit(TIME)
    inner = units.unit_attributes(seconds if x.causality == "independent" else x.unit, x.rated)
    inner += f' start="{x.start!r}"' if x.start is not None else ""
    inner += f' nominal="{x.nominal!r}"' if x.nominal is not None else ""
    if version == 2:
        inner += f' derivative="{x.rate_of + 1}"' if x.rate_of is not None else ""  # counted from 1
        return f"    <ScalarVariable {common}><Real{inner}/></ScalarVariable>"
    inner += f' derivative="{x.rate_of}"' if x.rate_of is not None else ""
    return f"    <Float64 {common}{inner}/>"


def _dependencies_attribute(dependencies: Iterable[int] | None, first: int) -> str:
    """Of an unknown; without them it depends on everything."""
    return (
        ""
        if dependencies is None
        else f' dependencies="{" ".join(str(x + first) for x in dependencies)}"'
    )


def _initial_unknowns(variables: FmuVariables) -> list[tuple[int, tuple[int, ...] | None]]:
    """Unknowns of the initialization in the order of their references."""
    rows = [
        (x.reference, x.at_start)
        for x in (*variables.rates, *variables.outputs)
        if variables.listed[x.reference].initial == "calculated"  # not of states that are outputs
    ]
    return sorted(
        [*rows, *((reference, None) for reference in variables.found)], key=lambda row: row[0]
    )


def _fmi2_model_structure(variables: FmuVariables) -> list[str]:
    groups: dict[str, list[tuple[int, tuple[int, ...] | None]]] = {
        "Outputs": [(x.reference, x.needs) for x in variables.outputs],
        "Derivatives": [(x.reference, x.needs) for x in variables.rates],
        "InitialUnknowns": _initial_unknowns(variables),
    }
    lines = []
    for name, rows in groups.items():
        if rows:
            lines.append(f"    <{name}>")
            lines += [
                f'      <Unknown index="{r + 1}"{_dependencies_attribute(dependencies, 1)}/>'
                for r, dependencies in rows
            ]
            lines.append(f"    </{name}>")
    return lines


def _fmi3_model_structure(variables: FmuVariables) -> list[str]:
    groups: list[tuple[str, Sequence[FmuUnknown]]] = [
        ("Output", variables.outputs),
        ("ContinuousStateDerivative", variables.rates),
    ]
    rows = [(name, x.reference, x.needs) for name, unknowns in groups for x in unknowns]
    lines = [
        f'    <{name} valueReference="{r}"{_dependencies_attribute(dependencies, 0)}/>'
        for name, r, dependencies in rows
    ]
    initial_unknowns = _initial_unknowns(variables)
    switches = [f'    <EventIndicator valueReference="{r}"/>' for r in variables.indicators]
    return (
        lines
        + [
            f'    <InitialUnknown valueReference="{r}"{_dependencies_attribute(dependencies, 0)}/>'
            for r, dependencies in initial_unknowns
        ]
        + switches
    )


def build_description(stem: str) -> str:
    """sources/buildDescription.xml of version 3."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<fmiBuildDescription fmiVersion="3.0">',
        f'  <BuildConfiguration modelIdentifier="{stem}">',
        '    <SourceFileSet language="C99">',
        '      <SourceFile name="fmi3.c"/>',
        "    </SourceFileSet>",
        '    <Library name="m"/>',
        "  </BuildConfiguration>",
        "</fmiBuildDescription>",
        "",
    ]
    return "\n".join(lines)
