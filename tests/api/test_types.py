"""What an editor and a type checker see of the package: choices, functions, names that are listed,
options by keyword."""

import ast
import inspect
from operator import attrgetter
from pathlib import Path
from typing import get_args

import pytest

import bellcrank as bc
from bellcrank import choices
from bellcrank.analysis.jacobian import WRITERS
from bellcrank.analysis.random_inputs import ROUGHNESS
from bellcrank.core.units import UNIT_SYSTEMS
from bellcrank.export.embedded.write import PRECISIONS as EMBEDDED
from bellcrank.export.fmu.binaries import TARGETS
from bellcrank.export.fmu.write import VERSIONS
from bellcrank.export.formats import FORMATS
from bellcrank.linkage.chain import JOINT_DOF
from bellcrank.mechanics.kinematics.loop_joints import JOINTS
from bellcrank.mechanics.kinematics.results import ConstraintForm
from bellcrank.model.describe.attitude import SIDES
from bellcrank.model.shapes import SIZE_COUNTS
from bellcrank.simulation.many.simulate_many import PRECISIONS
from bellcrank.simulation.run.argument_checks import METHODS
from bellcrank.simulation.run.dae_methods import KNOWN
from bellcrank.symbolic.expr.function_table import CALLED
from bellcrank.vehicles import manoeuvres

TABLES = {
    "Constraints": [x.value for x in ConstraintForm],
    "DaeMethod": KNOWN,
    "DerivativeFormat": WRITERS,
    "ExportFormat": FORMATS,
    "FmiVersion": VERSIONS,
    "LinkageJointKind": JOINT_DOF,
    "LoopJointKind": (*JOINTS, "distance"),
    "ManoeuvreName": manoeuvres.known(),
    "Method": METHODS,
    "Platform": ("host", "all", "sources", *TARGETS),
    "Precision": PRECISIONS,
    "RoadClass": ROUGHNESS,
    "ShapeKind": SIZE_COUNTS,
    "Side": SIDES,
    "Units": ("SI", *UNIT_SYSTEMS),
}

MADE_HERE = {
    "VerticalAxis",
    "StartBelowGround",
    "SpectrumBy",
    "Crossing",
}  # compared with words in one place
"""Types that no table stands for: each is checked by the one call that takes it."""


@pytest.mark.parametrize("name", TABLES)
def test_choices_are_those_of_their_table(name):
    assert set(get_args(getattr(choices, name))) == set(TABLES[name])


def test_every_choice_has_a_table():
    made = "".join(
        path.read_text(encoding="utf-8") for path in Path(bc.__file__).parent.rglob("*.py")
    )
    rest = (
        {name for name in vars(choices) if get_args(getattr(choices, name))}
        - TABLES.keys()
        - MADE_HERE
    )
    assert rest and not [name for name in rest if f"choice_values({name})" not in made]
    assert PRECISIONS.keys() == EMBEDDED.keys()


def test_a_type_checker_sees_the_functions_of_formulas():
    tree = ast.parse(Path(bc.__file__ + "i").read_text(encoding="utf-8"))
    seen = {
        f.name: ", ".join(
            [a.arg for a in f.args.posonlyargs] + ["..."] * (f.args.vararg is not None)
        )
        for f in tree.body
        if isinstance(f, ast.FunctionDef)
    }
    assert seen == {name: f.arguments for name, f in CALLED.items()}
    assert "__getattr__" not in seen


# ---- what is listed


@pytest.fixture(scope="module")
def pendulum():
    s = bc.System("pendulum")
    s.add_body("rod", rotate=2, mass=1, inertia=(0.1, 0.1, 0.1), cm=(0, 0, 0.5))
    s.add_gravity(s.inertial[3])
    eom = s.equations()
    sim = eom.compile(backend="python")
    return s, eom, sim, sim.simulate(0.02, step=0.01, initial={"q(rod)": 1})


def test_internals_are_not_listed(pendulum):
    s, eom, sim, run = pendulum
    for given in (bc, s, eom, sim, run):
        assert not [x for x in dir(given) if x.startswith("_") and not x.startswith("__")]
    assert not {"derived", "loaded", "analysis_context", "internals"} & {*dir(sim)}
    assert not {"find_residuals", "_find_motion", "_find_checkpoint", "record", "internals"} & {
        *dir(run)
    }
    assert not {"description", "owner", "_caches_equations"} & {*dir(s)}
    assert not {"derived", "program", "analysis"} & {*dir(eom)}
    assert {"simulate", "linearize", "backend", "__class__"} <= {*dir(sim)}
    assert {"gym", "kane", "linkage", "System", "__version__"} <= {
        *dir(bc)
    } and "version" not in dir(bc)


@pytest.mark.parametrize(
    "name",
    [
        "gym",
        "kane",
        "linkage",
        "vehicles.manoeuvres",
        "vehicles.tyres",
        "vehicles",
        "vehicles.terrain",
        "examples",
        "metrics",
        "measured",
        "optimize",
        "random",
        "signals",
    ],
)
def test_packages_list_their_public_names_alone(name):
    module = attrgetter(name)(bc)
    assert dir(module) == sorted(module.__all__) and all(hasattr(module, x) for x in dir(module))


def test_channels_complete_in_a_notebook(pendulum):
    run = pendulum[-1]
    assert run._ipython_key_completions_() == ["t", "q(rod)", "u(rod)"]


# ---- options by keyword

FIRST = {  # arguments with a default that may stand without their name
    "add_attitude": ("name",),
    "add_body": ("parent",),
    "add_gravity": ("direction",),
    "add_parameter": ("value",),
    "add_point": ("body", "at"),
    "add_point_mass": ("parent",),
    "add_shape": ("name",),
    "add_wheel_angles": ("name",),
    "add_loop_joint": ("kind",),
    "assemble": ("initial",),
    "export": ("path",),
    "gradient": ("of",),
    "inverse": ("t",),
    "jacobian": ("of",),
    "linearize": ("at",),
    "modes": ("at",),
    "parameter_values": ("given",),
    "picture": ("path",),
    "sensitivity": ("outputs",),
    "set_defaults": ("values",),
    "set_labels": ("values",),
    "set_units": ("values",),
    "simulate": ("t_end",),
    "simulate_many": ("n",),
    "stepper": ("step",),
    "steppers": ("n",),
}


@pytest.mark.parametrize("kind", [bc.System, bc.Equations, bc.Simulation, bc.Run])
def test_options_are_given_by_name(kind):
    for name, method in inspect.getmembers(kind, inspect.isfunction):
        if not name.startswith("_"):
            optional = [
                p.name
                for p in inspect.signature(method).parameters.values()
                if p.default is not p.empty and p.kind is not p.KEYWORD_ONLY
            ]
            assert tuple(optional) == FIRST.get(name, ()), name
    with pytest.raises(TypeError, match="positional"):
        bc.System("car", "mks")
