"""Where bodies are: the poses of recorded rows and of single states, by the program with poses in
Python.

In:  `LoadedModel`. Out: arrays of 12 numbers for each body (and part of a linkage): coordinates of
its origin, then its rotation matrix by rows, in the inertial frame and in equation units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.core.errors import RunError, issue_warning
from bellcrank.core.units import ANGLE, LENGTH
from bellcrank.mechanics.interface.interface import Interface
from bellcrank.mechanics.kinematics.poses import AttachedPart, pose_expressions
from bellcrank.mechanics.kinematics.results import KinematicAnalysis
from bellcrank.program.poses import poses_alone, with_poses
from bellcrank.program.program import POSE, SimulationProgram
from bellcrank.scene.build_scene import build_scene
from bellcrank.scene.camera import LiveCamera
from bellcrank.scene.draft_scene import draft_scene
from bellcrank.scene.render import render_frame
from bellcrank.scene.scene import Scene
from bellcrank.simulation.backend.c import c_model
from bellcrank.simulation.backend.external import resolve_functions
from bellcrank.simulation.backend.protocol import ExecutableModel, ProgramCalls
from bellcrank.simulation.backend.python_model import PythonModel
from bellcrank.simulation.run.argument_checks import program_arguments_of_row
from bellcrank.simulation.run.dae_runs import RunSegment
from bellcrank.simulation.run.initial_assembly import assemble_state, merge_initial_values
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.simulation.run.point_evaluation import loop_constraints
from bellcrank.symbolic.expr import Expr


def add_pose_functions(
    analysis: KinematicAnalysis,
    program: SimulationProgram,
    attached_parts: Sequence[AttachedPart] = (),
    marks: Sequence[Expr] = (),
) -> SimulationProgram:
    """The program with the functions `poses`, of all bodies and parts, and `marks`."""
    names = [*(b.name for b in analysis.mechanism.bodies), *(p.name for p in attached_parts)]
    return with_poses(program, names, pose_expressions(analysis.kinematics, attached_parts), marks)


@dataclass(frozen=True)
class PoseModel:
    """A model that reports where its bodies are; `unused_parameters` are values of parameters that
    its equations do not hold."""

    loaded: LoadedModel
    program: SimulationProgram
    calls: ProgramCalls
    unused_parameters: Sequence[float]

    def parameters(self, p: Sequence[float]) -> list[float]:
        """All of the program with poses, from those of the model."""
        n = len(self.loaded.program.given_parameters)
        return [*p[:n], *self.unused_parameters, *p[n:]]

    def picture_numbers(self, p: Sequence[float]) -> np.ndarray:
        """The numbers of the picture that follow from parameters."""
        zero = [0.0] * self.loaded.n_q, [0.0] * len(self.program.speeds)
        w = [0.0] * len(self.program.inputs)
        return np.array(self.calls.values("marks", 0.0, *zero, self.parameters(p), [], w))

    def poses_of_rows(self, segments: Sequence[RunSegment]) -> np.ndarray:
        """The poses of all rows: (rows, bodies, 12)."""
        poses = []
        for rows, p, c in segments:
            values = self.parameters(p)
            poses += [
                self.calls.values("poses", *program_arguments_of_row(self.program, row, values, c))
                for row in rows
            ]
        return np.array(poses, float).reshape(-1, len(self.program.posed), len(POSE))


def make_pose_model(
    loaded: LoadedModel,
    attached_parts: Sequence[AttachedPart] = (),
    marks: Sequence[Expr] = (),
    parameters: Mapping[str, float | str] | None = None,
) -> PoseModel:
    """A model with poses. `parameters` (user units) override defaults of those that the equations
    do not hold."""
    program = add_pose_functions(loaded.analysis, loaded.program, attached_parts, marks)
    function_of_routine = dict(zip(loaded.program.routines, loaded.functions, strict=True))
    pose_program = poses_alone(program)
    functions = [function_of_routine.get(r, r.python) for r in pose_program.routines]
    model: ExecutableModel
    if (
        loaded.model.compiler is not None and pose_program.externals
    ):  # a linkage takes long in Python
        model = c_model(
            pose_program,
            functions,
            [r.name for r in pose_program.externals if r.formulas is None],
            speed="quick",
        )
    else:
        model = PythonModel(pose_program, functions)
    first = len(loaded.program.given_parameters)
    count = len(program.parameters) - len(loaded.program.parameters)
    names = [s.name for s in program.parameters[first : first + count]]
    return PoseModel(
        loaded,
        program,
        model.new_calls(),
        _picture_parameter_values(loaded, names, parameters or {}),
    )


def _picture_parameter_values(
    loaded: LoadedModel, names: Sequence[str], parameters: Mapping[str, float | str]
) -> list[float]:
    """Values in equation units of parameters that pictures alone need; one without a value is zero,
    which is reported."""
    values, missing = [], []
    by_key = loaded.interface.values_by_key(parameters, ("idle",), "parameters")
    for name in names:
        x = loaded.interface.find_or_raise(name, ("idle",), "parameter")
        value = by_key.get(x.key, x.default)
        missing += (
            [name] if value is None and x.unit.dimension in (LENGTH, ANGLE) else []
        )  # of masses none is seen
        values.append(float(x.unit.to_equation_units(0.0 if value is None else float(value))))
    if missing:
        issue_warning(
            f"the picture needs values of {', '.join(missing)}, for which there is no "
            f"default: zero is taken"
        )
    return values


@dataclass(frozen=True)
class RecordedMotion:
    """What a picture of a motion is drawn from."""

    time: np.ndarray
    poses: np.ndarray
    scene: Scene


def _check_bodies(loaded: LoadedModel) -> None:
    if not loaded.analysis.mechanism.bodies:
        raise RunError(
            f"there is no picture of {loaded.name}: its equations were derived by hand, "
            f"without bodies"
        )


def recorded_motion(
    loaded: LoadedModel,
    segments: Sequence[RunSegment],
    parameters: Mapping[str, float | str] | None = None,
) -> RecordedMotion:
    """The motion of recorded rows. `parameters` as they were given, user units."""
    _check_bodies(loaded)
    draft = draft_scene(loaded.analysis)
    model = make_pose_model(loaded, draft.parts, draft.parameter_expressions(), parameters)
    poses = model.poses_of_rows(segments)
    time = np.concatenate([rows[:, 0] for rows, _, _ in segments])
    return RecordedMotion(
        time, poses, build_scene(draft, model.picture_numbers(segments[0].p), poses)
    )


def initial_pose(
    loaded: LoadedModel,
    initial: Mapping[Any, float | str] | None = None,
    parameters: Mapping[str, float | str] | None = None,
    guess: Mapping[Any, float | str] | None = None,
) -> RecordedMotion:
    """The one pose of a start: values by state and of parameters in user units; what loops
    determine is solved for."""
    start_values = merge_initial_values(loaded, initial, guess)
    p, signals = loaded.parameter_values(parameters), loaded.inputs(None)
    q, u = assemble_state(loaded, start_values, loop_constraints(loaded, p, signals), p, signals)
    sampled_values = [0.0] * (len(loaded.program.inputs) - len(signals))
    outputs = [0.0] * len(loaded.program.output_names)
    row = np.array([0.0, *q, *u, *outputs, *(i.function(0.0) for i in signals), *sampled_values])
    return recorded_motion(
        loaded, [RunSegment(row[None], p, [0.0] * len(loaded.program.constant_symbols))], parameters
    )


class LiveViewer:
    """Images of a model, state by state. The view fits the first state, follows what travels far,
    and steps back for what grows."""

    def __init__(
        self,
        loaded: LoadedModel,
        row: np.ndarray,
        p: Sequence[float],
        parameters: Mapping[str, float | str] | None = None,
    ) -> None:
        _check_bodies(loaded)
        draft = draft_scene(loaded.analysis)
        self._model = make_pose_model(
            loaded, draft.parts, draft.parameter_expressions(), parameters
        )
        self._p, self._c = p, [0.0] * len(loaded.program.constant_symbols)
        start = self._poses(row)
        self.scene = build_scene(draft, self._model.picture_numbers(p), start[None])
        self._camera = LiveCamera(self.scene, start)

    def _poses(self, row: np.ndarray) -> np.ndarray:
        poses: np.ndarray = self._model.poses_of_rows([RunSegment(row[None], self._p, self._c)])[0]
        return poses

    def image(self, row: np.ndarray, width: int = 640, height: int = 400) -> np.ndarray:
        """The image (height, width, 3) of a row, 8 bits for each color."""
        poses = self._poses(row)
        return render_frame(self.scene, poses, width, height, self._camera.camera_for_pose(poses))


def load_for_picture(
    analysis: KinematicAnalysis, interface: Interface, program: SimulationProgram
) -> LoadedModel:
    """A model of which the pose is wanted alone: in Python, whatever its user functions are written
    in, and with inputs at zero that have no course."""
    functions = resolve_functions(
        program, analysis.mechanism.description.externals, {}, interface.model
    )
    return LoadedModel(
        analysis,
        interface.with_all_inputs(),
        program,
        PythonModel(program, functions),
        tuple(functions),
    )
