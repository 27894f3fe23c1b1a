"""A run step by step: inputs are set, steps taken, states and outputs read, from Python.

In:  a loaded model and what a user gives. Out: `Stepper`. A step is that of `simulate` with the
same method; where inputs or parameters are changed, a stepper continues as a run does that
continues from another with them (`checkpoint`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from bellcrank.core.argument_checks import PublicDir
from bellcrank.core.errors import ModelError, RunError, did_you_mean, require_mapping
from bellcrank.core.name_lookup import find_name, one_each
from bellcrank.core.numeric.event_log import Event
from bellcrank.core.numeric.run_spec import Checkpoint
from bellcrank.core.signals import Signal, constant
from bellcrank.mechanics.interface.interface import DECLARED, PARAMETERS, STATES, Interface
from bellcrank.simulation.backend.c_steps import SHORT, CompiledStepDriver
from bellcrank.simulation.run.argument_checks import Numbers, check_parameter_names
from bellcrank.simulation.run.checkpoint import InitialConditions, initial_conditions
from bellcrank.simulation.run.dae_methods import Dae, to_dae
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.simulation.run.named_values import ChannelLayout, NamedValues
from bellcrank.simulation.run.result import Run
from bellcrank.simulation.run.session import RunSession, start_stepping, without_event_parameters
from bellcrank.simulation.run.signal_inputs import to_signal
from bellcrank.simulation.run.status import RunStatus

if TYPE_CHECKING:
    from bellcrank.simulation.run.body_poses import LiveViewer

State = Mapping[Any, float] | tuple[Numbers, Numbers]
NO_LIMIT = 2**53
NOT_FINISHED = "the last step was not finished: use restore() or reset()"


class Stepper(PublicDir):
    """A model that runs step by step with a fixed step, as `Simulation.stepper` returns it.

    A stepper is for one thread at a time; several may run at once.

    Attributes
    ----------
    t, h : float
        Time reached and step in s.
    state, outputs : mapping
        Values by name in user units.
    inputs : dict
        The signal of each input.
    method : str
        Method of integration.
    x : ndarray
        The state [q, u] in equation units, as of `Simulation.rhs`.
    events : list of Event
        Events that occurred.
    status, problem : RunStatus, str
        How the run stands, and why it cannot continue.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("cart")
    >>> cart = s.add_body("cart", translate="x", mass="m", inertia=0)
    >>> s.set_defaults(m=2)
    >>> push = s.add_input("push", units="N", default=0)
    >>> motor = s.add_force("motor", magnitude=push, direction=s.inertial.x, at=cart.origin)
    >>> stepper = s.equations().compile(backend="python").stepper(0.5)
    >>> stepper.set(push=4)
    >>> stepper.step(2)
    >>> saved = stepper.save()
    >>> stepper.set_parameter(m=4)
    >>> stepper.step(2)
    >>> stepper.t, stepper.state["u(cart)"]
    (2.0, 3.0)
    >>> stepper.restore(saved)
    >>> stepper.t, stepper.state["u(cart)"]
    (1.0, 2.0)
    >>> stepper.reset()
    >>> stepper.t
    0.0
    """

    _session: RunSession
    _signals: dict[str, Signal]
    _problem: str
    constant_inputs: dict[str, float]
    input_indices: dict[str, list[int]]

    # for those that take several together: `constant_inputs` are values of inputs that are
    # constant, `input_indices` where these stand
    internals = (
        "constant_inputs",
        "sync_failure",
        "input_indices",
        "row",
        "set_constant_inputs",
        "compiled_steps",
    )

    def __init__(
        self,
        loaded: LoadedModel,
        conditions: InitialConditions,
        step: float | None,
        method: str | None,
    ) -> None:
        self._loaded, self._begun_with = loaded, (conditions, step, method)
        interface = loaded.interface
        self._states, self._outputs = (
            ChannelLayout(interface, interface.states),
            ChannelLayout(interface, interface.outputs),
        )
        self._use_session(start_stepping(loaded, conditions, step, method))
        self._first_signals = self._signals
        # parameters, and what draws the model with them
        self._viewer: tuple[tuple[float, ...], LiveViewer] | None = None

    def __repr__(self) -> str:
        suffix = f"; {self._problem}" if self._problem else ""
        return (
            f"Stepper({self._loaded.name!r}: t = {self.t:g} s, {self.method}, step {self.h:g} "
            f"s{suffix})"
        )

    # ---- what a user does

    def step(self, n: int = 1) -> None:
        """Take steps.

        Parameters
        ----------
        n : int, default 1
            Number of steps.

        Raises
        ------
        RunError
            If the run cannot continue.
        """
        if self._quick and type(n) is int and 0 < n <= SHORT:
            if self._steps.call(self._at, n):
                self._raise_failure()
        else:
            self._take_steps(n)

    def set(self, values: Mapping[str, Any] | None = None, /, **named: Any) -> None:
        """Set inputs from now on.

        Parameters
        ----------
        values : mapping, optional
            Inputs by name: numbers in user units, or all that `inputs=` of `simulate` accepts.
        named : float or signal
            The same as keywords.
        """
        if values is not None:
            named = {**{str(k): v for k, v in require_mapping(values, "set()").items()}, **named}
        constant_inputs = self.constant_inputs
        for name, value in named.items():
            if name not in constant_inputs or type(value) is not float or not math.isfinite(value):
                self._set_signals(named)
                return
        for name, value in named.items():
            if constant_inputs[name] != value:
                self._set_constant(name, value)

    def set_constant_inputs(self, names: Sequence[str], values: Sequence[float]) -> None:
        """Sets inputs, named as the model names them, to finite numbers: `set` for those who do so
        in every step."""
        constant_inputs = self.constant_inputs
        for name, value in zip(names, values, strict=True):
            if name not in constant_inputs:
                self._set_signals(dict(zip(names, values, strict=True)))
                return
            if constant_inputs[name] != value:
                self._steps.set_constant(self.input_indices[name], value)
                constant_inputs[name] = value

    def set_parameter(
        self, name: str | None = None, value: float | None = None, /, **named: float
    ) -> None:
        """Set parameters from now on. Loops that no longer fit are closed again.

        Parameters
        ----------
        name : str, optional
            A parameter.
        value : float, optional
            Its value in user units.
        named : float
            Parameters as keywords.
        """
        values: dict[str, Any] = {**({} if name is None else {name: value}), **named}
        interface, event_keys = self._loaded.interface, self._session.events.parameter_keys
        checked = [
            k
            for k in values
            if (x := interface.find_or_none(k, DECLARED)) is None or x.key not in event_keys
        ]
        check_parameter_names(interface, checked, "set_parameter({}=...)")
        checkpoint = self.save()
        parameters = interface.changed_parameters(checkpoint.parameters, values)
        p = self._loaded.parameter_values(
            without_event_parameters(self._loaded, parameters, event_keys)
        )
        if tuple(p) != checkpoint.p or (event_keys and parameters != checkpoint.parameters):
            self._use_session(
                start_stepping(
                    self._loaded, _conditions_from(checkpoint)._replace(parameters=parameters)
                )
            )

    def save(self) -> Checkpoint:
        """Save the present state, with all that the next steps depend on.

        Returns
        -------
        Checkpoint
            For `restore`.

        Raises
        ------
        RunError
            If the run has failed.
        """
        self._current_row()
        if self._problem and self.status is not RunStatus.STOPPED_BY_EVENT:
            raise RunError(f"there is nothing to save: {self._problem}")
        return self._session.save(self._current_signals())

    def restore(self, saved: Checkpoint) -> None:
        """Return to a saved state of this stepper or of another one of the same model.

        Parameters
        ----------
        saved : Checkpoint
            What `save` returned.

        Raises
        ------
        ModelError
            If it was saved by another model or backend.
        """
        if not isinstance(saved, Checkpoint):
            raise ModelError(
                f"restore({saved!r}): it takes what save() has returned", self._loaded.name
            )
        if saved.source != self._loaded.model.source:
            raise ModelError(
                "restore(): that was saved by a stepper of another model or backend",
                self._loaded.name,
            )
        current_signals, signals = self._current_signals(), saved.inputs
        changed_names = [
            name
            for name, signal in signals.items()
            if not _same_constant(signal, current_signals[name])
        ]
        if all(
            name in self.constant_inputs and signals[name].name == "constant"
            for name in changed_names
        ):
            if self._session.restore(saved):
                for name in changed_names:
                    self._set_constant(name, signals[name].numbers[0], reevaluate=False)
                self._set_problem("")
                return
        self._use_session(start_stepping(self._loaded, _conditions_from(saved)))

    def reset(
        self,
        initial: State | None = None,
        parameters: Mapping[str, float | str] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> None:
        """Restart as the stepper started, with other values if they are given.

        Parameters
        ----------
        initial, parameters, inputs : mapping, optional
            As of `simulate`. Default: those of the start.
        """
        conditions, step, method = self._begun_with
        if conditions.previous is not None and (initial is not None or parameters or inputs):
            reason = "this stepper continues from a run: reset() takes nothing else"
            raise ModelError(f"reset(): {reason}", self._loaded.name)
        interface = self._loaded.interface
        if isinstance(initial, Mapping) and isinstance(conditions.initial, Mapping):
            initial = interface.values_by_key(
                conditions.initial, STATES, "initial"
            ) | interface.values_by_key(initial, STATES, "initial")
        if initial is not None:
            conditions = conditions._replace(initial=initial)
        if parameters is not None:
            overrides = require_mapping(parameters, "parameters")
            conditions = conditions._replace(
                parameters=interface.changed_parameters(conditions.parameters, overrides)
            )
        if inputs is not None:
            old_inputs, new_inputs = (
                interface.values_by_key(x, ("input",), "inputs")
                for x in (conditions.inputs, require_mapping(inputs, "inputs"))
            )
            conditions = conditions._replace(inputs=old_inputs | new_inputs)
        first = self._first_signals
        unchanged = inputs is None and all(
            self._signals[name] is signal for name, signal in first.items()
        )
        if not unchanged or not self._session.reinitialize(conditions):
            self._use_session(start_stepping(self._loaded, conditions, step, method))
            self._first_signals = self._signals if inputs is None else first
            return
        for name, value in self.constant_inputs.items():
            if first[name].numbers[0] != value:
                self._set_constant(name, first[name].numbers[0], reevaluate=False)
        self._set_problem("")
        self._refresh_row()

    @property
    def t(self) -> float:
        """The time reached, s."""
        return self._session.t

    @property
    def h(self) -> float:
        """The step, s."""
        return self._session.spec.step

    @property
    def state(self) -> NamedValues:
        """The state reached, by name."""
        return self._states.values(self._current_row())

    @property
    def outputs(self) -> NamedValues:
        """The outputs there, with the present inputs."""
        return self._outputs.values(self._current_row())

    @property
    def inputs(self) -> dict[str, Signal]:
        """The signal of each input at present."""
        return self._current_signals()

    @property
    def method(self) -> str:
        """The method, by its name."""
        return self._session.spec.method

    @property
    def x(self) -> np.ndarray:
        """The state [q, u] in equation units, as of `Simulation.rhs`."""
        return np.array(self._current_row()[1 : 1 + self._loaded.n_states])

    @property
    def events(self) -> list[Event]:
        """What happened so far, with its times and what it changed: the events of the model, and
        those of rigid wheels; the latter alone since anything but the value of an input was
        changed."""
        return list(self._session.event_log.events)

    def __reduce__(self) -> NoReturn:
        reason = "is bound to memory of this process: it cannot be stored, copied or sent elsewhere"
        raise ModelError(f"a stepper {reason}; make another one there", self._loaded.name)

    # ---- for those that take several together

    @property
    def problem(self) -> str:
        """Why it cannot continue, as an event has stopped it or something failed; nothing if it
        can."""
        return self._problem

    @property
    def status(self) -> RunStatus:
        """How it stands: running, stopped by an event, or what failed."""
        return self._status

    @property
    def row(self) -> np.ndarray:
        """Time, state, outputs and inputs in equation units."""
        return self._current_row()

    def image(self, width: int = 640, height: int = 400) -> np.ndarray:
        """Draw the mechanism in its present state.

        The view fits the first state that is drawn, follows what travels far, and steps back for
        what grows.

        Parameters
        ----------
        width, height : int, default 640 and 400
            Size of the image in pixels.

        Returns
        -------
        numpy.ndarray
            Colors from 0 to 255, (height, width, 3).

        Raises
        ------
        RunError
            If the model has no bodies.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("pendulum")
        >>> rod = s.add_body("rod", rotate="y", mass=1, inertia=(0.1, 0.1, 0.1), cm=(0, 0, -0.5))
        >>> stepper = s.equations().compile(backend="python").stepper(step=0.01)
        >>> stepper.image(width=320, height=200).shape
        (200, 320, 3)
        """
        from bellcrank.simulation.run.body_poses import LiveViewer

        row, p = self.row, tuple(self._session.p)
        if self._viewer is None or self._viewer[0] != p:
            self._viewer = p, LiveViewer(self._loaded, row, p, self._session.parameters)
        pixels: np.ndarray = self._viewer[1].image(row, width, height)
        return pixels

    def compiled_steps(self) -> CompiledStepDriver | None:
        """Its steps, if C can take them by itself."""
        steps = self._session.steps
        return (
            steps
            if type(steps) is CompiledStepDriver
            and steps.run.shares_memory
            and not steps.calls_python
            and self._limit == NO_LIMIT
            else None
        )

    def sync_failure(self, at_start: bool) -> None:
        """Notes why it cannot continue, if C has found that; `at_start`: before any step."""
        steps = self._session.steps
        if isinstance(steps, CompiledStepDriver) and steps.job.status and not self._problem:
            status = self._session.status(steps.job.status)
            self._set_problem(self._session.failure_message(at_start), status)

    # ---- how it continues

    def _use_session(self, session: RunSession) -> None:
        """Continues with a run that was made ready."""
        self._session = session
        self._signals = dict(session.initial.inputs or {})
        steps = session.steps
        plain = isinstance(steps, CompiledStepDriver) and steps.accepts_constants
        self.constant_inputs = {
            k: s.numbers[0] for k, s in self._signals.items() if plain and s.name == "constant"
        }
        self.input_indices = {name: [] for name in self.constant_inputs}
        for x in self._loaded.interface.inputs:
            if x.base_input in self.input_indices:
                self.input_indices[x.base_input].append(x.index)
        end_time, self._ends = min(
            ((s.covers[1], k) for k, s in self._signals.items()), default=(math.inf, "")
        )
        spec = session.spec
        self._limit = (
            NO_LIMIT if math.isinf(end_time) else math.floor((end_time - spec.t_start) / spec.step)
        )
        self._set_problem(
            "" if session.event_log.stop_event is None else session.failure_message(at_start=True),
            session.status(0),
        )

    def _set_problem(self, problem: str, status: RunStatus = RunStatus.RUNNING) -> None:
        """How steps are taken from now on; a problem: none are."""
        steps, self._problem, self._status = self._session.steps, problem, status
        self._quick = (
            type(steps) is CompiledStepDriver
            and not steps.calls_python
            and self._limit == NO_LIMIT
            and not problem
        )
        if isinstance(steps, CompiledStepDriver):
            self._steps, self._at = steps, steps.at

    def _take_steps(self, n: object) -> None:
        """Takes n steps, on the way that all models can go."""
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 0:
            raise ModelError(
                f"step({n!r}): the number of steps must be whole, not negative", self._loaded.name
            )
        if self._problem:
            raise RunError(self._problem)
        steps, count = self._session.steps, int(n)
        if steps.steps_done + count > self._limit:
            covers, begin_time = self._signals[self._ends].covers, self.t
            end_time = begin_time + count * self._session.spec.step
            message = f"input '{self._ends}' covers t = {covers[0]:g} to {covers[1]:g} s"
            raise RunError(
                f"{message}, but step({n}) goes from t = {begin_time:g} to {end_time:g} s"
            )
        if not count:
            return
        if count > SHORT:
            self._current_row()
        try:
            status = steps.take_steps(count)
        except BaseException:
            if not steps.recover_from_error():
                self._set_problem(NOT_FINISHED, RunStatus.INTERRUPTED)
            raise
        if status:
            self._raise_failure(status)
        elif self._session.event_log.stop_event is not None:
            self._set_problem(
                self._session.failure_message(at_start=True), RunStatus.STOPPED_BY_EVENT
            )

    def _raise_failure(self, status: int = 0) -> None:
        """Reports why the run cannot continue; the state stays the last good one."""
        code = status or self._steps.job.status
        self._set_problem(self._session.failure_message(), self._session.status(code))
        raise RunError(self._problem)

    def _current_row(self) -> np.ndarray:
        """Time, state, outputs and inputs reached."""
        steps = self._session.steps
        if not steps.is_up_to_date and not self._problem:
            self._refresh_row()
        return steps.row

    def _refresh_row(self) -> None:
        """Takes the start, or a state after inputs were set."""
        if status := self._session.steps.take_steps(0):
            self._set_problem(
                self._session.failure_message(at_start=True), self._session.status(status)
            )
            raise RunError(self._problem)

    # ---- inputs

    def _set_constant(self, name: str, value: float, reevaluate: bool = True) -> None:
        steps = self._session.steps
        assert isinstance(steps, CompiledStepDriver)
        steps.set_constant(self.input_indices[name], value, reevaluate)
        self.constant_inputs[name] = value

    def _current_signals(self) -> dict[str, Signal]:
        return {
            **self._signals,
            **{name: constant(value) for name, value in self.constant_inputs.items()},
        }

    def _set_signals(self, values: Mapping[str, Any]) -> None:
        """Sets inputs by any kind of signal, under any spelling of their names."""
        spelled = resolve_input_names(self._loaded.interface, values)
        current_signals, new_signals = (
            self._current_signals(),
            {spelled[name]: to_signal(value, name) for name, value in values.items()},
        )
        changed_signals = {
            name: signal
            for name, signal in new_signals.items()
            if not _same_constant(signal, current_signals[name])
        }
        if all(
            name in self.constant_inputs and signal.name == "constant"
            for name, signal in changed_signals.items()
        ):
            for name, signal in changed_signals.items():
                self._set_constant(name, signal.numbers[0])
        else:
            continuation = _conditions_from(self.save())._replace(
                inputs={**current_signals, **new_signals}, inputs_unchanged=False
            )
            self._use_session(start_stepping(self._loaded, continuation))


def make_stepper(
    loaded: LoadedModel,
    step: float | None = None,
    parameters: Mapping[str, float | str] | None = None,
    initial: State | None = None,
    inputs: Mapping[str, Any] | None = None,
    method: str | None = None,
    t_start: float | None = None,
    start: Run | None = None,
    dae: str | Dae | None = None,
) -> Stepper:
    """A model that is taken step by step; arguments as of `Simulation.simulate`."""
    conditions = initial_conditions(loaded, start, t_start, initial, parameters, inputs)
    if dae is not None:
        conditions = conditions._replace(requested_dae=to_dae(dae))
    return Stepper(loaded, conditions, step, method)


def _conditions_from(saved: Checkpoint) -> InitialConditions:
    """What a run begins with that continues from there."""
    return InitialConditions(
        None,
        None,
        saved.parameters,
        saved.inputs,
        saved,
        True,
        saved.tolerances,
        continues=True,
    )


def resolve_input_names(interface: Interface, values: Mapping[str, object]) -> dict[str, str]:
    """Names that a user typed, as the model has them."""
    model_names = [x.name for x in interface.signals]
    matches = {name: find_name(name, model_names, "input") for name in values}
    problems = []
    for name in (name for name, x in matches.items() if x is None):
        parameter = interface.find_or_none(name, PARAMETERS)
        suggestion = " It is a parameter: use set_parameter()."
        suggestion = did_you_mean(str(name), model_names) if parameter is None else suggestion
        problems.append(f"set({name}=...): the model has no such input.{suggestion}")
    if problems:
        last = f"{problems[-1]} Inputs: {', '.join(model_names) or 'none'}."
        raise ModelError([*problems[:-1], last], interface.model)
    names = {name: x for name, x in matches.items() if x is not None}
    one_each(values, names, "set")
    return names


def _same_constant(a: Signal, b: Signal) -> bool:
    return a is b or (a.name == b.name == "constant" and a.numbers == b.numbers)
