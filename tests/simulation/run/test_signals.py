"""Kinds of signals as records: the same values in every language, files and studies that know all
of them."""

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.signals import MOST_NUMBERS, SIGNAL_KINDS, signal_by_kind
from bellcrank.simulation.run.signal_inputs import to_program_input
from tests.models import pendulum, relative
from tests.programs import MAINLY_C, build

SIGNALS = {
    name: k.make_signal(*(0.25 + 0.17 * i for i in range(len(k.numbers))))
    for name, k in SIGNAL_KINDS.items()
}


def watched(smooth):
    """A pendulum that shows an input and as many rates of it as there are."""
    shown = ["w", "dxdt(w)", "dxdt(dxdt(w))"][: smooth + 1]

    def prepare(s):
        s.add_input("w", units="F*L")
        for i, text in enumerate(shown):
            s.add_output(f"w{i}", text)

    return pendulum("-k*q(rod) + w", prepare, k=3.0).equations()


@pytest.mark.parametrize("name", SIGNAL_KINDS)
def test_rates_are_those_of_the_value(name):
    signal, kind = SIGNALS[name], SIGNAL_KINDS[name]
    assert len(kind.numbers) <= MOST_NUMBERS
    times = np.linspace(0.011, 2, 57)
    times = [t for t in times if all(abs(t - b) > 1e-3 for b in signal.breaks)]
    for value, rate in ((signal.value, signal.rate), (signal.rate, signal.second)):
        if rate is not None:
            slopes = [(value(t + 1e-6) - value(t - 1e-6)) / 2e-6 for t in times]
            assert relative(slopes, [rate(t) for t in times]) < 1e-6


@pytest.mark.parametrize("name", SIGNAL_KINDS)
def test_compiled_signals_are_those_of_python(name):
    eom = watched(len(SIGNAL_KINDS[name].derivative_formulas) - 1)
    runs = [
        eom.compile(backend=b).simulate(inputs={"w": SIGNALS[name]}, step=0.0301)
        for b in ("c", "python")
    ]
    for channel in eom.outputs:
        assert relative(runs[0][channel], runs[1][channel]) < 1e-14


@pytest.mark.campaign
@pytest.mark.parametrize("language", MAINLY_C)
def test_programs_know_all_signals(tmp_path, language):
    for smooth in (0, 1, 2):
        eom = watched(smooth)
        names = [n for n, k in SIGNAL_KINDS.items() if len(k.derivative_formulas) - 1 == smooth]
        if not names:
            continue
        program = build(eom, language, tmp_path / f"{language}{smooth}")
        for name in names:
            numbers = " ".join(map(repr, SIGNALS[name].numbers))
            run = program.run(tmp_path / name, "stopt 1", "step 0.0301", f"w {name} {numbers}")
            reference = eom.compile(backend="python").simulate(
                t_end=1, step=0.0301, inputs={"w": SIGNALS[name]}
            )
            for channel in (*eom.outputs, "q(rod)"):
                assert relative(run[channel], reference[channel]) < 1e-12


def test_a_pulse_is_one_smooth_bump():
    bump = bc.signals.pulse(start=1.0, width=0.5, height=3.0)
    assert [bump(t) for t in (0.9, 1.0, 1.25, 1.5, 2.0)] == pytest.approx([0.0, 0.0, 3.0, 0.0, 0.0])
    assert bump(1.125) == pytest.approx(1.5)  # half way up
    assert bump.breaks == (1.0, 1.5)
    with pytest.raises(bc.RunError, match=r"pulse: width=.* must be positive"):
        bc.signals.pulse(width=-1)


def test_what_cannot_be_differentiated_is_told():
    for name, kind in SIGNAL_KINDS.items():
        for order in range(3):
            if order < len(kind.derivative_formulas):
                to_program_input(SIGNALS[name], "w", 1.0, order)
            else:
                with pytest.raises(
                    bc.ModelError, match=f"must be differentiable here.*a {name} has none"
                ):
                    to_program_input(SIGNALS[name], "w", 1.0, order)


def test_made_fills_in_the_defaults_of_the_functions():
    assert signal_by_kind("chirp", f1=5.0).numbers == bc.signals.chirp(f1=5.0).numbers
    assert signal_by_kind("ramp").numbers == (0.0, 1.0, math.inf)
    with pytest.raises(bc.RunError, match=r"chirp: duration=0\.0 must be positive"):
        signal_by_kind("chirp", duration=0)


def test_studies_know_all_kinds_but_the_constant(tmp_path):
    for name, kind in SIGNAL_KINDS.items():
        if name == "constant":
            continue
        given = ", ".join(
            f"{n} = {x!r}" for n, x in zip(kind.parameter_names, SIGNALS[name].numbers, strict=True)
        )
        path = tmp_path / f"{name}.toml"
        path.write_text(
            '[model]\nfile = "model.py"\n[run]\nt_end = 0.1\nstep = 0.01\n[grid]\nk = [1, 2]\n'
            f"[inputs]\nw = {{ {name} = {{ {given} }} }}\n"
            '[metrics]\nhigh = { kind = "max", of = "w0" }\n',
            encoding="utf-8",
        )
        (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
        bc.Study.read(path)  # which builds the model and the inputs of the first run


MODEL = """
import bellcrank as bc

def model():
    s = bc.System("pendulum", units="mks")
    rod = s.add_body("rod", rotate=3, cm=(0, -1, 0), mass=2, inertia=(0.1, 0.1, 0.1))
    s.add_input("w", units="F*L")
    s.add_moment("drive", magnitude="-k*q(rod) + w", direction=rod[3], on=rod)
    s.add_output("w0", "w")
    s.set_defaults(k=1)
    s.set_run(t_end=1, step=0.01, inputs={"w": 0})
    return s
"""
