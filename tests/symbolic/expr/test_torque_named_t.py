"""`T`, the torque of every textbook, is a name like others: only `t` is time."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.errors import ModelError
from bellcrank.core.files.format_choice import read_record
from bellcrank.kane import Derivation
from tests.programs import MAINLY_C, build

KINDS = {
    "parameter": lambda s: s.set_defaults(T=3),
    "input": lambda s: (s.add_input("T", units="N*m"), s.set_run(inputs={"T": 3})),
    "state": lambda s: (s.add_state("T", rate="(3 - T)/tau*0", units="F*L"), s.set_defaults(tau=1)),
    "definition": lambda s: (s.define("T", "T0"), s.set_defaults(T0=3)),
}


def wheel(kind):
    """A wheel driven by T (1 + om t): its speed is 3 (t + om t^2/2)/J, om = 0.5, J = 2."""
    s = bc.System("torque", units="mks")
    body = s.add_body("wheel", rotate=3, inertia=(1, 1, "J"), mass=1)
    s.set_run(t_end=1, step=0.05)
    KINDS[kind](s)
    s.add_moment("m", magnitude="T*(1 + om*t)", direction=s.inertial[3], on=body)
    s.add_output("grows", "T*om*t")
    s.set_defaults(J=2, om=0.5)
    if kind == "state":
        s.set_run(initial={"T": 3})
    return s


def expected(t):
    return 3 * (t + 0.25 * t**2) / 2


@pytest.mark.parametrize("kind", KINDS)
def test_torque_and_time_are_two_things(kind, tmp_path):
    s = wheel(kind)
    run = s.equations().compile(backend="python").simulate()
    assert run["u(wheel)"] == pytest.approx(expected(run["t"]))
    assert run["grows"] == pytest.approx(1.5 * run.time)
    assert bc.check(s, states=2, run=False, backend="python").passed
    for name in ("run.csv", "run.json", "run.erd"):
        run.save(tmp_path / name)
        back = read_record(tmp_path / name)
        assert back.time == pytest.approx(run.time)
        assert [c.name for c in back.channels if c.name.lower() == "t"] == (
            ["T"] if kind in ("input", "state") else []
        )


def test_channel_may_be_called_so_and_only_time_is_t(tmp_path):
    s = wheel("input")
    run = s.equations().compile(backend="python").simulate()
    assert np.all(run["T"] == 3) and run["t"] is run.time
    run.save(tmp_path / "run.csv")
    assert (tmp_path / "run.csv").read_text().splitlines()[0].split(",")[::4] == ["t", "T"]


@pytest.mark.parametrize("language", MAINLY_C)
def test_written_programs_tell_them_apart(language, tmp_path):
    """FORTRAN knows no capitals."""
    s = wheel("parameter")
    run = build(s.equations(), language, tmp_path).run(tmp_path)
    assert run["u(wheel)"] == pytest.approx(expected(run.time))


def test_names_that_mean_time_stay_refused():
    s = wheel("parameter")
    s.add_output("t", "T")
    with pytest.raises(ModelError, match="the channel 't' exists already"):
        s.equations()
    s = bc.System("m")
    s.add_body("b", translate=1)
    s.add_input("t")
    with pytest.raises(ModelError, match="reserved"):
        s.equations()


def test_by_hand():
    d = Derivation("wheel")
    (T,), (q,), (u,) = d.constants("T"), d.coordinates("q"), d.speeds("u")
    B = d.body("B", mass=0)
    d.rotate("N", B, 3, q), d.set_rate(q, u), d.set_velocity(B.cm, "N", 0)
    d.torque(B, "T*(1 + t/2)*N3")
    d.set_defaults(T=3, IB1=1, IB2=1, IB3=2)
    run = d.equations().compile(backend="python").simulate(t_end=1, step=0.05)
    assert run["u"] == pytest.approx(expected(run.time))
    with pytest.raises(ModelError, match="'t' is reserved: it is time"):
        d.constants("t")
    assert T.name == "T"
