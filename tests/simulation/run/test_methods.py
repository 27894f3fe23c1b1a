"""Integrators as data: orders, limits of stability, the same steps in every language."""

from fractions import Fraction

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.cli import main
from bellcrank.core.numeric.fixed_step_methods import EXPLICIT, METHODS, method_listing
from bellcrank.core.numeric.integrate import step_function
from tests.helpers import EXAMPLES
from tests.models import pendulum, relative
from tests.programs import MAINLY_C, build


@pytest.mark.parametrize("name", EXPLICIT)
def test_tableaux_are_consistent_and_of_their_order(name):
    """y' = y t gives exp(t^2/2): halving the step divides the error by 2**order."""
    method = METHODS[name]
    assert all(
        sum(s.increment.coefficients) == pytest.approx(s.node, abs=1e-15) for s in method.stages
    )
    assert sum(method.result.coefficients) == pytest.approx(1, abs=1e-15)
    factorial = 1
    for k in range(method.order + 1):
        assert method.stability_polynomial[k] == Fraction(
            1, factorial
        )  # R agrees with exp as far as the order goes
        factorial *= k + 1
    errors = []
    for n in (20, 40):
        h, y, advance = 1 / n, np.array([1.0]), step_function(name, 0)
        for i in range(n):
            t = i * h
            y = advance(lambda t, y: t * y, (t, t + h / 2, t + h), y, h, t * y)
        errors.append(abs(y[0] - np.exp(0.5)))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(method.order, abs=0.25)


@pytest.mark.parametrize("name", METHODS)
def test_compiled_runs_and_python_take_the_same_steps(name):
    eom = pendulum().equations()
    runs = [
        eom.compile(backend=b).simulate(t_end=0.3, step=0.01, method=name) for b in ("c", "python")
    ]
    assert relative(runs[0]["q(rod)"], runs[1]["q(rod)"]) < 1e-12


def test_a_step_beyond_the_limit_is_told():
    """A stiff spring: what is reported to be stable is below the limit of each method, and a step
    past it is reported."""
    s = bc.System("stiff")
    s.add_body("m", translate=1, mass=1)
    s.add_force("spring", magnitude="-k*q(m) - c*u(m)", direction=s.inertial[1], at="m.origin")
    s.set_defaults(k=1e4, c=200)  # s = -100 twice
    sim = s.equations().compile(backend="python")
    for name in (*EXPLICIT, "ab2"):
        with pytest.warns(bc.ModelWarning, match=f"too large for {name}"):
            sim.simulate(t_end=1, step=0.05, method=name, initial={"q(m)": 0.1})


@pytest.mark.parametrize("language", MAINLY_C)
def test_programs_know_all_methods(tmp_path, language):
    eom = pendulum().equations()
    program = build(eom, language, tmp_path / language)
    for name in METHODS if language != "python" else ("rk2", "rk4"):
        reference = eom.compile(backend="python").simulate(t_end=0.2, step=0.01, method=name)
        run = program.run(tmp_path / name, "stopt 0.2", "step 0.01", f"method {name}")
        assert relative(run["q(rod)"], reference["q(rod)"]) < 1e-12


def test_heun_takes_the_mean_of_both_ends():
    """y' = t over one step: the trapezoidal rule is exact, and its second rates are those at the
    end."""
    seen = []

    def rates(t, y):
        seen.append(t)
        return np.array([t])

    new = step_function("heun", 0)(rates, (1.0, 1.5, 2.0), np.array([0.0]), 1.0, np.array([1.0]))
    assert (new[0], seen) == (1.5, [2.0])


def test_heun_is_known_where_methods_are_named(tmp_path, capsys):
    """The command line, studies, the input of written programs."""
    words = ["run", str(EXAMPLES / "quarter_car.py"), "--method", "heun", "--t-end", "0.05"]
    assert main([*words, "--out", str(tmp_path / "run.csv")]) == 0
    assert "heun" in capsys.readouterr().out
    assert "heun (trapezoidal rule)" in method_listing()
    study = tmp_path / "study.toml"
    text = f"""[model]
file = "{EXAMPLES / "quarter_car.py"}"
[run]
t_end = 0.05
step = 0.001
method = "heun"
[grid]
m_b = [250, 300]
[metrics]
high = {{ kind = "max", of = "q(body)" }}
"""
    study.write_text(text, encoding="utf-8")
    bc.Study.read(study)
