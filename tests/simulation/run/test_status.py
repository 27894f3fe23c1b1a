"""How a run ended, as a status: compared by name, not by its message."""

import pytest

import bellcrank as bc
from tests.models import able, example, needs_compiler

Status = bc.RunStatus


def slide(magnitude, backend="wasm", **options):
    """A mass on a rail, pushed."""
    s = bc.System("slide", units="mks")
    b = s.add_body("b", translate=1, mass=1)
    s.add_force("push", magnitude=magnitude, direction=s.inertial[1], at=b.cm)
    s.set_run(t_end=1.0, step=0.1, initial={"u(b)": 1.0}, **options)
    return s.equations().compile(backend=backend)


@pytest.mark.parametrize(
    ("magnitude", "options", "status"),
    [
        ("0", {}, Status.FINISHED),
        (
            "0",
            {"events": [bc.event("q(b) > 0.45", stop=True, name="there")]},
            Status.STOPPED_BY_EVENT,
        ),
        ("exp(1e3*x)", {}, Status.NOT_FINITE),
        ("1/(1 - x)**3", {"method": "tsit5"}, Status.STEP_TOO_SMALL),
    ],
)
def test_statuses(magnitude, options, status):
    run = slide(magnitude, able("wasm", options.get("method"))).simulate(**options)
    assert run.status is status and run.message == run.ended
    assert run.ok == (status in (Status.FINISHED, Status.STOPPED_BY_EVENT))


def test_files_keep_it(tmp_path):
    sim = slide("0")
    stopped = sim.simulate(events=[bc.event("q(b) > 0.45", stop=True, name="there")])
    for run in (sim.simulate(), stopped, slide("exp(1e3*x)").simulate()):
        read = bc.Run.read(run.save(tmp_path / "r.erd"))
        assert (read.status, read.message) == (run.status, run.message)
    (tmp_path / "log.csv").write_text("t,a\n0,1\n1,2\n")
    assert bc.Run.read(tmp_path / "log.csv").status is Status.UNKNOWN


@needs_compiler
def test_compiled_runs_have_the_same():
    sim = example("quarter_car").compile(backend="c")
    assert sim.simulate(t_end=0.1).status is Status.FINISHED
    assert sim.simulate(t_end=3, step=0.06, parameters={"c": -1e5}).status is Status.NOT_FINITE
