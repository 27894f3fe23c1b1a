"""Magic Formula, Fiala, brush and TMeasy tyres against published tables, and what must hold of any
tyre."""

import pickle

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.vehicles.tyres import magic_terms as terms
from bellcrank.vehicles.tyres.steady_tyre import ARRAYS
from bellcrank.vehicles.tyres.tmeasy import tmeasy_force_curve
from tests.vehicles.tyre_tables import BOOK, DATA, PAC, book62, columns, inputs, off, table_tmeasy

CLOSE = 1e-10


@pytest.fixture(scope="module")
def book():
    return bc.vehicles.tyres.MagicFormula.read(BOOK)


@pytest.fixture(scope="module")
def pac():
    return bc.vehicles.tyres.MagicFormula.read(PAC)


@pytest.mark.parametrize("table", ["mf61", "mf61_limits", "turn_slip"])
def test_version_61_gives_the_published_tables(book, table):
    found = columns(table)
    forces = book.forces(**inputs(found))
    names = [n for n in ("Fx", "Fy", "Mx", "My", "Mz") if n in found]
    assert len(names) >= 2
    for name in names:
        assert off(forces[name], found[name]) < CLOSE, name


def test_version_52_gives_the_published_table(pac):
    found = columns("mf52")
    forces = pac.forces(**inputs(found), V=16.7)
    for name in ("Fx", "Fy", "My", "Mz"):
        assert off(forces[name], found[name]) < CLOSE, name


def test_relaxation_lengths_of_52(pac):
    found = columns("mf52_relaxation")
    forces = pac.forces(found["Fz"], 0, 0)
    assert (
        off(forces.sigma_x, found["sigma_x_minus"]) < CLOSE
        and off(forces.sigma_y, found["sigma_y"]) < CLOSE
    )


def test_star_form_is_that_of_the_book():
    found = columns("mf61_star")
    forces = bc.vehicles.tyres.MagicFormula.read(BOOK, form="star").forces(**inputs(found))
    for name in ("Fx", "Fy", "Mz"):
        assert off(forces[name], found[name]) < CLOSE


def test_radii_patch_and_stiffnesses(book):
    found = columns("mf61_geometry")
    forces = book.forces(found["Fz"], 0.0, np.array([0, 0.07, 0.07, 0.07, 0.07]))
    for name in ("Re", "rho", "Rl", "a", "b", "sigma_x", "sigma_y", "Kya", "Kxk"):
        assert off(forces[name], found[name]) < CLOSE, name


def test_loaded_radius_of_62_leaves_the_forces_of_61(book):
    found = columns("mf62_radius")
    forces = book62().forces(**inputs(found))
    for name in ("Fx", "Fy", "Rl"):
        assert off(forces[name], found[name]) < CLOSE, name
    other = book.forces(**inputs(found))
    assert np.array_equal(other.Fy, forces.Fy) and np.array_equal(other.Mz, forces.Mz)


def test_fiala_brush_and_tmeasy_give_their_tables():
    found, data = columns("fiala"), DATA["fiala"]
    fiala = bc.vehicles.tyres.Fiala(
        data["c_slip"], data["c_alpha"], data["umax"], data["umin"], data["width"]
    )
    forces = fiala.forces(**inputs(found))
    for name in ("Fx", "Fy", "Mz"):
        assert off(forces[name], found[name]) < CLOSE
    found, data = columns("brush"), DATA["brush"]
    brush = bc.vehicles.tyres.Brush(
        data["c_alpha"], data["c_alpha"], friction=data["mu"], half_length=data["half_length"]
    )
    forces = brush.forces(data["Fz"], 0.0, -found["alpha"])
    assert off(forces.Fy, found["Fy"]) < CLOSE and off(forces.Mz, found["Mz"]) < CLOSE
    found = columns("tmeasy")
    assert (
        off(
            tmeasy_force_curve(ARRAYS, *(found[n] for n in ("s", "df0", "sm", "fm", "ss", "fs"))),
            found["f"],
        )
        < CLOSE
    )


def test_tmeasy_follows_its_curve_along_and_across():
    tyre, pn = table_tmeasy(), 4000.0
    found = columns("tmeasy")
    s = found["s"]
    fast = 1e9  # against which the speed next to the rolling one does not count
    along = tyre.forces(pn, (s / (1 - s))[:6], 0.0, V=fast)
    assert off(along.Fx, found["f"][:6]) < CLOSE
    across = tyre.forces(pn, 0.0, -np.arctan(s[6:]), V=fast)
    assert off(across.Fy, found["f"][6:]) < CLOSE


SOME = [
    ("book", lambda: bc.vehicles.tyres.MagicFormula.read(BOOK)),
    ("pac", lambda: bc.vehicles.tyres.MagicFormula.read(PAC)),
    ("fiala", lambda: bc.vehicles.tyres.Fiala(1e5, 8e4)),
    ("brush", lambda: bc.vehicles.tyres.Brush(1e5, 8e4)),
    ("tmeasy", lambda: bc.vehicles.tyres.TMeasy.of_size("205/60R15 91V")),
]


@pytest.mark.parametrize(
    "tyre",
    [
        pytest.param(make, marks=() if name in ("book", "fiala") else pytest.mark.campaign)
        for name, make in SOME
    ],
    ids=[name for name, _ in SOME],
)
def test_forces_are_continuous_and_vanish_with_the_load(tyre):
    tyre = tyre()
    rng = np.random.default_rng(5)
    for _ in range(2):
        ends = [
            rng.uniform(*span, 2)
            for span in ((0, 9000), (-1.2, 1), (-1.2, 1.2), (-0.15, 0.15), (-6, 30))
        ]

        def over(path, ends=ends):
            load, kappa, alpha, gamma, V = (a + (b - a) * path for a, b in ends)
            return tyre.forces(load, kappa, alpha, gamma, V=V)

        path = np.linspace(0, 1, 2001)
        forces = over(path)
        for name in ("Fx", "Fy", "Mx", "My", "Mz"):
            assert np.all(np.isfinite(forces[name]))
            near, values = path, forces[name]
            for _ in range(
                4
            ):  # ever closer to where it is steepest: a jump would not shrink with the step
                worst = int(np.argmax(np.abs(np.diff(values))))
                near = np.linspace(near[worst], near[worst + 1], 41)
                values = over(near)[name]
            assert np.max(np.abs(np.diff(values))) <= 1e-3 * np.ptp(forces[name]) + 1e-9, name
    none = tyre.forces(0.0, 0.1, 0.1, 0.02)
    assert all(abs(none[n]) < 1e-6 for n in ("Fx", "Fy", "Mx", "My", "Mz"))
    small = tyre.forces(np.array([1e-3, 1e-4]), 0.1, 0.1, 0.02)
    assert abs(small.Fy[1]) <= abs(small.Fy[0]) < 0.01


def test_a_mirrored_tyre_is_the_other_hand(book):
    left, right = book.on("left"), book.on("right")
    assert book.side == "left" and not left.mirrored and right.mirrored
    at = dict(Fz=3500.0, kappa=np.array([-0.1, 0.05]), p=2.1e5)
    one = left.forces(alpha=0.04, gamma=0.03, **at)
    other = right.forces(alpha=-0.04, gamma=-0.03, **at)
    for name, sign in {"Fx": 1, "Fy": -1, "Mx": -1, "My": 1, "Mz": -1, "Kya": 1}.items():
        assert np.array_equal(one[name], sign * other[name])
    with pytest.raises(bc.ModelError, match="'left' or 'right'"):
        book.on("middle")


def test_scale_factors_act(book):
    assert book.scaled(LMUY=0.5).forces(4000, 0, 0.3).muy == pytest.approx(
        0.5 * book.forces(4000, 0, 0.3).muy
    )
    assert book.scaled(lky=2).forces(4000, 0, 0).Kya == pytest.approx(
        2 * book.forces(4000, 0, 0).Kya
    )
    assert "LMUX" in book.scales and "LSGKP" not in book.scales


def test_results_take_the_shape_of_the_inputs(book):
    assert isinstance(book.forces(4000, 0, 0.1).Fy, float)
    grid = book.forces(np.array([2000, 4000])[:, None], 0.0, np.linspace(-0.1, 0.1, 5))
    assert grid.Fy.shape == grid["Re"].shape == (2, 5)
    assert grid.Fy[1, 2] == book.forces(4000, 0, 0).Fy
    assert set(grid) >= {
        "Fx",
        "Fy",
        "Fz",
        "Mx",
        "My",
        "Mz",
        "mux",
        "muy",
        "Kxk",
        "Kya",
        "trail",
        "Re",
        "sigma_x",
    }


def test_what_was_limited_is_noted(book):
    forces = book.forces(12000, -1.3, np.array([0.0, 1.2]))
    assert len(forces.notes) == 3 and "load 12000 lies outside 0 to 10000 N" in forces.notes[0]
    assert book.forces(4000, 0, 0.1).notes == ()
    assert book.forces(12000, 0, 0.1, limits=False).Fy != book.forces(12000, 0, 0.1).Fy


def test_tyres_survive_other_processes(book):
    again = pickle.loads(pickle.dumps(book))
    assert (
        again.forces(4000, 0.1, 0.1).Mz == book.forces(4000, 0.1, 0.1).Mz
        and again.notes == book.notes
    )


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda t: t.forces(4000, "much", 0), "kappa='much' must be a number"),
        (lambda t: t.forces(4000, 0, np.nan), "alpha must be finite"),
        (lambda t: t.forces([1, 2], 0, [1, 2, 3]), "do not fit together"),
        (lambda t: t.scaled(LMUX="a"), "LMUX='a' must be a number"),
        (lambda t: t.scaled(LMUXX=1), "Did you mean 'LMUX'"),
        (lambda t: t.scaled(FNOMIN=0), "FNOMIN=0 must be positive"),
        (lambda t: t["PDX9"], "Did you mean 'PDX"),
        (lambda t: bc.vehicles.tyres.MagicFormula({}, "7"), "version='7'"),
        (lambda t: bc.vehicles.tyres.MagicFormula(t.coefficients, form="moon"), "form='moon'"),
        (lambda t: t.forces(1, 0, 0).Fw, "gives no 'Fw'"),
        (
            lambda t: bc.vehicles.tyres.Fiala(-1, 8e4).forces(1, 0, 0),
            "c_slip=-1 must be a positive number",
        ),
        (lambda t: bc.vehicles.tyres.TMeasy(3e3, fxm=(1, -1)).forces(1, 0, 0), "fxm"),
        (lambda t: bc.vehicles.tyres.TMeasy.of_size("205"), "no tyre size"),
        (lambda t: bc.vehicles.tyres.TMeasy.of_size("205/60R15"), "no load index"),
        (lambda t: bc.vehicles.tyres.Brush(1e4).forces(1, 0, 0), "cornering= too"),
    ],
)
def test_what_is_wrong_is_told(book, make, words):
    with pytest.raises((bc.ModelError, AttributeError), match=words):
        make(book)


def test_a_size_and_a_load_index_make_a_tyre():
    tyre = bc.vehicles.tyres.TMeasy.of_size("205/60 R15 91V")
    assert tyre.radius == pytest.approx(0.3135) and 2 * tyre.pn == pytest.approx(
        9.81 * 615, rel=0.02
    )
    forces = tyre.forces(tyre.pn, 0.0, np.linspace(0, 0.5, 50))
    assert 0.8 < np.max(-forces.Fy) / tyre.pn < 1.1 and "not measured" in tyre.notes[0]


def test_a_tyre_under_longitudinal_and_lateral_force_sinks_deeper(book):
    """Load of 6.1 over deflection, Pacejka (2012), eq. 4.E68: (1 - (Q_FCX Fx/F0)^2 - (Q_FCY
    Fy/F0)^2) of the free load."""
    tyre = book.scaled(Q_FCX=0.4, Q_FCY=0.6, PFZ1=0.0)
    c, Fz = tyre.coefficients, 4000.0
    for kappa, alpha in ((0.1, 0.0), (-0.1, 0.0), (0.0, 0.1), (0.08, -0.08)):
        found = tyre.forces(Fz, kappa, alpha)
        x = float(found.rho) / c["UNLOADED_RADIUS"]
        linear = np.sqrt(
            (c["VERTICAL_STIFFNESS"] * c["UNLOADED_RADIUS"] / c["FNOMIN"]) ** 2 - 4 * c["Q_FZ2"]
        )
        omega = (1 + kappa) * c["LONGVL"] / float(found.Re)
        spin = 1 + c["Q_V2"] * c["UNLOADED_RADIUS"] / c["LONGVL"] * omega
        taken = (0.4 * float(found.Fx) / c["FNOMIN"]) ** 2 + (
            0.6 * float(found.Fy) / c["FNOMIN"]
        ) ** 2
        assert (spin - taken) * (linear * x + c["Q_FZ2"] * x * x) * c["FNOMIN"] == pytest.approx(
            Fz, rel=1e-3
        )
        free = book.scaled(Q_FCX=0.0, Q_FCY=0.0, PFZ1=0.0).forces(Fz, kappa, alpha)
        assert float(found.rho) > float(free.rho)


@pytest.mark.parametrize("E", [-2.0, 0.3, 0.9])
def test_the_derivative_of_the_formula_is_that_of_its_curve(E):
    C, B, x, h = 1.6, 9.0, np.array([-0.2, -0.03, 0.01, 0.15]), 1e-6
    given = type("Given", (), {"nonlinear": True})

    def curve_at(x):
        return np.sin(C * terms.magic_argument(ARRAYS, B, E, x))

    found = (
        terms.relative_slope(ARRAYS, given, C, B, E, x) * B * C
    )  # relative to the derivative at zero slip, B C
    assert found == pytest.approx((curve_at(x + h) - curve_at(x - h)) / (2 * h), rel=1e-7, abs=1e-8)
