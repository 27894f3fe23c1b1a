"""Car: what a user types, or writes to a file, to describe a car; and the cars that come with
Bellcrank."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bellcrank.core.argument_checks import validate_arguments
from bellcrank.core.errors import ModelError, did_you_mean, require_mapping
from bellcrank.core.files.figure_files import figure_html
from bellcrank.core.files.html import details, heading, paragraph
from bellcrank.core.files.notebook_display import html_card
from bellcrank.core.files.shipped_files import ShippedCollection
from bellcrank.core.files.text_files import read_text, read_toml
from bellcrank.core.numeric.real_numbers import display_text
from bellcrank.linkage import Linkage
from bellcrank.linkage import shipped as hard_points
from bellcrank.linkage.chain import ChainStrut
from bellcrank.linkage.measures import Measures
from bellcrank.vehicles.arguments import require_finite_argument
from bellcrank.vehicles.cars.building.car_model import CarSystem, Ground, build_car_system
from bellcrank.vehicles.cars.design.car_data import CORNER_WORDS, CarData, make_data
from bellcrank.vehicles.cars.design.powertrain_data import front_drive_fraction
from bellcrank.vehicles.cars.design.trailer_data import (
    changed_sections,
    expand_trailer_files,
    merge_sections,
    wheel_labels,
)
from bellcrank.vehicles.cars.keys.car_keys import DIRECTIONS
from bellcrank.vehicles.cars.metrics.handling_metrics import Figures, car_metrics
from bellcrank.vehicles.cars.model_extensions import add_rolling_start, model_content
from bellcrank.vehicles.cars.statics.setup_solver import solve_setup
from bellcrank.vehicles.cars.statics.static_equilibrium import CarStatics, solve_static_equilibrium
from bellcrank.vehicles.cars.user_controller import UserController
from bellcrank.vehicles.labels import write_plain_labels

if TYPE_CHECKING:
    from bellcrank.linkage.hard_point_fitting import HardPointFit
    from bellcrank.linkage.load_table import LoadTable
    from bellcrank.vehicles.cars.metrics.kinematics_comparison import KinematicsComparison

FOREIGN = "frame", "a motorcycle (Motorcycle.read)"
CARS = ShippedCollection(
    "car", "bellcrank.vehicles.cars", other_kind=FOREIGN, own_keys=("body", "car")
)


class Car:
    """A car as data: the sections of a [car file](car.md). `Car.read` reads one.

    Parameters
    ----------
    folder : str or Path, default "."
        Folder in which paths of tyres and hard points start.
    sections : mapping
        Sections of the file by name, each a mapping of keys.

    Raises
    ------
    ModelError
        If the data has mistakes: all of them are listed.

    Examples
    --------
    >>> import bellcrank as bc
    >>> car = bc.vehicles.Car.read("passenger")
    >>> car.name, round(car.metrics["mass"])
    ('passenger car', 1466)
    >>> stiff = car.changed(front={"spring": {"stiffness": "80 N/mm"}})
    >>> stiff.metrics["ride_front"] > car.metrics["ride_front"]
    True
    >>> car.check()[0]
    'front.tyre: typical values of a passenger tyre of this size and load index, not measured ones.'
    """

    def __init__(self, *, folder: str | Path = ".", **sections: Any) -> None:
        self.folder = Path(folder)
        self.given = expand_trailer_files(_merge_base_car(sections, self.folder), self.folder)
        self.extensions: tuple[Extension, ...] = ()
        self.like: tuple[Car, Mapping[str, float]] | None = (
            None  # the car whose model it shares, other parameters
        )
        self.fitted: HardPointFit | None = None  # how its hard points were found, if `fit` did
        self.source: Path | None = None  # the file, if it is as there
        self.data: CarData = solve_setup(make_data(self.given, self.folder))

    @classmethod
    @validate_arguments
    def read(cls, path: str | Path) -> Car:
        """Read a car from a file.

        Parameters
        ----------
        path : str or Path
            A car file (.toml), or the name of a car that comes with Bellcrank:
            `bc.vehicles.car_names()` lists them.

        Returns
        -------
        Car
            The car; `car.system()` makes its model.

        Raises
        ------
        ModelError
            If there is no such file or car, or if it has mistakes: all of them are listed.

        Examples
        --------
        >>> import bellcrank as bc
        >>> bc.vehicles.Car.read("passenger").name
        'passenger car'
        """
        sections, file = CARS.read(path)
        car = cls(folder=file.parent, **sections)
        car.source = file
        return car

    @property
    def name(self) -> str:
        return self.data.sections.name

    def __repr__(self) -> str:
        return (
            f"Car({self.name!r}, {self.stand.mass:.4g} kg, wheelbase "
            f"{self.metrics['wheelbase']:.4g} m)"
        )

    def _repr_html_(self) -> str:
        """For notebooks: a picture and the metrics by hand formulas, with what is unusual."""
        from bellcrank.vehicles.cars.car_picture import car_picture

        picture = figure_html(car_picture(self.data, self.stand), f"picture of {self.name}")
        notes = [paragraph(f"Note: {note}") for note in self.check()]
        metrics_table = details("Metrics", "".join(self.metrics._html_parts()), True)
        return html_card(
            [heading(repr(self)), picture, *notes, metrics_table], lambda: None, self.name
        )

    def changed(self, **sections: Any) -> Car:
        """Change values of the car.

        Parameters
        ----------
        sections : mapping
            Sections with the keys to change: ``front={"spring": {"stiffness": "30 N/mm"}}``. None
            removes a key. A `file` is looked up in the working folder first, then in the
            folder of the file of the vehicle.

        Returns
        -------
        Car
            Another car.

        Raises
        ------
        ModelError
            If a key or value is not allowed.
        """
        car = type(self)(folder=self.folder, **changed_sections(self.given, sections))
        car.extensions = self.extensions
        return car

    def with_parameters(self, values: Mapping[str, float]) -> Car:
        """The same car, whose manoeuvres run by the same compiled model with other values of
        parameters.

        Parameters
        ----------
        values : mapping
            Values of model parameters (docs/car.md, "Parameters of a run"), in the units of the
            model.

        Returns
        -------
        Car
            Another car. Its data and metrics by formulas are those of this one; what it does in
            manoeuvres differs.

        Examples
        --------
        >>> import bellcrank as bc
        >>> stiffer = bc.vehicles.Car.read("passenger").with_parameters({"k_front": 60000})
        >>> stiffer.like[1]
        {'k_front': 60000}
        """
        parameters = require_mapping(values, "values")
        require_finite_argument("with_parameters", "in the unit of the model", **parameters)
        car = copy.copy(self)
        car.like = (
            (self, parameters)
            if self.like is None
            else (self.like[0], {**self.like[1], **parameters})
        )
        return car

    @property
    def controllers(self) -> dict[str, bool]:
        """Whether each controller of the file is on at the beginning, by name: abs, esc and so on;
        abs_NAME of a trailer."""
        controllers = self.data.controllers
        controllers |= {
            extension.name: True
            for extension in self.extensions
            if isinstance(extension, UserController)
        }
        overrides = {} if self.like is None else self.like[1]
        return {name: overrides.get(f"{name}_on", is_on) > 0 for name, is_on in controllers.items()}

    def switched(self, **on: bool) -> Car:
        """Switch controllers of the car on or off, for manoeuvres; the compiled model is the same.

        Parameters
        ----------
        on : bool
            True or False by the name of a controller, as in `controllers`: ``switched(esc=False)``.

        Returns
        -------
        Car
            Another car.

        Raises
        ------
        ModelError
            If the car has no such controller.

        Examples
        --------
        >>> import bellcrank as bc
        >>> car = bc.vehicles.Car.read("passenger").changed(controllers={"esc": {}})
        >>> car.controllers, car.switched(esc=False).controllers
        ({'esc': True}, {'esc': False})
        """
        controllers = self.controllers
        for name, value in on.items():
            if value not in (True, False):
                raise ModelError(
                    f"switched: {name}={display_text(value)} must be True or False", self.name
                )
            if name not in controllers:
                listing = (
                    f"It has {', '.join(controllers)}."
                    if controllers
                    else "It has none (section [controllers] of its file)."
                )
                raise ModelError(
                    f"no controller is called '{name}'.{did_you_mean(name, controllers)} {listing}",
                    self.name,
                )
            if name == "cruise":
                raise ModelError(
                    "switched(cruise=...): manoeuvres have a driver who keeps the speed, "
                    "and no cruise control. In "
                    "runs of car.system() the parameter cruise_on switches it",
                    self.name,
                )
        return self.with_parameters({f"{name}_on": float(x) for name, x in on.items()})

    def setup(self, **asked: Any) -> Car:
        """Set up the car: heights, toe, camber, cross weight.

        Parameters
        ----------
        asked : optional
            Keys of the section `setup`: ``toe_front="0.1 deg", height_rear="20 mm",
            cross_weight=0.5``.

        Returns
        -------
        Car
            Another car.

        Raises
        ------
        ModelError
            If a key or value is not allowed.
        """
        return self.changed(setup=asked)

    def extended(self, *functions: Extension) -> Car:
        """The same car with additional bodies, states, forces or controllers, for models and all
        manoeuvres.

        Parameters
        ----------
        functions : callable
            Each is called as ``function(system, car)`` when a model is made, and adds to the system
            (`CarSystem`): a trailer to its body "chassis", or a controller of wheel torques by
            ``system.control``. Names of bodies, inputs and outputs are those of docs/car.md.

        Returns
        -------
        Car
            Another car; this one stays as it is.
        """
        invalid = next((f for f in functions if not callable(f)), None)
        if invalid is not None or not functions:
            raise ModelError(
                f"extended({invalid!r:.40}): give functions that take the system and the car"
                if functions
                else "extended(): give a function that takes the system and the car",
                self.name,
            )
        car = copy.copy(self)
        car.extensions = (*self.extensions, *functions)
        return car

    def controlled(
        self,
        name: str,
        *,
        inputs: Sequence[Any] | Mapping[str, Any],
        torques: Sequence[str] | Mapping[str, str],
        sample_time: float,
        python: Callable[..., Any] | None = None,
        c: str | None = None,
        memory: int = 0,
        fmu: str | Path | None = None,
    ) -> Car:
        """Add a controller of your own, which is called at a sample time, for models and all
        manoeuvres.

        Parameters
        ----------
        name : str
            Name of the controller; the parameter NAME_on switches it.
        inputs : sequence of str, or mapping of str to str
            Names of channels without accelerations, or formulas. The function is called with their
            values after the time, in SI units and rad. With `fmu`: these by the inputs of the FMU,
            which get them in its units.
        torques : sequence of str, or mapping of str to str
            What it returns, in N m: ``"<corner>.brake_torque"`` or ``"<corner>.drive_torque"``.
            With `fmu`: these by the outputs of the FMU.
        sample_time : float
            Time between two calls in s; the torques are constant in between.
        python : callable, optional
            Function of the time (s), the inputs and, with `memory`, an array that keeps its values.
        c : str, optional
            The same in C: ``void NAME(double t, double a, ..., double *returns, double *memory)``,
            without the last argument if there is no memory.
        memory : int, default 0
            Length of that array, which is initially zero.
        fmu : path, optional
            A co-simulation FMU of FMI 2 or 3 in place of a function (``pip install
            bellcrank[fmu]``). Each sample is one of its steps.

        Returns
        -------
        Car
            Another car; its runs have the channels NAME.<torque>.

        Raises
        ------
        ModelError
            If an argument is not valid.

        Examples
        --------
        >>> import bellcrank as bc
        >>> damper = {"inputs": ["yaw_rate"], "torques": ["fl.brake_torque"], "sample_time": 0.01}
        >>> car = bc.vehicles.Car.read("passenger")
        >>> damped = car.controlled(
        ...     "damper", python=lambda t, yaw_rate: max(0, -3000 * yaw_rate), **damper
        ... )
        >>> damped.controllers
        {'damper': True}
        """
        controller = UserController(name, inputs, torques, sample_time, python, c, memory, fmu)
        problems = controller.problems()
        if name in self.controllers:
            problems.append(f"the car has a controller '{name}' already")
        try:
            controller = controller if problems else controller.with_opened_fmu()
        except ModelError as error:
            problems = error.problems
        if problems:
            raise ModelError([f"controlled({name!r:.40}): {p}." for p in problems], self.name)
        return self.extended(controller)

    @property
    def is_extended(self) -> bool:
        """Whether its models have more than its file says: by `extended`, or by a class with
        another `system`."""
        return bool(self.extensions) or type(self).system is not Car.system

    @cached_property
    def stand(self) -> CarStatics:
        """How it stands on level ground: height, attitude, travels, wheel loads, free lengths of
        the springs."""
        return solve_static_equilibrium(self.data)

    @cached_property
    def metrics(self) -> Figures:
        """What follows by hand formulas: loads, rates, frequencies, stiffnesses of the tyres; each
        label says what is omitted."""
        return car_metrics(self.data, self.stand)

    def check(self) -> list[str]:
        """List what is unusual in the data and in `metrics`.

        Returns
        -------
        list of str
            Messages.
        """
        from bellcrank.vehicles.cars.metrics.plausibility import plausibility_warnings

        return plausibility_warnings(self.data, self.stand, self.metrics)

    def loads(
        self, axle: str, cases: str | Path | Mapping[str, Mapping[str, Any]] | None = None
    ) -> LoadTable:
        """Compute the forces of each rod, joint and spring and of the rack of an axle under load
        cases.

        Parameters
        ----------
        axle : {"front", "rear"}
            The axle.
        cases : path or mapping, optional
            Load cases: a file, or a mapping of its sections. Default: braking, cornering and bumps.

        Returns
        -------
        LoadTable
            Forces in N by load case.

        Raises
        ------
        ModelError
            If the axle or a load case is not valid.
        """
        from bellcrank.vehicles.cars.metrics.load_cases import axle_loads, read_load_cases

        read = None if cases is None else read_load_cases(cases)
        return axle_loads(self.data, self.stand, self.metrics, _check_axle_name(axle), read)

    def kinematics(
        self, axle: str, travel: Any, rack: Any = 0.0, mode: str = "parallel"
    ) -> Measures:
        """Measure the left suspension of an axle over wheel and rack travel.

        Parameters
        ----------
        axle : {"front", "rear"}
            The axle.
        travel, rack : float or sequence of float
            Wheel travel and rack position in m. Default of `rack`: 0.0.
        mode : {"parallel", "opposite", "single"}, default "parallel"
            How the right wheel moves.

        Returns
        -------
        Measures
            Toe, camber, rates and others by name.

        Raises
        ------
        ModelError
            If an argument is not valid.
        """
        from bellcrank.vehicles.cars.metrics.axle_measures import axle_measures

        return axle_measures(
            self.data, self.stand, self.linkage(axle), _check_axle_name(axle), travel, rack, mode
        )

    def compliance(
        self, axle: str, travel: Any = 0.0, rack: Any = 0.0, load: Any = None
    ) -> Measures:
        """Measure the compliance of an axle under forces and torques at its wheels, as a K&C rig
        does.

        Parameters
        ----------
        axle : {"front", "rear"}
            The axle.
        travel, rack : float or sequence of float, default 0.0
            Wheel travel and rack position in m.
        load : float or sequence of float, optional
            Size of the loads: forces in kN, aligning torques in 100 N m. It matters for bushings
            with curves. Default: small loads.

        Returns
        -------
        Measures
            Steer, toe, camber and displacements of the left wheel per kN of lateral, braking and
            traction force and per 100 N m of aligning torque at both wheels, in phase and opposed:
            `found["lateral_in_phase_steer"]`.

        Raises
        ------
        ModelError
            If an argument is not valid.
        """
        from bellcrank.vehicles.cars.metrics.kc_compliance import compliance_measures

        return compliance_measures(
            self.data, self.stand, self.linkage(axle), _check_axle_name(axle), travel, rack, load
        )

    def compare_kinematics(
        self,
        axle: str,
        path: str | Path,
        channels: str | Path | Mapping[str, Any] | None = None,
        mode: str = "parallel",
    ) -> KinematicsComparison:
        """Compare the left suspension of an axle with a measured table.

        Parameters
        ----------
        axle : {"front", "rear"}
            The axle.
        path : str or Path
            The table: a column of wheel travel or rack position, and columns of measures. Names of
            Adams/Car and of test rigs are known; values without a unit are in mm, deg, N, N/mm.
        channels : str, Path or mapping, optional
            Columns by measure, as of `bc.measured.read`.
        mode : {"parallel", "opposite", "single"}, default "parallel"
            How the right wheel moves.

        Returns
        -------
        KinematicsComparison
            Errors by measure; `found["toe"].rms`, `found.plot(path)`.

        Raises
        ------
        RunError
            If the file cannot be read or has no known column.
        """
        from bellcrank.vehicles.cars.metrics.kinematics_comparison import compare_kinematics

        def measure_at(travel: Any, rack: Any) -> Measures:
            return self.kinematics(axle, travel, rack, mode)

        return compare_kinematics(
            f"{self.name}, {_check_axle_name(axle)}",
            measure_at,
            measure_at(0.0, 0.0).units,
            path,
            channels,
        )

    def fit(self, targets: str | Path | Mapping[str, Any], axle: str | None = None) -> Car:
        """Move hard points of an axle until its kinematic curves meet targets.

        Parameters
        ----------
        targets : str, Path or mapping
            A TOML file or a mapping with the same content (docs/howto/fit_hard_points.md): `points`
            with the ranges in which their coordinates may move, `curves` with targets of metrics
            over travel or rack, and `units`.
        axle : str, optional
            "front" or "rear". Default: `axle` in `targets`.

        Returns
        -------
        Car
            Another car with the hard points that were found; its attribute `fitted`
            (`HardPointFit`) has moves (m), curves before and after, and sensitivities.

        Raises
        ------
        ModelError
            If a hard point or metric is not known, or a target is wrong: all problems are listed.

        Examples
        --------
        >>> import bellcrank as bc
        >>> car = bc.vehicles.Car.read("passenger")
        >>> straight = {"travel": ["-80 mm", "80 mm"], "change": "0 deg", "tolerance": "0.2 deg"}
        >>> moves = {"y": ["-30 mm", "30 mm"], "z": ["-30 mm", "30 mm"]}
        >>> targets = {"points": {"tie_base": moves}, "curves": {"toe": straight}}
        >>> new = car.fit(targets, axle="front")
        >>> new.fitted.meets_targets
        True
        """
        from bellcrank.vehicles.cars.metrics.fit_targets import FitTargetFile, fit_hard_points

        target_file = FitTargetFile.read(targets)
        axle_name = _check_axle_name(axle or target_file.targets.axle or "")
        fit = fit_hard_points(self.linkage(axle_name), target_file)
        car = self.changed(
            **{
                axle_name: {
                    "suspension": {
                        "points": self.data.axle(axle_name).points_as_in_file(fit.moved_points)
                    }
                }
            }
        )
        car.fitted = fit
        return car

    def linkage(self, axle: str) -> Linkage:
        """Give the left suspension of an axle, or a solid axle or twist beam, as a linkage.

        Parameters
        ----------
        axle : {"front", "rear"}
            The axle.

        Returns
        -------
        Linkage
            The suspension, with what its measures need of the car.
        """
        _check_axle_name(axle)
        fitted, sections, f = self.data.axle(axle), self.data.sections, self.metrics
        hub = fitted.pose(0.0).point(fitted.linkage.chain.hub)
        height = self.stand.height + float(hub.position[2] + fitted.record.at[2])
        vehicle = {
            "axle": axle,
            "wheelbase": f["wheelbase"],
            "cg_height": f["cg_height"],
            "tyre_radius": height,
            "brake_front": sections.brakes.front_share,
            "drive_front": front_drive_fraction(sections.drive),
            "inboard_drive": sections.drive.reaction == "body",
            "inboard_brake": sections.brakes.react_on_body(axle),
            "toe": math.degrees(fitted.record.toe),
            "camber": math.degrees(fitted.record.camber),
        }
        struts = (ChainStrut("spring", fitted.spring, fitted.record.spring.stiffness),)
        return Linkage(replace(fitted.linkage.chain, vehicle=vehicle, struts=struts))

    def system(
        self,
        *,
        speed: float = 20.0,
        exact: bool = True,
        terrain: Ground | tuple[Ground, Ground] | None = None,
        driver: Any = None,
        posts: bool = False,
        road_inputs: bool = False,
        tilt: bool = False,
    ) -> CarSystem:
        """Make the model of the car, which rolls ahead from where it stands.

        A class of your own may extend what this returns; manoeuvres call it with any of these
        options.

        Parameters
        ----------
        speed : float, default 20.0
            Initial speed in m/s.
        exact : bool, default True
            Solve the suspensions exactly, or look them up in tables.
        terrain : Terrain or pair, optional
            The ground, or that of the left and right wheels. Default: flat.
        driver : Driver, optional
            Who steers and keeps the speed. Default: nobody; steer, drive and brake are inputs.
        posts : bool, default False
            Move the ground below each wheel by the input <corner>.post_speed.
        road_inputs : bool, default False
            Give the height of the ground over the terrain (m) by the input <corner>.road and a
            factor of its friction by <corner>.friction.
        tilt : bool, default False
            Incline the road sideways by the input `tilt` (deg, left side up), as a tilt table, and
            ahead by the input
            `grade` (deg, uphill): the direction of gravity turns, in the axes of the road.

        Returns
        -------
        CarSystem
            The model, a `System`.

        Raises
        ------
        ModelError
            If the options do not go together.
        """
        if posts and road_inputs:
            raise ModelError(
                "system(posts=True, road_inputs=True): the ground is moved by one of them",
                self.name,
            )
        require_finite_argument("system", "m/s", speed=speed)
        s = build_car_system(
            self.data,
            self.stand,
            speed=speed,
            exact=exact,
            terrain=terrain,
            driver=driver,
            posts=posts,
            road_inputs=road_inputs,
            tilt=tilt,
        )
        s.car = self
        for function in self.extensions:
            function(s, self)
        for name, x in (self.data.sections.events or {}).items():
            s.add_event(
                name, x.when, action=x.action, stop=x.stop, direction=DIRECTIONS[x.direction]
            )
        add_rolling_start(s)
        labels = {name: f"the {corner_label} {{}}" for name, corner_label in CORNER_WORDS.items()}
        write_plain_labels(s, labels | wheel_labels(self.data.simple_axles))
        s.made = model_content(s)
        return s


Extension = Callable[[CarSystem, Car], object]


def _check_axle_name(name: str) -> str:
    if name not in ("front", "rear"):
        raise ModelError(f"axle={name!r} must be 'front' or 'rear'")
    return name


def car_system(
    path: str | Path, *, speed: float = 20.0, exact: bool = True, terrain: Ground | None = None
) -> CarSystem:
    """The model of a car file; options as of `Car.system`."""
    return Car.read(path).system(speed=speed, exact=exact, terrain=terrain)


def car_names() -> list[str]:
    """List the cars that come with Bellcrank.

    Returns
    -------
    list of str
        Their names.

    Examples
    --------
    >>> import bellcrank as bc
    >>> "passenger" in bc.vehicles.car_names()
    True
    """
    return CARS.names()


def template(name: str = "passenger") -> str:
    """Give the text of a car file that comes with Bellcrank, hard points included, as a start for
    another.

    Parameters
    ----------
    name : str, default "passenger"
        Name of the car.

    Returns
    -------
    str
        The text, in TOML.

    Raises
    ------
    ModelError
        If no car has that name.

    Examples
    --------
    >>> import bellcrank as bc
    >>> "[front.suspension]" in bc.vehicles.template("passenger")
    True
    """
    return re.sub(
        r"(?m)^\[(\w+\.suspension)\]\nshipped = \"(\w+)\".*\n",
        _hard_points_section,
        read_text(CARS.file(name)),
    )


def _hard_points_section(match: re.Match[str]) -> str:
    """Hard points of a shipped file as a section of a car file, which says itself what springs and
    vehicle are."""
    text = re.sub(r"(?m)^(name|stiffness|damping) = .*\n", "", read_text(hard_points(match[2])))
    text = re.sub(r"(?m)^\[", f"[{match[1]}.", text.partition("[vehicle]")[0].rstrip() + "\n")
    comments, _, remainder = text.partition("kind = ")
    return f"{comments}[{match[1]}]\nkind = {remainder}"


def _merge_base_car(
    sections: Mapping[str, Any], folder: Path, ancestors: tuple[Path, ...] = ()
) -> dict[str, Any]:
    """Sections of a car over those of the car that it names, if it does; `ancestors`: files that
    name this one."""
    base_name = sections.get("car")
    if base_name is None:
        return dict(sections)
    path = CARS.file(str(base_name)) if str(base_name) in CARS.names() else folder / str(base_name)
    if not path.is_file():
        raise ModelError(
            f"car = '{base_name}': no file or car has this name.{CARS.suggestion(str(base_name))}"
        )
    if path.resolve() in ancestors:
        raise ModelError(
            f"car = '{base_name}': the files {', '.join(p.name for p in ancestors)} name "
            f"each other in a circle"
        )
    base = _merge_base_car(read_toml(path), path.parent, (*ancestors, path.resolve()))
    return merge_sections(base, {key: value for key, value in sections.items() if key != "car"})
