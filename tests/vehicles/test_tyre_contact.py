"""Tyre models inside a model: the tables through a compiled wheel, the wrench at the hub,
standstill and transients."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bellcrank as bc
from bellcrank.mechanics.derive.content_digest import equation_digest
from tests.models import needs_compiler
from tests.programs import LANGUAGES, build
from tests.vehicles.tyre_tables import BOOK, DATA, PAC, book62, columns, inputs, off, table_tmeasy

HEAVY = 1e18  # kg: what is so heavy moves as it began


def rig(tyre, mass=HEAVY, **options):
    """A wheel that is moved as one likes: carried along, steered, cambered, turned."""
    s = bc.System("rig", axes="ISO 8855", units=options.pop("units", "mks"))
    hub = s.add_point_mass("hub", translate=(1, 2, 3), mass=mass)
    inertia = (mass, mass, mass)
    steer = s.add_body("steer", hub, rotate=3, mass=0, inertia=inertia)
    camber = s.add_body("camber", steer, rotate=1, mass=0, inertia=inertia)
    wheel = s.add_body("wheel", camber, rotate=2, mass=0, inertia=inertia)
    s.add_contact(
        "t", at=wheel, terrain=bc.vehicles.terrain.flat(), tyre=tyre, wheel=wheel, **options
    )
    return s


def state(tyre, at):
    """Where a wheel must be and how it must move to roll as a row of a table says."""
    forces = tyre.forces(**at)
    V, gamma = at.get("V", tyre.usual[1]), at.get("gamma", 0.0)
    return {
        "q(hub, 3)": forces.Rl * np.cos(gamma),
        "q(camber)": gamma,
        "u(hub, 1)": V,
        "u(hub, 2)": V * np.tan(at["alpha"]),
        "u(wheel)": (1 + at["kappa"]) * V / forces.Re,
    }


def through(sim, tyre, found, rows):
    """Rows of a table as channels of runs that have come to rest."""
    given = {k: np.broadcast_to(v, found["Fz"].shape)[rows] for k, v in inputs(found).items()}
    out = {}
    for i in range(len(given["Fz"])):
        at = {k: float(v[i]) for k, v in given.items()}
        pressure = {"t_pressure": at["p"]} if "p" in at else {}
        end = 0.01 if tyre.transient == "none" else max(4.0, 40 / at.get("V", 10.0))
        options = dict(t_end=end, step=0.002, output_every=round(end / 0.002), parameters=pressure)
        run = sim.simulate(initial=state(tyre, at), **options)
        for channel in ("fx", "fy", "fz", "mx", "my", "mz", "kappa", "alpha", "gamma"):
            out.setdefault(channel, []).append(run[f"t.{channel}"][-1])
    return {k: np.array(v) for k, v in out.items()}


@pytest.fixture(scope="module")
def book():
    """The tyre of the book, and the rig with it."""
    tyre = bc.vehicles.tyres.MagicFormula.read(BOOK)
    return tyre, rig(tyre).equations().compile()


@pytest.mark.campaign
def test_a_wheel_in_c_gives_some_of_the_published_table(book):
    tyre, sim = book
    check_table(tyre, sim, "mf61", slice(0, None, 5))


@pytest.mark.campaign
@pytest.mark.parametrize(("file", "table"), [(BOOK, "mf61"), (PAC, "mf52")])
def test_a_wheel_in_c_gives_the_published_table(file, table):
    tyre = bc.vehicles.tyres.MagicFormula.read(file)
    check_table(tyre, rig(tyre).equations().compile(), table, slice(None))


def check_table(tyre, sim, table, rows):
    found = columns(table)
    out = through(sim, tyre, found, rows)
    for channel, name in {"fx": "Fx", "fy": "Fy", "mx": "Mx", "my": "My", "mz": "Mz"}.items():
        if name in found:
            assert off(out[channel], found[name][rows]) < 1e-10, name
    for name in ("kappa", "alpha", "gamma"):
        assert np.max(np.abs(out[name] - found[name][rows])) < 1e-10


@pytest.mark.campaign
def test_a_wheel_in_c_gives_the_tables_of_the_star_form_and_of_the_ranges():
    star = bc.vehicles.tyres.MagicFormula.read(BOOK, form="star")
    check_table(star, rig(star).equations().compile(), "mf61_star", slice(None))
    found = columns("mf61_limits")
    for transient, slowest in (
        ("linear", 2.0),
        ("none", 0.0),
    ):  # slower the law of standstill begins
        tyre, rows = (
            bc.vehicles.tyres.MagicFormula.read(BOOK, transient=transient),
            found["Vx"] >= slowest,
        )
        out = through(rig(tyre).equations().compile(), tyre, found, rows)
        for name in ("Fx", "Fy", "Mx", "My", "Mz"):
            assert off(out[name.lower()], found[name][rows]) < 1e-10, name


@pytest.mark.campaign
def test_a_wheel_in_c_has_the_load_of_62_at_its_radius():
    """Without what Fx and Fy take from the load, which models omit."""
    tyre, found = book62().scaled(Q_FCX=0.0, Q_FCY=0.0), columns("mf62_radius")
    out = through(rig(tyre).equations().compile(), tyre, found, slice(None))
    for name in ("Fx", "Fy", "Fz"):
        assert off(out[name.lower()], found[name]) < 1e-10, name


@pytest.mark.campaign
def test_a_wheel_in_c_gives_the_tables_of_fiala_tmeasy_and_brush():
    found, data = columns("fiala"), DATA["fiala"]
    fiala = bc.vehicles.tyres.Fiala(
        data["c_slip"], data["c_alpha"], data["umax"], data["umin"], data["width"]
    )
    out = through(rig(fiala).equations().compile(), fiala, found, slice(None))
    for name in ("Fx", "Fy", "Mz"):
        assert off(out[name.lower()], found[name]) < 1e-10
    found, tmeasy = columns("tmeasy"), table_tmeasy()
    s, f, sim = found["s"], found["f"], rig(tmeasy).equations().compile()
    at = {"Fz": np.full(6, tmeasy.pn), "kappa": (s / (1 - s))[:6], "alpha": np.zeros(6)}
    assert off(through(sim, tmeasy, at, slice(None))["fx"], f[:6]) < 1e-10
    at = {"Fz": np.full(3, tmeasy.pn), "kappa": np.zeros(3), "alpha": -np.arctan(s[6:])}
    assert off(through(sim, tmeasy, at, slice(None))["fy"], f[6:]) < 1e-10
    found, data = columns("brush"), DATA["brush"]
    law = bc.vehicles.tyres.Brush(data["c_alpha"], data["c_alpha"], friction=data["mu"])
    sim = rig(bc.Tyre(2e5, 0, law), radius=0.3).equations().compile()
    for alpha, Fy in zip(found["alpha"], found["Fy"], strict=True):
        start = {
            "q(hub, 3)": 0.3 - data["Fz"] / 2e5,
            "u(hub, 1)": 20.0,
            "u(hub, 2)": -20 * np.tan(alpha),
        }
        start["u(wheel)"] = 20.0 / start["q(hub, 3)"]
        run = sim.simulate(t_end=2, step=0.002, initial=start)
        assert run["t_fy"][-1] == pytest.approx(Fy, rel=1e-10)


@pytest.mark.campaign
def test_the_wrench_at_the_hub_is_that_of_the_contact_centre_by_hand():
    """The geometry is done anew, from rotation matrices and the intersection of wheel plane and
    road."""
    tyre = book62()
    s = rig(tyre)
    s.add_outputs("forces", "moments")
    sim = s.equations().compile(backend="python")
    delta, gamma, height = 0.3, 0.09, 0.289
    start = {"q(hub, 3)": height, "q(steer)": delta, "q(camber)": gamma}
    start |= {
        "u(hub, 1)": 12.0,
        "u(hub, 2)": 4.4,
        "u(hub, 3)": -0.2,
        "u(wheel)": 41.0,
        "u(camber)": 0.3,
        "u(steer)": 0.1,
    }
    run = sim.simulate(t_end=0.01, step=0.001, initial={**start, "t_ex": 0.004, "t_ey": -0.006})
    now = {name: run[name][-1] for name in run.units}
    h, lean, turn = now["q(hub, 3)"], now["q(camber)"], now["q(steer)"]
    R = np.array(
        [[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]]
    ) @ np.array([[1, 0, 0], [0, np.cos(lean), -np.sin(lean)], [0, np.sin(lean), np.cos(lean)]])
    axis, n = R[:, 1], np.array([0.0, 0.0, 1.0])
    x = np.cross(axis, n) / np.linalg.norm(np.cross(axis, n))
    y = np.cross(n, x)
    down = R @ np.array([0.0, 0.0, -1.0])  # in the wheel plane
    centre = down * h / -down[2]  # where the wheel plane meets the road, from the hub
    force = now["t.fx"] * x + now["t.fy"] * y + now["t.fz"] * n
    moment = now["t.mx"] * x + now["t.my"] * y + now["t.mz"] * n + np.cross(centre, force)
    assert abs(now["t.fy"]) > 500 and abs(now["t.mx"]) > 10 and centre @ n == pytest.approx(-h)
    found = np.array([now[f"t.{i}"] for i in "xyz"]), np.array([now[f"t.turn{i}"] for i in "xyz"])
    assert found[0] == pytest.approx(force, rel=1e-10)
    assert found[1] == pytest.approx(moment, rel=1e-10)
    assert now["t.gamma"] == pytest.approx(lean, rel=1e-12)


def test_a_step_in_angle_takes_the_relaxation_length(book):
    tyre, sim = book[0].scaled(LHY=0.0, LVY=0.0), book[1]
    small, none = 1e-3, {"t_LHY": 0.0, "t_LVY": 0.0}
    for speed in (5.0, 20.0, 40.0):
        start = state(tyre, {"Fz": 4000.0, "kappa": 0.0, "alpha": 0.0, "V": speed})
        run = sim.simulate(
            t_end=2.5 / speed,
            step=2e-4,
            initial={**start, "u(hub, 2)": speed * small},
            parameters=none,
        )
        side = run["t.fy"] - run["t.fy"][0]
        end = tyre.forces(4000, 0, small, V=speed).Fy - run["t.fy"][0]
        way = np.interp(1 - np.exp(-1), side / end, run.time * speed)
        assert way == pytest.approx(tyre.forces(4000, 0, 0, V=speed).sigma_y, rel=0.01)


@pytest.mark.campaign
def test_nonlinear_transients_are_those_of_the_slope_of_the_force():
    """sigma dalpha/dt = V_sy - |V_x| tan(alpha), sigma = |dFy/dalpha|/C (at least a tenth):
    integrated apart."""
    tyre = bc.vehicles.tyres.MagicFormula.read(BOOK, transient="nonlinear").scaled(
        LHX=0.0, LVX=0.0, LHY=0.0, LVY=0.0
    )
    sim, V, fixed = rig(tyre).equations().compile(), 20.0, 4000.0
    sigma = {"alpha": tyre.forces(fixed, 0, 0).sigma_y, "kappa": tyre.forces(fixed, 0, 0).sigma_x}
    for name, channel, wanted in (
        ("alpha", "t.fy", 0.1),
        ("kappa", "t.fx", 0.08),
        ("alpha", "t.fy", 0.001),
    ):

        def force(x, name=name, channel=channel):
            return getattr(
                tyre.forces(fixed, **{"kappa": 0.0, "alpha": 0.0, name: x}, V=V), f"F{channel[-1]}"
            )

        def rate(_, s, name=name, wanted=wanted, force=force):
            x, h = np.arctan(s[0]) if name == "alpha" else s[0], 1e-5
            bend = (force(x + h) - force(x - h)) / (force(h) - force(-h))
            end = np.tan(wanted) if name == "alpha" else wanted
            return [V * (end - s[0]) / sigma[name] / max(0.1, min(1.0, bend), 0.05 / sigma[name])]

        start = state(tyre, {"Fz": fixed, **{"kappa": 0.0, "alpha": 0.0, name: wanted}, "V": V})
        run = sim.simulate(t_end=0.1, step=2e-4, method="rk4", initial=start)
        alone = solve_ivp(rate, (0, 0.1), [0.0], t_eval=run.time, rtol=1e-8, atol=1e-10).y[0]
        seen = np.arctan(alone) if name == "alpha" else alone
        assert np.abs(run[f"t.{name}"] - seen).max() < 2e-3 * wanted


@pytest.mark.campaign
def test_rates_have_slopes_at_standstill(book):
    """Equilibria and stiff methods ask for them where nothing is deflected and nothing moves."""
    tyre, sim = book
    at = {"q(hub, 3)": tyre.forces(3000, 0, 0).Rl}
    assert np.all(np.isfinite(sim.linearize(at=at).A))


@pytest.mark.campaign
@pytest.mark.parametrize("name", ["book", "Fiala"])
def test_linear_models_have_the_cornering_stiffness_where_no_wheel_slips(name):
    """Exactly there, where the sign of a slip has no derivative: d Fy/d e = C/sigma and d Fx/d e
    likewise."""
    tyre = {
        "book": lambda: bc.vehicles.tyres.MagicFormula.read(BOOK).scaled(
            LHX=0.0, LVX=0.0, LHY=0.0, LVY=0.0
        ),
        "Fiala": lambda: bc.vehicles.tyres.Fiala(c_slip=1e5, c_alpha=8e4),
    }[name]()
    sim, at = (
        rig(tyre).equations().compile(),
        state(tyre, {"Fz": 3000.0, "kappa": 0.0, "alpha": 0.0, "V": 20.0}),
    )
    model, found = (
        sim.linearize(at=at, outputs=["t.fx", "t.fy"]),
        tyre.forces(3000.0, 0.0, 0.0, V=20.0),
    )
    C = model.in_equation_units().C
    for i, (way, K, sigma) in enumerate(
        (("x", found.Kxk, found.sigma_x), ("y", found.Kya, found.sigma_y))
    ):
        assert abs(C[i, model.state_names.index(f"t_e{way}")]) == pytest.approx(
            abs(K) / sigma, rel=1e-3
        )


def block(tyre, slope):
    """A locked wheel on a slope."""
    s = bc.System("locked wheel", axes="ISO 8855")
    body = s.add_point_mass("b", translate=(1, 2, 3), mass=400)
    s.add_gravity()
    s.add_contact("t", at=body, terrain=bc.vehicles.terrain.ramp(slope), tyre=tyre, wheel=body)
    s.add_outputs("energy")
    return s.equations().compile()


def moving(tyre, slope, along, across):
    """On its springs, moving along the slope and across."""
    height = tyre.forces(400 * 9.80665 / np.hypot(1, slope), 0, 0).Rl * np.hypot(1, slope)
    return {"q(b, 3)": height, "u(b, 1)": along, "u(b, 2)": across, "u(b, 3)": slope * along}


def gained(run):
    """The largest rise of all energy between two rows, over what was there to lose."""
    energy = run["energy"] + run["t_stored"]
    return np.diff(energy).max() / (energy[0] - energy[-1])


def test_energy_never_rises_from_sliding_to_rest():
    sim, fiala = (
        block(bc.vehicles.tyres.Fiala(1e5, 8e4, vertical_damping=3000), 0.2),
        bc.vehicles.tyres.Fiala(1e5, 8e4),
    )
    for step in (1e-3, 5e-4):
        run = sim.simulate(t_end=1.5, step=step, method="rk4", initial=moving(fiala, 0.2, 3, 1))
        assert np.hypot(run["u(b, 1)"], run["u(b, 2)"])[-1] < 0.02 and gained(run) < 1e-14


NO_SHIFTS = dict.fromkeys(
    ("LHX", "LVX", "LHY", "LVY"), 0.0
)  # their forces act without slip, and so may do work
HELD = {
    "book": bc.vehicles.tyres.MagicFormula.read(BOOK).scaled(VERTICAL_DAMPING=3000, **NO_SHIFTS),
    "pac": bc.vehicles.tyres.MagicFormula.read(PAC).scaled(VERTICAL_DAMPING=3000, **NO_SHIFTS),
    "fiala": bc.vehicles.tyres.Fiala(1e5, 8e4, vertical_damping=3000),
    "tmeasy": replace(bc.vehicles.tyres.TMeasy.of_size("205/60R15 91V"), vertical_damping=3000),
}


@pytest.mark.campaign
@pytest.mark.parametrize("name", HELD)
def test_a_locked_wheel_slides_stops_and_holds_on_a_slope_and_never_gains_energy(name):
    tyre, sim = HELD[name], block(HELD[name], 0.2)
    for start in ((3, 1), (0.5, 0.2), (10, -4), (0, 2), (-3, 1), (-0.8, 0)):
        initial = moving(tyre, 0.2, *start)
        for step, method, most in (
            (1e-3, "rk4", 1e-12),
            (5e-4, "rk4", 1e-12),
            (1e-3, "auto", 1e-9),
        ):
            assert gained(sim.simulate(t_end=3, initial=initial, step=step, method=method)) < most
    run = sim.simulate(t_end=150, step=0.002, output_every=50, initial=moving(tyre, 0.2, 3, 1))
    late = run.time > 90
    for channel in ("q(b, 1)", "q(b, 2)", "q(b, 3)"):
        assert np.ptp(run[channel][late]) < 1e-6
    assert run["t.fx"][-1] == pytest.approx(400 * 9.80665 * 0.2 / np.hypot(1, 0.2), rel=1e-6)
    assert run["energy"][late].max() - run["energy"][late].min() < 1e-6
    held = sim.equilibrium(at=moving(tyre, 0.2, 0, 0))
    assert held.motion.startswith("at rest") and held["t_ex"] == pytest.approx(
        run["t_ex"][-1], rel=1e-6
    )


def test_a_sliding_patch_has_the_force_of_its_slip(book):
    tyre, sim = book
    start = state(tyre, {"Fz": 4000.0, "kappa": 0.0, "alpha": 0.0})
    run = sim.simulate(
        t_end=2, step=1e-3, initial={**start, "u(wheel)": 0.0}
    )  # locked at full speed
    assert run["t.kappa"][-1] == pytest.approx(-1, rel=1e-9) and run.notes == []
    spinning = {**start, "u(hub, 1)": 0.0, "u(wheel)": 60.0}  # at standstill
    run = sim.simulate(t_end=1, step=1e-3, initial=spinning)
    (note,) = run.notes
    assert (
        note.startswith("t.kappa: longitudinal slip ")
        and "lies outside -1 to 1 (" in note
        and "end was used" in note
    )
    assert run["t.kappa"][-1] > 5 and run["t.fx"][-1] == pytest.approx(
        tyre.forces(4000, 1.0, 0).Fx, rel=0.05
    )


@pytest.mark.campaign
def test_lift_off_and_landing_are_ordinary():
    s = bc.System("hop", axes="ISO 8855")
    hub = s.add_point_mass("hub", translate=(1, 2, 3), mass=300)
    wheel = s.add_body("wheel", hub, rotate=2, mass=0, inertia=(0.5, 1, 0.5))
    s.add_gravity()
    s.add_contact(
        "t",
        at=wheel,
        terrain=bc.vehicles.terrain.flat(),
        tyre=bc.vehicles.tyres.MagicFormula.read(BOOK),
        wheel=wheel,
    )
    start = {"q(hub, 3)": 0.6, "u(hub, 1)": 15, "u(hub, 2)": 2, "u(wheel)": 20}
    run = s.equations().compile().simulate(t_end=3, step=5e-4, initial=start)
    assert run.ended == "finished" and np.sum(np.diff(np.sign(run["t.fz"])) != 0) > 4
    away = run["t.fz"] == 0
    for channel in ("t.fx", "t.fy", "t.mx", "t.my", "t.mz"):
        assert np.all(run[channel][away] == 0) and np.all(np.isfinite(run[channel]))


@pytest.mark.campaign
def test_units_and_axes_of_a_model_do_not_matter():
    tyre = bc.vehicles.tyres.MagicFormula.read(BOOK)
    at = {"Fz": 3000.0, "kappa": 0.02, "alpha": 0.03, "gamma": 0.02}
    start = state(tyre, at)
    inch = {
        k: v / 0.0254 if "hub" in k else np.degrees(v) if k[2:] in ("camber)", "wheel)") else v
        for k, v in start.items()
    }
    sim = rig(tyre, units="in-lb").equations().compile(backend="python")
    run = sim.simulate(t_end=0.6, step=0.002, initial=inch)
    forces = tyre.forces(**at)
    assert run["t.fy"][-1] * 4.4482216152605 == pytest.approx(forces.Fy, rel=1e-6)
    assert run["t.mz"][-1] * 4.4482216152605 * 0.0254 == pytest.approx(forces.Mz, rel=1e-5)


@pytest.mark.campaign
@pytest.mark.parametrize("language", LANGUAGES)
def test_written_programs_hold_the_tyre(language, tmp_path):
    s = rig(bc.vehicles.tyres.MagicFormula.read(BOOK))
    s.set_run(
        t_end=0.4,
        step=0.002,
        initial=state(
            bc.vehicles.tyres.MagicFormula.read(BOOK), {"Fz": 3000.0, "kappa": 0.1, "alpha": 0.08}
        ),
    )
    eom = s.equations()
    run = eom.compile().simulate()
    built = build(eom, language, tmp_path / "program")
    again = built.run(tmp_path / "run")
    for channel in ("t.fx", "t.fy", "t.mz"):
        assert again[channel][-1] == pytest.approx(run[channel][-1], rel=1e-6)


def test_scale_factors_are_parameters(book):
    tyre, sim = book
    start = state(tyre, {"Fz": 4000.0, "kappa": 0.0, "alpha": 0.2})
    run = sim.simulate(t_end=0.8, step=0.004, initial=start, parameters={"t_LMUY": 0.5})
    assert run["t.fy"][-1] == pytest.approx(tyre.scaled(LMUY=0.5).forces(4000, 0, 0.2).Fy, rel=1e-6)


@needs_compiler
def test_another_tyre_of_the_same_form_is_the_same_program(book):
    """Coefficients are data of the program; which of them are zero is not."""
    tyre, sim = book
    changes = {
        "PKY1": 1.1,
        "PDY1": 0.9,
        "FNOMIN": 1.2,
        "QSY1": 2.0,
        "VERTICAL_STIFFNESS": 0.9,
        "FZMAX": 0.8,
    }
    other = tyre.scaled(**{key: factor * tyre[key] for key, factor in changes.items()})
    changed = rig(other).equations().compile()
    texts = [x.loaded.model.source.rpartition("/* numbers of tables") for x in (sim, changed)]
    assert texts[0][0] == texts[1][0] and texts[0][2] != texts[1][2]
    at = {"Fz": 3500.0, "kappa": 0.03, "alpha": 0.05, "gamma": 0.02, "V": 16.0}
    run = changed.simulate(initial=state(other, at), t_end=4.0, step=0.002, output_every=2000)
    forces = other.forces(**at)
    for name in ("Fx", "Fy", "Fz", "Mx", "My", "Mz"):
        assert run[f"t.{name.lower()}"][-1] == pytest.approx(forces[name], rel=1e-9)
    assert abs(forces.Fy - tyre.forces(**at).Fy) > 50
    contents = [equation_digest(rig(x).description) for x in (tyre, other, tyre.scaled(PEY1=0.0))]
    assert tyre["PEY1"] != 0 and contents[0] == contents[1] != contents[2]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"tyre": bc.vehicles.tyres.Brush(1e5, 8e4)},
            "a tyre such as bc.load reads from a .tir file",
        ),
        ({"tyre": bc.vehicles.tyres.Fiala(-1, 8e4)}, "c_slip=-1 must be a positive number"),
        ({"tyre": bc.vehicles.tyres.Fiala(1e5, 8e4), "drive": 3}, "driven by a moment"),
        ({"tyre": bc.vehicles.tyres.Fiala(1e5, 8e4), "rolling_resistance": 3}, "has its own"),
        ({"tyre": bc.vehicles.tyres.Fiala}, "must be a bc.Tyre, a tyre such as"),
        ({"tyre": bc.Tyre(2e5)}, "radius="),
    ],
)
def test_what_is_wrong_is_told(options, words):
    s = bc.System("s", axes="ISO 8855")
    body = s.add_point_mass("b", mass=1)
    with pytest.raises(bc.ModelError, match=words):
        s.add_contact("t", at=body, terrain=bc.vehicles.terrain.flat(), wheel=body, **options)


def test_the_tables_hold_what_is_asked():
    assert len(DATA["mf61"]["rows"]) == 47 and len(DATA["mf52"]["rows"]) == 44
