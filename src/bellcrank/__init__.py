"""Bellcrank: describe a vehicle or mechanism, get its equations of motion as a small, fast simulation program."""

import bellcrank.formats.decks  # noqa: F401  load_model reads decks
from bellcrank.analysis.equilibrium import NoEquilibrium
from bellcrank.analysis.random import road_spectrum
from bellcrank.api.equations import Equations
from bellcrank.api.loading import load_model, settings_of
from bellcrank.api.simulation import Simulation
from bellcrank.api.system import System
from bellcrank.backend.poses import compile_linkage
from bellcrank.describe.contacts import Tyre
from bellcrank.describe.slip import Slip
from bellcrank.errors import (
    BellcrankError,
    BuildError,
    ExpressionError,
    InternalError,
    ModelError,
    ModelWarning,
    RunError,
)
from bellcrank.expr.table import table
from bellcrank.library import terrain, vehicles
from bellcrank.model.formula import (
    abs as abs,  # not in __all__: Python has its own
)  # fmt: skip
from bellcrank.model.formula import (
    acos,
    angle,
    asin,
    atan,
    atan2,
    cos,
    cross,
    direction,
    dot,
    dxdt,
    exp,
    fm,
    log,
    magnitude,
    nominal,
    norm,
    partial,
    pos,
    project,
    rot,
    sign,
    sin,
    sqrt,
    tan,
    vel,
    where,
)
from bellcrank.model.formula import (
    max as max,
)
from bellcrank.model.formula import (
    min as min,
)
from bellcrank.run.dae_methods import Dae
from bellcrank.run.inputs import chirp, ramp, sampled, sine, step
from bellcrank.run.result import Run
from bellcrank.run.stored import read
from bellcrank.study import Study, StudyResult, read_study
from bellcrank.study.compare import Comparison, compare
from bellcrank.verify.check import check

__version__ = "0.1.0"

__all__ = [
    "BellcrankError", "BuildError", "Comparison", "Dae", "Equations", "ExpressionError", "InternalError", "ModelError", "ModelWarning", "NoEquilibrium", "Run",
    "RunError", "Simulation", "Slip", "Study", "StudyResult", "System", "Tyre", "acos", "angle", "asin", "atan", "atan2", "check", "chirp", "compare",
    "compile_linkage", "cos", "cross", "direction", "dot",
    "dxdt", "exp", "fm", "load_model", "log", "magnitude", "nominal", "norm", "partial", "pos", "project", "ramp", "read", "read_study", "road_spectrum",
    "rot", "sampled", "settings_of", "sign", "sin", "sine", "sqrt", "step", "table", "tan", "terrain", "vehicles", "vel", "where",
]  # fmt: skip
