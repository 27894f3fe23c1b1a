"""The choices of public calls as types: a type checker reports text that is none of them, an editor
offers them.

Tables that hold nothing but names are made from these by `choice_values`; a test compares the
others (methods, joints, unit systems, formats ...) with the type that lists them.
"""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

# a model
Units = Literal["SI", "mks", "in-lb", "ft-lb", "mm-tonne"]
VerticalAxis = Literal["SAE", "ISO 8855"]
LoopJointKind = Literal[
    "spherical", "revolute", "prismatic", "cylindrical", "planar", "universal", "distance"
]
LinkageJointKind = Literal[
    "revolute", "prismatic", "cylindrical", "universal", "planar", "spherical", "inline", "inplane"
]
OutputGroup = Literal[
    "coordinates", "speeds", "forces", "moments", "energy", "momentum", "residuals", "reactions"
]
ShapeKind = Literal[
    "box",
    "cylinder",
    "sphere",
    "line",
    "mesh",
    "wheel",
    "car",
    "utility",
    "van",
    "truck",
    "box_truck",
    "formula",
    "motorcycle",
]
Side = Literal["left", "right"]
StartBelowGround = Literal["raise", "error"]
CallTime = Literal["derivatives", "update", "output", "init", "input", "echo"]
RoadClass = Literal["A", "B", "C", "D", "E", "F", "G", "H"]
Crossing = Literal[-1, 0, 1]

# equations
Solve = Literal["auto", "explicit", "implicit", "order-n"]
Constraints = Literal["auto", "multipliers", "eliminate"]
Optimise = Literal["none", "default", "thorough"]
JacobianOf = Literal["rates", "outputs", "positions", "speeds"]
JacobianMode = Literal["forward", "reverse", "cheapest"]

# programs
Backend = Literal["auto", "c", "wasm", "python"]
Speed = Literal["auto", "fast", "quick"]
ExportFormat = Literal["c", "fortran", "python", "embedded", "simulink", "fmu", "page"]
DerivativeFormat = Literal["c", "python"]
Precision = Literal["double", "single"]
FmiVersion = Literal[2, 3]
Platform = Literal[
    "host",
    "all",
    "sources",
    "x86_64-linux",
    "aarch64-linux",
    "x86_64-windows",
    "x86_64-darwin",
    "aarch64-darwin",
]

# runs
Method = Literal[
    "rk2",
    "rk4",
    "heun",
    "euler",
    "ab2",
    "rk3",
    "tsit5",
    "dop853",
    "radau5",
    "rodas5p",
    "auto",
    "RK45",
    "RK23",
    "DOP853",
    "Radau",
    "BDF",
    "LSODA",
]
DaeMethod = Literal[
    "projection", "dlmm", "clmm", "baumgarte", "stabilised", "post", "half-explicit", "minimal"
]
DaeBase = Literal["index-1", "free fall"]
DaeMetric = Literal["cheapest", "mass"]
ManyBackend = Literal["auto", "lanes", "cores", "cuda"]
Sampling = Literal["latin-hypercube", "sobol", "halton", "random"]
CurveStyle = Literal["bands", "runs"]
OperatingPoint = Literal["start", "equilibrium"]
SpectrumBy = Literal["linear", "simulation"]

# vehicles
ManoeuvreName = Literal[
    "braking",
    "acceleration",
    "iso4138",
    "iso4138-radius",
    "iso4138-wheel",
    "iso7401-step",
    "iso7401-sine",
    "iso7401-pulse",
    "iso7401-frequency",
    "iso13674-1",
    "iso7975",
    "iso9816",
    "iso3888-1",
    "iso3888-2",
    "sine-with-dwell",
    "fishhook",
    "side-wind",
    "ride",
    "kerb",
    "pothole",
    "split-mu",
    "mu-jump",
    "four-post",
    "road",
    "lap",
    "iso9815",
    "off-tracking",
    "iso14791",
    "tilt-table",
    "hill-start",
    "recorded",
]


def choice_values(choice: Any) -> tuple[str, ...]:
    """The choices of one of these types, in order."""
    choices: tuple[str, ...] = get_args(choice)
    return choices


def text_choice_names() -> list[str]:
    """The names of the types whose choices are text."""
    choices_by_name = {
        name: get_args(alias) for name, alias in globals().items() if get_origin(alias) is Literal
    }
    return [name for name, alias in choices_by_name.items() if isinstance(alias[0], str)]
