"""Rigid wheels and methods for constraints in written programs: channels and events are those of
`simulate`."""

import re

import numpy as np
import pytest

import bellcrank as bc
from tests.programs import COMPILED_MAINLY_C, build
from tests.ways.capabilities import oscillator, pendulum, rigid_wheel

PLACES = {"rear": "-a", "front": "a", "second": "-a/2", "third": "a/3"}


def tandem(low=0.0, wheels=2, **last):
    """Discs on a beam that fall onto a bump: they hit, roll and leave the ground at times of their
    own."""
    s = bc.System("tandem", axes="ISO 8855")
    ground = bc.vehicles.terrain.profile([-5, 0.3, 0.5, 0.8, 9], [0, 0, 0.05, 0, 0])
    beam = s.add_body("beam", translate=(1, 3), rotate=2, mass="m", inertia=(1, "j", 1))
    for name, x in list(PLACES.items())[:wheels]:
        hub = s.add_point(f"{name}_hub", body=beam, at=(x, 0, 0))
        disc = s.add_body(
            f"{name}_disc", beam, rotate=2, joint_at=(x, 0, 0), mass=0, inertia=(0.1, 0.05, 0.1)
        )
        given = last if name == "front" else {}
        s.add_contact(
            name, at=hub, radius=0.3, terrain=ground, restitution=(0.4, 0.2), wheel=disc, **given
        )
    s.add_gravity()
    s.set_defaults(m=20, j=3, a=0.4, g=9.81, v=2)
    s.add_event("lifted", "t - 0.6", action={"u(beam, 2)": "v"}, direction=1)
    s.set_run(
        t_end=1.2,
        step=0.01,
        initial={"q(beam, 2)": 0.5 - low, "u(beam, 1)": 1.0, "q(beam, 3)": 0.1},
    )
    return s


def assert_same(found, run, eom):
    for x in eom.interface.channels:
        size = max(1.0, float(np.abs(run[x.name]).max()))
        np.testing.assert_allclose(
            found[x.name], run[x.name], rtol=0, atol=1e-12 * size, err_msg=x.name
        )


@pytest.mark.campaign
@pytest.mark.parametrize("language", COMPILED_MAINLY_C)
def test_rigid_wheels_hit_roll_and_leave_the_ground_as_in_simulate(language, tmp_path):
    eom = tandem().equations()
    run = eom.compile(backend="c").simulate()
    built = build(eom, language, tmp_path)
    assert_same(built.run(tmp_path / "run"), run, eom)
    told = re.findall(r"^(\S.*) at t = (\S+) s", built(cwd=tmp_path), re.MULTILINE)
    told = [(what, float(t)) for what, t in told if not what.startswith("tandem")]
    expected = [(e.name, float(f"{e.time:.6g}")) for e in run.events]
    assert sorted(told) == sorted(expected)
    assert {"impact", "rolls", "lifted"} <= {what.split()[-1] for what, _ in told}


@pytest.mark.campaign
def test_a_wheel_that_starts_below_the_ground_is_moved_up_or_is_an_error(tmp_path):
    eom = tandem(low=0.25).equations()
    with pytest.warns(bc.ModelWarning, match="below ground and is moved up"):
        run = eom.compile(backend="c").simulate()
    built = build(eom, "c", tmp_path / "up")
    assert_same(built.run(tmp_path / "run"), run, eom)
    assert "below ground and is moved up" in built()
    strict = build(tandem(low=0.25, below="error").equations(), "c", tmp_path / "strict")
    assert re.search(r"front starts 0\.\d+ below ground", strict(code=1))


@pytest.mark.campaign
@pytest.mark.parametrize("language", COMPILED_MAINLY_C)
def test_methods_for_constraints_are_those_of_simulate(language, tmp_path):
    s = pendulum()
    s.add_event("kick", "t - 0.305", action={"u(bob, 1)": "u(bob, 1) + 1"}, direction=1)
    eom = s.equations()
    sim = eom.compile(backend="c")
    chosen = [
        "dlmm",
        bc.Dae("baumgarte", alpha=20, beta=20),
        bc.Dae("stabilised", gamma=5),
        "minimal",
    ]
    for i, dae in enumerate(chosen if language == "c" else chosen[1:2]):
        built = build(eom, language, tmp_path / str(i), dae=dae)
        assert_same(built.run(tmp_path / f"run{i}"), sim.simulate(dae=dae), eom)


def test_the_parameter_file_names_the_methods_that_the_model_can_take(tmp_path):
    rigid_wheel().equations().export("c", tmp_path / "wheel")
    assert "rk2, rk4, heun or rk3\n" in (tmp_path / "wheel" / "disc.par").read_text()
    pendulum().equations().export("c", tmp_path / "loop", dae="half-explicit")
    assert "rk2, rk4 or heun\n" in (tmp_path / "loop" / "pendulum.par").read_text()


def test_what_cannot_be_written_is_an_error(tmp_path):
    for eom, how, why in (
        (oscillator(), {"format": "c", "dae": "dlmm"}, "keeps its constraints by itself"),
        (rigid_wheel(), {"format": "python"}, "write one in C or Fortran"),
        (pendulum(), {"format": "embedded", "dae": "dlmm"}, "belongs to 'c', 'fortran', 'fmu'"),
    ):
        with pytest.raises(bc.ModelError, match=why):
            eom.equations().export(path=tmp_path / "none", **how)
    assert not (tmp_path / "none").exists()
