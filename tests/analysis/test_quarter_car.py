"""Quarter car: everything against closed forms of the two-mass oscillator.

With z_b = q(wheel) + q(body): m_b z_b'' = F_s, m_w z_w'' = -F_s + F_t; det(s) = m_b m_w s^4 + c
(m_b + m_w) s^3 + (m_b (k + k_t) + m_w k) s^2 + c k_t s + k k_t. Mitschke & Wallentowitz, Dynamik
der Kraftfahrzeuge (2014), ch. 8.
"""

import numpy as np
import pytest

import bellcrank as bc
from tests.models import example

M_B, M_W, K, C, K_T, G = 290.0, 59.0, 16800.0, 1000.0, 190000.0, 9.80665
F0, F1 = 2845.0, 3424.0


@pytest.fixture(scope="module")
def car():
    return example("quarter_car").compile(backend="python")


def determinant(s, c=C):
    return (
        M_B * M_W * s**4
        + c * (M_B + M_W) * s**3
        + (M_B * (K + K_T) + M_W * K) * s**2
        + c * K_T * s
        + K * K_T
    )


def test_equilibrium(car):
    found = car.equilibrium()
    assert found["q(body)"] == pytest.approx((F0 - M_B * G) / K, rel=1e-9)
    assert found["q(wheel)"] == pytest.approx((F1 - (M_B + M_W) * G) / K_T, rel=1e-9)
    assert found["u(body)"] == pytest.approx(0.0, abs=1e-15)
    assert found.residual < 1e-10 and found.neutral == () and found.steady == {}


def test_preloads_as_unknowns(car):
    found = car.equilibrium(free=["f0", "f1"], fixed={"q(body)": 0.0, "q(wheel)": 0.0})
    assert found["f0"] == pytest.approx(M_B * G, rel=1e-12)
    assert found["f1"] == pytest.approx((M_B + M_W) * G, rel=1e-12)


def test_a_preload_for_a_ride_height(car):
    """The travel shall be 20 mm: the suspension has to be stronger by k times that."""
    found = car.equilibrium(free="f0", targets={"travel": 0.02})
    assert found["q(body)"] == pytest.approx(0.02, rel=1e-12)
    assert found["f0"] == pytest.approx(M_B * G + K * 0.02, rel=1e-12)


def test_a_road_height_for_a_wheel_height(car):
    found = car.equilibrium(free="z_road", fixed={"q(wheel)": 0.1})
    assert found["z_road"] == pytest.approx(0.1 - (F1 - (M_B + M_W) * G) / K_T, rel=1e-12)


def test_natural_frequencies_without_damping(car):
    a, b, c = M_B * M_W, M_B * (K + K_T) + M_W * K, K * K_T
    squares = (b + np.array([-1, 1]) * np.sqrt(b * b - 4 * a * c)) / (2 * a)
    modes = car.linearize(at="equilibrium", parameters={"c": 0.0}).modes
    assert [m.natural_frequency for m in modes] == pytest.approx(
        np.sqrt(squares) / (2 * np.pi), rel=1e-9
    )
    assert [m.damping for m in modes] == pytest.approx([0, 0], abs=1e-12)


def test_damping_and_frequencies_with_damping(car):
    roots = np.roots([M_B * M_W, C * (M_B + M_W), M_B * (K + K_T) + M_W * K, C * K_T, K * K_T])
    upper = np.sort_complex(roots[roots.imag > 0])[::-1]
    modes = car.linearize(at="equilibrium").modes
    assert [m.eigenvalue for m in modes] == pytest.approx(upper, rel=1e-9)
    assert [m.damping for m in modes] == pytest.approx(-upper.real / np.abs(upper), rel=1e-9)
    assert all(m.stable for m in modes)


def test_transmissibility(car):
    f = np.geomspace(0.1, 30, 60)
    s = 2j * np.pi * f
    expected = s**2 * K_T * (C * s + K) / determinant(s)
    found = car.frequency_response("z_road", "az", f)
    assert np.abs(found.values / expected - 1).max() < 1e-9
    assert found.unit == "m/s2/m"


def test_tyre_load_response_has_a_direct_part(car):
    f = np.array([0.5, 2.0, 9.0, 200.0])
    s = 2j * np.pi * f
    wheel = K_T * (M_B * s**2 + C * s + K) / determinant(s)
    assert car.frequency_response("z_road", "fz", f).values == pytest.approx(
        K_T * (1 - wheel), rel=1e-9
    )


def test_participation_names_the_masses(car):
    body, wheel = car.linearize(at="equilibrium").modes
    assert {n for n, _ in body.main_states(2)} == {"q(body)", "u(body)"}
    assert {n for n, _ in wheel.main_states(2)} == {"q(wheel)", "u(wheel)"}
    assert body.participation.sum() == pytest.approx(1.0)


def test_spectrum_of_a_white_road_speed_has_the_closed_form_variance(car):
    """Road height with density S0/(2 pi f)^2 is white in its rate; the variance of body
    acceleration follows from the two masses.

    Integral of |H(i w)|^2 for a fourth-order system by its determinant formula: Newland, Random
    Vibrations (1993), appendix 1.
    """
    S0 = 1e-4  # (m/s)^2/Hz, one-sided

    def density(f):
        return S0 / (2 * np.pi * np.asarray(f)) ** 2

    f = np.geomspace(1e-3, 3000, 8000)
    found = car.power_spectrum("az", {"z_road": density}, f)
    # az = s K_T (C s + K) / det * (rate of the road): B0 = 0, B1 = K_T K, B2 = K_T C, B3 = 0
    A0, A1, A2, A3, A4 = K * K_T, C * K_T, M_B * (K + K_T) + M_W * K, C * (M_B + M_W), M_B * M_W
    B1, B2 = K * K_T, C * K_T
    # Newland's I4 with B0 = B3 = 0; two-sided density over angular frequency is S0/(4 pi)
    top = A0 * A3 * B1**2 + A0 * A1 * B2**2
    I4 = np.pi * top / (A0 * (A1 * A2 * A3 - A0 * A3**2 - A1**2 * A4))
    assert found.rms**2 == pytest.approx(S0 / (4 * np.pi) * I4, rel=1e-4)


def test_spectrum_by_simulation_agrees_with_the_linear_model():
    car = example("quarter_car").compile()
    f = np.arange(0.5, 12.01, 0.5)
    road = bc.road_spectrum("C", 20.0)
    linear = car.power_spectrum("az", {"z_road": road}, f)
    simulated = car.power_spectrum("az", {"z_road": road}, f, by="simulation", seed=3)
    assert simulated.f == pytest.approx(f)
    assert simulated.values == pytest.approx(linear.values, rel=0.01)
    assert simulated.rms == pytest.approx(linear.rms, rel=0.005)


def test_road_classes():
    """ISO 8608: class C has 256e-6 m^3 at 0.1 cycles/m, that is 1 Hz at 10 m/s."""
    assert bc.road_spectrum("C", 10.0)(np.array([1.0])) == pytest.approx([256e-6 / 10])
    assert bc.road_spectrum("b", 10.0)(np.array([2.0])) == pytest.approx([64e-6 / 10 / 4])
    with pytest.raises(bc.ModelError, match="road class"):
        bc.road_spectrum("Z", 10.0)


def test_rates_of_an_input_act_along_with_it():
    """A mass on a moving base with spring and damper: x/z = (c s + k)/(m s^2 + c s + k)."""
    s = bc.System("base excitation", units="mks")
    mass = s.add_body("mass", translate=3, mass=2)
    s.add_input("z", units="L")
    s.add_force(
        "mount", magnitude="-k*(x - z) - c*(v - dxdt(z))", direction=s.inertial[3], at=mass.origin
    )
    s.add_output("x", "q(mass)")
    s.set_defaults(k=80, c=3)
    s.set_run(inputs={"z": 0.0})
    sim = s.equations().compile(backend="python")
    model = sim.linearize(at="equilibrium", wrt=["z"])
    assert model.input_names == ["z", "dxdt(z)"] and [i.unit for i in model.inputs] == ["m", "m/s"]
    f = np.array([0.2, 1.0, 5.0])
    p = 2j * np.pi * f
    assert sim.frequency_response("z", "x", f).values == pytest.approx(
        (3 * p + 80) / (2 * p**2 + 3 * p + 80), rel=1e-12
    )


def test_a_frequency_at_a_pole_is_infinite():
    s = bc.System("oscillator", units="mks")
    mass = s.add_body("mass", translate=3, mass=1)
    s.add_input("f", units="F")
    s.add_force("spring", magnitude="f - 4*x", direction=s.inertial[3], at=mass.origin)
    s.set_run(inputs={"f": 0.0})
    sim = s.equations().compile(backend="python")
    found = sim.linearize(at="equilibrium").transfer("f", "q(mass)", [2j, 1j])
    assert np.isinf(found[0]) and found[1] == pytest.approx(1 / 3)
