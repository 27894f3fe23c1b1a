"""Bellcrank: describe a vehicle or mechanism, get its equations of motion as a small, fast simulation program."""

import builtins

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
    SCALAR,
    angle,
    cross,
    direction,
    dot,
    dxdt,
    fm,
    magnitude,
    nominal,
    norm,
    partial,
    pos,
    project,
    rot,
    vel,
)
from bellcrank.run.dae_methods import Dae
from bellcrank.run.inputs import chirp, ramp, sampled, sine, step
from bellcrank.run.result import Run
from bellcrank.run.stored import read
from bellcrank.study import Study, StudyResult, read_study
from bellcrank.study.compare import Comparison, compare
from bellcrank.verify.check import check

globals().update(SCALAR)  # sin, cos, ... of numbers, expressions and formulas
__version__ = "0.1.0"

__all__ = [
    "BellcrankError", "BuildError", "Comparison", "Dae", "Equations", "ExpressionError", "InternalError", "ModelError", "ModelWarning", "NoEquilibrium", "Run",
    "RunError", "Simulation", "Slip", "Study", "StudyResult", "System", "Tyre", "angle", "check", "chirp", "compare",
    "compile_linkage", "cross", "direction", "dot",
    "dxdt", "fm", "load_model", "magnitude", "nominal", "norm", "partial", "pos", "project", "ramp", "read", "read_study", "road_spectrum",
    "rot", "sampled", "settings_of", "sine", "step", "table", "terrain", "vehicles", "vel",
    *(name for name in SCALAR if not hasattr(builtins, name)),  # Python has its own abs, min, max
]  # fmt: skip
