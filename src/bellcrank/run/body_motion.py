"""Where bodies are: the poses of recorded rows and of single states, by the program with poses in Python.

In:  `Loaded`. Out: arrays of 12 numbers for each body (and part of a linkage): coordinates of its origin, then its
rotation matrix by rows, in the inertial frame and in equation units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.backend.c import c_model
from bellcrank.backend.external import functions_of
from bellcrank.backend.protocol import Calls, Model
from bellcrank.backend.python import PythonModel
from bellcrank.errors import RunError, warn
from bellcrank.expr import Expr
from bellcrank.interface.interface import Interface
from bellcrank.kinematics.poses import Part, pose_expressions
from bellcrank.kinematics.results import Analysis
from bellcrank.program.poses import poses_alone, with_poses
from bellcrank.program.program import POSE, Program
from bellcrank.run.assembly import complete_state, given_start
from bellcrank.run.dae_runs import Piece
from bellcrank.run.evaluate import closure
from bellcrank.run.loaded import Loaded
from bellcrank.run.values import at_row
from bellcrank.scene.build import scene_of
from bellcrank.scene.camera import LiveCamera
from bellcrank.scene.default import draft_of
from bellcrank.scene.render import render
from bellcrank.scene.scene import Scene
from bellcrank.units import ANGLE, LENGTH


def posed_program(
    analysis: Analysis, program: Program, attached_parts: Sequence[Part] = (), marks: Sequence[Expr] = ()
) -> Program:
    """The program with the functions `poses`, of all bodies and parts, and `marks`."""
    names = [*(b.name for b in analysis.mechanism.bodies), *(p.name for p in attached_parts)]
    return with_poses(program, names, pose_expressions(analysis.kinematics, attached_parts), marks)


@dataclass(frozen=True)
class Posed:
    """A model that reports where its bodies are; `idle` are values of parameters that its equations do not hold."""

    loaded: Loaded
    program: Program
    calls: Calls
    idle: Sequence[float]

    def parameters(self, p: Sequence[float]) -> list[float]:
        """All of the program with poses, from those of the model."""
        n = len(self.loaded.program.given_parameters)
        return [*p[:n], *self.idle, *p[n:]]

    def marks(self, p: Sequence[float]) -> np.ndarray:
        """The numbers of the picture that follow from parameters."""
        zero = [0.0] * self.loaded.n_q, [0.0] * len(self.program.speeds)
        w = [0.0] * len(self.program.inputs)
        return np.array(self.calls.values("marks", 0.0, *zero, self.parameters(p), [], w))

    def at_rows(self, segments: Sequence[Piece]) -> np.ndarray:
        """The poses of all rows: (rows, bodies, 12)."""
        poses = []
        for rows, p, c in segments:
            values = self.parameters(p)
            poses += [self.calls.values("poses", *at_row(self.program, row, values, c)) for row in rows]
        return np.array(poses, float).reshape(-1, len(self.program.posed), len(POSE))


def posed(
    loaded: Loaded,
    attached_parts: Sequence[Part] = (),
    marks: Sequence[Expr] = (),
    parameters: Mapping[str, float | str] | None = None,
) -> Posed:
    """A model with poses. `parameters` (user units) override defaults of those that the equations do not hold."""
    program = posed_program(loaded.analysis, loaded.program, attached_parts, marks)
    function_of_routine = dict(zip(loaded.program.routines, loaded.functions, strict=True))
    pose_program = poses_alone(program)
    functions = [function_of_routine.get(r, r.python) for r in pose_program.routines]
    model: Model
    if loaded.model.compiler is not None and pose_program.externals:  # a linkage takes long in Python
        model = c_model(
            pose_program, functions, [r.name for r in pose_program.externals if r.formulas is None], speed="quick"
        )
    else:
        model = PythonModel(pose_program, functions)
    first = len(loaded.program.given_parameters)
    count = len(program.parameters) - len(loaded.program.parameters)
    names = [s.name for s in program.parameters[first : first + count]]
    return Posed(loaded, program, model.calls(), _idle_values(loaded, names, parameters or {}))


def _idle_values(loaded: Loaded, names: Sequence[str], parameters: Mapping[str, Any]) -> list[float]:
    """Values in equation units of parameters that pictures alone need; one without a value is zero, which is
    reported."""
    values, missing = [], []
    by_key = loaded.interface.keyed(parameters, ("idle",), "parameters")
    for name in names:
        x = loaded.interface.find(name, ("idle",), "parameter")
        value = by_key.get(x.key, x.default)
        missing += [name] if value is None and x.unit.dimension in (LENGTH, ANGLE) else []  # of masses none is seen
        values.append(float(x.unit.to_equation(0.0 if value is None else float(value))))
    if missing:
        warn(f"the picture needs values of {', '.join(missing)}, for which there is no default: zero is taken")
    return values


@dataclass(frozen=True)
class Motion:
    """What a picture of a motion is drawn from."""

    time: np.ndarray
    poses: np.ndarray
    scene: Scene


def _check_bodies(loaded: Loaded) -> None:
    if not loaded.analysis.mechanism.bodies:
        raise RunError(f"there is no picture of {loaded.name}: its equations were derived by hand, without bodies")


def motion_of(loaded: Loaded, segments: Sequence[Piece], parameters: Mapping[str, float | str] | None = None) -> Motion:
    """The motion of recorded rows. `parameters` as they were given, user units."""
    _check_bodies(loaded)
    draft = draft_of(loaded.analysis)
    model = posed(loaded, draft.parts, draft.expressions(), parameters)
    poses = model.at_rows(segments)
    time = np.concatenate([rows[:, 0] for rows, _, _ in segments])
    return Motion(time, poses, scene_of(draft, model.marks(segments[0].p), poses))


def at_start(
    loaded: Loaded,
    initial: Mapping[Any, float | str] | None = None,
    parameters: Mapping[str, float | str] | None = None,
    guess: Mapping[Any, float | str] | None = None,
) -> Motion:
    """The one pose of a start: values by state and of parameters in user units; what loops determine is solved for."""
    start_values = given_start(loaded, initial, guess)
    p, signals = loaded.parameter_values(parameters), loaded.inputs(None)
    q, u = complete_state(loaded, start_values, closure(loaded, p, signals), p, signals)
    sampled_values = [0.0] * (len(loaded.program.inputs) - len(signals))
    outputs = [0.0] * len(loaded.program.output_names)
    row = np.array([0.0, *q, *u, *outputs, *(i.function(0.0) for i in signals), *sampled_values])
    return motion_of(loaded, [Piece(row[None], p, [0.0] * len(loaded.program.constant_symbols))], parameters)


class Viewer:
    """Images of a model, state by state. The view fits the first state, follows what travels far, and steps back for
    what grows."""

    def __init__(
        self, loaded: Loaded, row: np.ndarray, p: Sequence[float], parameters: Mapping[str, float | str] | None = None
    ) -> None:
        _check_bodies(loaded)
        draft = draft_of(loaded.analysis)
        self._model = posed(loaded, draft.parts, draft.expressions(), parameters)
        self._p, self._c = p, [0.0] * len(loaded.program.constant_symbols)
        start = self._poses(row)
        self.scene = scene_of(draft, self._model.marks(p), start[None])
        self._camera = LiveCamera(self.scene, start)

    def _poses(self, row: np.ndarray) -> np.ndarray:
        poses: np.ndarray = self._model.at_rows([Piece(row[None], self._p, self._c)])[0]
        return poses

    def image(self, row: np.ndarray, width: int = 640, height: int = 400) -> np.ndarray:
        """The image (height, width, 3) of a row, 8 bits for each color."""
        poses = self._poses(row)
        return render(self.scene, poses, width, height, self._camera.at(poses))


def drawn(analysis: Analysis, interface: Interface, program: Program) -> Loaded:
    """A model of which the pose is wanted alone: in Python, whatever its user functions are written in, and with
    inputs at zero that have no course."""
    functions = functions_of(program, analysis.mechanism.description.externals, {}, interface.model)
    return Loaded(analysis, interface.with_all_inputs(), program, PythonModel(program, functions), tuple(functions))
