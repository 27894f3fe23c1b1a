"""The public names: type checkers read them here, `__init__.py` imports each from its module when it is first used."""

from bellcrank import choices as choices
from bellcrank import gym as gym
from bellcrank import kane as kane
from bellcrank import linkage as linkage
from bellcrank.analysis.equilibrium import NoEquilibrium as NoEquilibrium
from bellcrank.analysis.random import road_spectrum as road_spectrum
from bellcrank.api.equations import Equations as Equations
from bellcrank.api.loading import load_model as load_model
from bellcrank.api.loading import settings_of as settings_of
from bellcrank.api.simulation import Simulation as Simulation
from bellcrank.api.system import System as System
from bellcrank.backend.poses import compile_linkage as compile_linkage
from bellcrank.describe.contacts import Tyre as Tyre
from bellcrank.describe.event import event as event
from bellcrank.describe.given import BodyLike as BodyLike
from bellcrank.describe.given import PointLike as PointLike
from bellcrank.describe.given import Scalar as Scalar
from bellcrank.describe.given import ScalarLike as ScalarLike
from bellcrank.describe.given import VectorLike as VectorLike
from bellcrank.describe.slip import Slip as Slip
from bellcrank.errors import BellcrankError as BellcrankError
from bellcrank.errors import BuildError as BuildError
from bellcrank.errors import ExpressionError as ExpressionError
from bellcrank.errors import InternalError as InternalError
from bellcrank.errors import Interrupted as Interrupted
from bellcrank.errors import ModelError as ModelError
from bellcrank.errors import ModelWarning as ModelWarning
from bellcrank.errors import RunError as RunError
from bellcrank.expr.simplify import expand as expand
from bellcrank.expr.simplify import simplify as simplify
from bellcrank.expr.table import table as table
from bellcrank.library import manoeuvres as manoeuvres
from bellcrank.library import terrain as terrain
from bellcrank.library import tyres as tyres
from bellcrank.library import vehicles as vehicles
from bellcrank.many.result import Many as Many
from bellcrank.many.spread import log_uniform as log_uniform
from bellcrank.many.spread import normal as normal
from bellcrank.many.spread import uniform as uniform
from bellcrank.model.formula import angle as angle
from bellcrank.model.formula import cross as cross
from bellcrank.model.formula import direction as direction
from bellcrank.model.formula import dot as dot
from bellcrank.model.formula import dxdt as dxdt
from bellcrank.model.formula import fm as fm
from bellcrank.model.formula import magnitude as magnitude
from bellcrank.model.formula import nominal as nominal
from bellcrank.model.formula import norm as norm
from bellcrank.model.formula import partial as partial
from bellcrank.model.formula import pos as pos
from bellcrank.model.formula import project as project
from bellcrank.model.formula import rot as rot
from bellcrank.model.formula import vel as vel
from bellcrank.model.joints.screw import Screw as Screw
from bellcrank.run.dae_methods import Dae as Dae
from bellcrank.run.result import Run as Run
from bellcrank.run.result import read as read
from bellcrank.run.status import RunStatus as RunStatus
from bellcrank.signals import chirp as chirp
from bellcrank.signals import pulse as pulse
from bellcrank.signals import ramp as ramp
from bellcrank.signals import sampled as sampled
from bellcrank.signals import sine as sine
from bellcrank.signals import step as step
from bellcrank.study import Study as Study
from bellcrank.study import StudyResult as StudyResult
from bellcrank.study import read_study as read_study
from bellcrank.study.compare import Comparison as Comparison
from bellcrank.study.compare import compare as compare
from bellcrank.verify.check import check as check

__version__: str

# functions of formulas, of numbers, expressions, formulas and text

def sin(x: ScalarLike, /) -> Scalar: ...
def cos(x: ScalarLike, /) -> Scalar: ...
def tan(x: ScalarLike, /) -> Scalar: ...
def asin(x: ScalarLike, /) -> Scalar: ...
def acos(x: ScalarLike, /) -> Scalar: ...
def atan(x: ScalarLike, /) -> Scalar: ...
def atan2(y: ScalarLike, x: ScalarLike, /) -> Scalar: ...
def sqrt(x: ScalarLike, /) -> Scalar: ...
def exp(x: ScalarLike, /) -> Scalar: ...
def log(x: ScalarLike, /) -> Scalar: ...
def log10(x: ScalarLike, /) -> Scalar: ...
def log2(x: ScalarLike, /) -> Scalar: ...
def log1p(x: ScalarLike, /) -> Scalar: ...
def expm1(x: ScalarLike, /) -> Scalar: ...
def exp2(x: ScalarLike, /) -> Scalar: ...
def cbrt(x: ScalarLike, /) -> Scalar: ...
def hypot(x: ScalarLike, y: ScalarLike, /) -> Scalar: ...
def sinh(x: ScalarLike, /) -> Scalar: ...
def cosh(x: ScalarLike, /) -> Scalar: ...
def tanh(x: ScalarLike, /) -> Scalar: ...
def asinh(x: ScalarLike, /) -> Scalar: ...
def acosh(x: ScalarLike, /) -> Scalar: ...
def atanh(x: ScalarLike, /) -> Scalar: ...
def abs(x: ScalarLike, /) -> Scalar: ...
def sign(x: ScalarLike, /) -> Scalar: ...
def floor(x: ScalarLike, /) -> Scalar: ...
def ceil(x: ScalarLike, /) -> Scalar: ...
def mod(x: ScalarLike, y: ScalarLike, /) -> Scalar: ...
def smooth_step(x: ScalarLike, a: ScalarLike, b: ScalarLike, /) -> Scalar: ...
def min(a: ScalarLike, b: ScalarLike, /, *more: ScalarLike) -> Scalar: ...
def max(a: ScalarLike, b: ScalarLike, /, *more: ScalarLike) -> Scalar: ...
def where(c: ScalarLike, a: ScalarLike, b: ScalarLike, /) -> Scalar: ...
