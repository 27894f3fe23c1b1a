"""Any law of slip may hold a tyre on the road: what a law has to do, and where further ones are
found."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

import bellcrank as bc
from bellcrank.model.describe.patch import PatchForces, is_law
from bellcrank.vehicles.tyres.steady_tyre import SteadyTyre

M, G = 100.0, 9.80665


@dataclass(frozen=True)
class Oil:
    """A law without states: force against the slip velocity, in proportion to it and to the
    load."""

    c: float
    has_side_force: bool = True

    def problems(self):
        return [] if isinstance(self.c, str) or self.c > 0 else [f"c={self.c!r} must be positive"]

    def define_forces(self, patch):
        push = {i: f"-({self.c})*{patch.load_name}*{v}" for i, v in patch.slip_names.items()}
        return PatchForces(push["x"], push.get("y", "0"))

    def with_parameters(self, parameter):
        return Oil(parameter("oil", self.c, "T/L"), self.has_side_force)


def sled(law):
    s = bc.System("sled", axes="ISO 8855")
    body = s.add_point_mass("b", translate=(1, 2, 3) if law.has_side_force else (1, 3), mass=M)
    s.add_gravity()
    s.add_contact(
        "t",
        at=body,
        radius=0.3,
        terrain=bc.vehicles.terrain.flat(),
        tyre=bc.Tyre(2e5, 3000, law),
        wheel=body,
    )
    last = 3 if law.has_side_force else 2
    s.set_run(t_end=0.2, step=0.001, initial={f"q(b, {last})": 0.3 - M * G / 2e5, "u(b, 1)": 2.0})
    return s


@pytest.mark.parametrize("space", [True, False])
def test_a_law_of_ones_own_holds_a_wheel(space):
    c = 0.5
    run = (
        sled(Oil(c, space))
        .equations()
        .compile(backend="python")
        .simulate(initial={"u(b, 2)": 1.0} if space else {})
    )
    assert run["t_fx"] == pytest.approx(-c * M * G * run["u(b, 1)"], rel=1e-9)
    assert run["u(b, 1)"][-1] == pytest.approx(2 * 2.718281828459045 ** (-c * G * 0.2), rel=1e-6)
    assert ("t_fy" in run) == space


def test_numbers_of_any_law_become_parameters_of_a_vehicle():
    eom = bc.vehicles.motorcycle(slip=Oil(0.02, has_side_force=False)).equations()
    assert {"oil_1", "oil_2"} <= set(eom.parameters)


@pytest.mark.parametrize(
    ("slip", "words"),
    [
        (Oil(-1.0), "slip: c=-1.0 must be positive"),
        (bc.Slip, "must be a bc.Slip, another law of bc.vehicles.tyres"),
        (3, "must be"),
    ],
)
def test_what_is_no_law_is_told(slip, words):
    s = bc.System("s", axes="ISO 8855")
    body = s.add_point_mass("b", mass=1)
    with pytest.raises(bc.ModelError, match=words):
        s.add_contact(
            "t",
            at=body,
            radius=0.3,
            terrain=bc.vehicles.terrain.flat(),
            tyre=bc.Tyre(2e5, 0, slip),
            wheel=body,
        )


@pytest.mark.parametrize(
    ("tyre", "words"),
    [
        (bc.vehicles.tyres.Fiala(6e4, -4e4), "c_alpha=-40000.0 must be a positive number"),
        (
            bc.vehicles.tyres.Fiala(6e4, 4e4, vertical_damping=-1),
            "vertical_damping=-1 must be zero or positive",
        ),
        (
            bc.vehicles.tyres.Fiala(6e4, 4e4, relaxation=(0.1, 0.2, 0.3)),
            r"relaxation=\(0.1, 0.2, 0.3\) must be a length",
        ),
        (
            bc.vehicles.tyres.MotorcycleTyre(15, 1, relaxation="0.2 m"),
            "relaxation='0.2 m' must be a length",
        ),
        (
            bc.vehicles.tyres.MotorcycleTyre(15, 1, crown=0.4),
            "crown=0.4 must be smaller than radius=0.3",
        ),
        (bc.vehicles.tyres.TMeasy(pn=True), "pn=True must be a positive number"),
    ],
)
def test_wrong_values_of_tyres_are_named(tyre, words):
    with pytest.raises(bc.ModelError, match=words):
        tyre.forces(1000, 0, 0)


def test_a_tyre_has_no_other_values():
    with pytest.raises(bc.ModelError, match=r"a Fiala tyre has no 'umx'. Did you mean 'umax'"):
        bc.vehicles.tyres.Fiala(6e4, 4e4).scaled(umx=0.5)


def test_every_module_of_the_folder_adds_its_tyres():
    """A new tyre is a new file, and nothing else."""
    assert is_law(bc.vehicles.tyres.Slip(1e4)) and not is_law(bc.vehicles.tyres.Slip)
    for path in Path(bc.vehicles.tyres.__file__).parent.glob("[a-z]*.py"):
        module = import_module(f"bellcrank.vehicles.tyres.{path.stem}")
        for name in module.__all__:
            assert (
                getattr(bc.vehicles.tyres, name) is getattr(module, name)
                and name in bc.vehicles.tyres.__all__
            )
            if isinstance(getattr(module, name), type):
                law = all(
                    hasattr(getattr(module, name), part)
                    for part in ("has_side_force", "problems", "define_forces", "with_parameters")
                )
                assert law or issubclass(getattr(module, name), SteadyTyre)
