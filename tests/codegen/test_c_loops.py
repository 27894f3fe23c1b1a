"""Closed loops in C: runs stay on the constraints, agree with Python, and end with the same
words."""

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.codegen.c.source import c_source, c_sources
from bellcrank.core.numeric.loop_constraints import fixed_pivot_ratio
from bellcrank.core.numeric.run_spec import FINISHED, NOT_CLOSED, RunSpec
from bellcrank.program.statements import Section
from bellcrank.simulation.backend.c import CModel
from bellcrank.simulation.backend.c_runs import CRun
from tests.models import STRICT, example, needs_compiler, random_state, rarely, relative, system

pytestmark = needs_compiler
METHODS = ("rk2", "rk4", "euler", "ab2")


def both(eom):
    return [eom.compile(backend=backend) for backend in ("c", "python")]


def largest_difference(first, second):
    assert first.ended == second.ended == "finished"
    assert len(first) == len(second)
    return max(np.abs(first[name] - second[name]).max() for name in first.channels)


def coupled():
    """Two cranks joined by a rod, and a wheel whose speed is an input."""
    s = bc.System("coupled", units="mks")
    a = s.add_body("a", rotate=3, cm=(1, 0, 0), mass=1, inertia=(1, 1, 1))
    b = s.add_body("b", rotate=3, joint_at=(3, 0, 0), cm=(1, 0, 0), mass=1, inertia=(1, 1, 1))
    s.add_body("wheel", rotate=3, mass=1, inertia=(1, 1, 1))
    s.add_input("drive", units="1/T")
    s.add_loop_joint("coupler", "distance", between=(a.cm, b.cm), length=2.5)
    s.add_constraint("u(wheel) - drive*cos(q(wheel))")
    s.add_gravity(direction=-s.inertial[2])
    s.set_run(
        t_end=1.0, step=0.002, initial={"q(a)": 1.0}, inputs={"drive": bc.signals.sine(2.0, 1.5)}
    )
    return s


def with_rows_twice(program):
    """The program with every row of its loops once more."""
    old, n_q, n_u = program.loops, len(program.coordinates), len(program.speeds)
    n_g, n_v = len(old.g), len(old.v)

    def doubled(section, sizes):
        results, at = [], 0
        for size, times in sizes:
            results += [*section.results[at : at + size]] * times
            at += size
        return Section(section.statements, tuple(results))

    loops = replace(
        old,
        names=old.names * 2,
        positions=old.positions * 2,
        g=old.g * 2,
        G=old.G * 2,
        v=old.v * 2,
        J=old.J * 2,
        gamma=old.gamma * 2,
    )
    single = n_q + n_u * (n_u + 1) // 2 + n_u
    closure = doubled(program.closure, [(n_g, 2), (n_g * n_q, 2), (n_v, 2), (n_v * n_u, 2)])
    system = doubled(program.system, [(single, 1), (n_v * n_u, 2), (n_v, 2), (n_g, 2), (n_v, 2)])
    return replace(program, loops=loops, closure=closure, system=system)


# ---- text


def test_only_models_with_loops_have_the_functions():
    words = ("closure(", "system_at(", "project(", "least_norm", "N_G", "projected_step")
    looped, free = c_source(example("four_bar").program), c_source(example("quarter_car").program)
    assert all(w in looped for w in words)
    assert not any(w in free for w in words)
    assert "@" not in looped + free
    assert "out[2] = " in looped and "pin of B and C, direction 1: derivative by q(a) */" in looped


def test_inputs_are_set_only_for_loops_that_use_them():
    assert "#define CLOSURE_INPUTS 1\n" in c_source(coupled().equations().program)
    assert "#define CLOSURE_INPUTS 0\n" in c_source(example("four_bar").program)


@pytest.mark.parametrize("longest", rarely([3, 500], [3]))
def test_constraints_as_in_python(longest, monkeypatch):
    """Compiled without warnings, in one function and in many."""
    monkeypatch.setattr(
        "bellcrank.codegen.c.source.c_sources",
        lambda program, **options: c_sources(program, longest=longest, **options),
    )
    for eom in (example("four_bar"), coupled().equations()):
        sim = eom.compile(backend="python")
        compiled = CModel(eom.program, sim.loaded.functions, flags=STRICT)
        assert ("closure_1(" in compiled.source) == (longest == 3)
        model, python = compiled.new_calls(), sim.loaded.new_context().model
        q, u = (x.tolist() for x in random_state(eom))
        p, w = sim.parameter_values(), [0.7] * len(eom.program.inputs)
        c = model.constants(p)
        at = 0.3, q, u, p, c, w
        assert relative(model.values("closure", *at), python.values("closure", *at)) <= 1e-14


# ---- runs


@pytest.mark.parametrize("method", METHODS)
def test_runs_agree_with_python(method):
    compiled, plain = (
        s.simulate(t_end=2.0, step=0.002, method=method) for s in both(example("four_bar"))
    )
    assert largest_difference(compiled, plain) <= 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_loops_with_inputs_agree_with_python(method):
    compiled, plain = (s.simulate(method=method) for s in both(coupled().equations()))
    assert largest_difference(compiled, plain) <= 1e-9
    assert np.ptp(compiled["q(wheel)"]) > 0.1


@pytest.mark.parametrize("method", METHODS)
def test_loop_stays_closed(method):
    sim = example("four_bar").compile(backend="c")
    run = sim.simulate(t_end=10.0, step=0.001, method=method, output_every=10)
    assert run.ended == "finished"
    p = sim.parameter_values()
    c = sim.loaded.new_context().model.constants(p)
    q, u = (
        np.column_stack([run[s.name] for s in listed])
        for listed in (sim.loaded.program.coordinates, sim.loaded.program.speeds)
    )
    rows = np.array(
        [
            sim.loaded.new_context().model.values("closure", 0.0, a.tolist(), b.tolist(), p, c, [])
            for a, b in zip(q, u, strict=True)
        ]
    )
    assert len(rows) == 1001
    assert np.abs(rows[:, :2]).max() < 1e-10
    assert np.abs(rows[:, 8:10]).max() < 1e-10


def test_it_runs_in_c(monkeypatch):
    taken = []
    advance = CRun.advance
    monkeypatch.setattr(
        CRun, "advance", lambda self, last: taken.append(last) or advance(self, last)
    )
    example("four_bar").compile(backend="c").simulate(t_end=0.1)
    assert taken[-1] == 20


def test_model_with_two_repeated_rows():
    s = system("four_bar")
    s.add_loop_joint("again", between=("bp", "cp"), directions=("2*[b1]", "3*[c2]"))
    compiled, plain = (x.simulate(t_end=1.0) for x in both(s.equations()))
    assert largest_difference(compiled, plain) <= 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_program_with_two_repeated_rows(method):
    """Repeated rows of a model are found before; these are left for the run to find."""
    eom = example("four_bar")
    sim = eom.compile(backend="python")
    p = sim.parameter_values()
    y = np.asarray(sim.assemble())
    rows = []
    for program in (eom.program, with_rows_twice(eom.program)):
        compiled = CModel(program, sim.loaded.functions, flags=STRICT)
        model = compiled.new_calls()
        run = model.new_run(RunSpec(1.0, 0.002, method, state=y, p=p, c=model.constants(p)))
        rows.append(run.advance(500))
        assert run.status == FINISHED
    assert "N_G = 4, N_V = 4" in compiled.source
    assert np.abs(rows[0][:, :7] - rows[1][:, :7]).max() <= 1e-9


def driven_to_its_fold():
    """A crank that is longer than its rod, turned until the rod stands across: nothing lies
    past."""
    s = bc.System("fold", units="mks")
    n = s.inertial
    crank = s.add_body("crank", rotate=3, cm=(0.5, 0, 0), mass=1, inertia=(1, 1, 1))
    rod = s.add_body(
        "rod", parent=crank, rotate=3, joint_at=(1, 0, 0), cm=(0.4, 0, 0), mass=1, inertia=(1, 1, 1)
    )
    piston = s.add_body("piston", translate=1, mass=1, inertia=0)
    s.add_body("wheel", rotate=3, mass=1, inertia=(1, 1, 1))
    s.add_loop_joint(
        "pin",
        between=(s.add_point("end", body=rod, at=(0.8, 0, 0)), piston.origin),
        directions=(n[1], n[2]),
    )
    s.add_constraint("q(crank) - rate*t")
    s.set_defaults(rate=1.0)
    s.set_run(t_end=2.0, step=0.002, initial={"q(piston)": 1.8})
    return s.equations()


@pytest.mark.parametrize("method", rarely(METHODS, ("ab2", "euler", "heun", "rk2")))
def test_a_drive_over_a_fold_stops(method):
    """The crank may turn until 0.8 = sin q."""
    compiled, plain = (s.simulate(method=method) for s in both(driven_to_its_fold()))
    assert "the loop 'pin, direction 2' cannot be kept closed: a correction of " in compiled.ended
    assert (
        "is not available in plain Python" in plain.ended
        and compiled.time[len(plain) - 1] == plain.time[-1]
    )
    assert compiled.time[-1] == pytest.approx(np.arcsin(0.8), abs=0.003)


def test_last_good_state_is_kept():
    sim = driven_to_its_fold().compile(backend="c")
    p = sim.parameter_values()
    y = np.asarray(sim.assemble())
    model = sim.loaded.new_context().model
    run = model.new_run(RunSpec(2.0, 0.002, "rk4", state=y, p=p, c=model.constants(p)))
    rows = run.advance(1000)
    assert (run.status, run.steps_done) == (NOT_CLOSED, len(rows))
    assert run.state.tolist() == rows[-1, 1 : 1 + len(y)].tolist()
    assert np.isfinite(run.nonfinite_state).all() and (run.nonfinite_state != run.state).any()


def test_state_that_is_not_finite():
    sim = example("four_bar").compile(backend="c")
    run = sim.simulate(t_end=2.0, step=0.1, method="rk4", parameters={"d": -1e200})
    assert "no longer" in run.ended and "finite" in run.ended


def test_constraint_that_has_no_value_stops_the_run():
    """The residual itself is no number while the state still is one."""
    s = bc.System("slot", units="mks")
    s.add_body("a", translate=(1, 2), mass=1, inertia=0)
    s.add_constraint("q(a, 2) - sqrt(l*(l - q(a, 1)))")
    s.set_defaults(l=1.0)
    s.set_run(t_end=2.0, step=0.01, initial={"q(a, 1)": 0.0, "u(a, 1)": 1.0})
    compiled, plain = (x.simulate() for x in both(s.equations()))
    assert compiled.ended.startswith("stopped at t = ")
    assert compiled.time[-1] == plain.time[-1] < 2.0


@pytest.mark.parametrize(
    "name",
    rarely(
        ["four_bar", "slider_crank", "andrews_squeezer", "sarrus_linkage"],
        ("slider_crank", "andrews_squeezer"),
    ),
)
def test_singular_rates_and_corrections_as_in_python(name):
    """Accelerations without a fixed choice of independent speeds: C, Python, and the derivatives in
    regular positions."""
    sim = example(name).compile(backend="python")
    model = CModel(sim.loaded.program, sim.loaded.functions, flags=STRICT).new_calls()
    python = sim.loaded.new_context().model
    p = sim.parameter_values()
    c = model.constants(p)
    q, u = (x.tolist() for x in sim.assemble())
    at = 0.0, q, [x + 0.1 for x in u], p, c, []
    system = python.values("system", *at)
    assert relative(model.values("system", *at), system) <= 1e-12
    qdot, udot = python.derivatives(*at)
    loops = sim.loaded.program.loops
    singular, ratio = loops.system_sizes(len(q)).unpack(system).rates(loops.scales)
    assert relative(singular, [*qdot, *udot]) <= 1e-9
    assert ratio > 0.1
    # pivots of the correction of regular positions are measured as those of the rates
    pivots = np.array(python.values("correct_u", *at))[len(loops.correction.u) :]
    smallest = np.abs(pivots * loops.correction.pivot_scales).min()
    assert smallest == pytest.approx(
        fixed_pivot_ratio(loops.system_sizes(len(q)).unpack(system).J, loops.scales), rel=1e-9
    )
