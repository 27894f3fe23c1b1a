"""Steps in real time: what is counted, and the command. Nothing here depends on how fast the
machine is."""

import json
import os
import socket
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import cli
from bellcrank.simulation.run.realtime import StepTiming, real_time_priority, run_in_real_time

MODEL = """
import bellcrank as bc

def model():
    s = bc.System("mass", units="mks")
    b = s.add_body("b", translate=1, mass=1)
    s.add_force("f", magnitude="k*x**3", direction=s.inertial[1], at=b.origin)
    s.set_defaults(k=-1)
    s.set_run(step=0.001, initial={"q(b)": 1.0})
    return s
"""


def test_steps_begin_when_they_are_due_and_late_ones_are_counted() -> None:
    begun = []

    def slow() -> None:
        begun.append(time.perf_counter())
        if len(begun) == 3:
            time.sleep(0.005)

    found = run_in_real_time(slow, 0.002, 8)
    assert np.all(found.lateness + 2000 >= found.durations)  # none began before it was due
    assert begun[-1] - begun[0] > 0.005
    assert (
        found.durations[2] >= 4900
        and found.lateness[2] > 0
        and found.n_missed >= 1
        and found.ended == "finished"
    )
    assert len(found.durations) == 8 and sum(n for *_, n in found.histogram()) == 8


def test_a_step_that_fails_ends_it_with_a_sentence() -> None:
    def fails(taken: list[int] = []) -> None:  # noqa: B006
        taken.append(1)
        if len(taken) > 2:
            raise bc.RunError("stopped at t = 2 s")

    found = run_in_real_time(fails, 1e-4, 5)
    assert len(found.durations) == 2 and found.ended == "stopped at t = 2 s"


def test_a_histogram_has_no_empty_ends() -> None:
    found = StepTiming(np.array([3.0, 4.0, 30.0, 1e9]), np.array([-1.0, 0.0, 2.0, 3.0]))
    rows = found.histogram()
    assert rows[0] == (2.0, 5.0, 2) and rows[-1] == (10000.0, np.inf, 1) and found.n_missed == 2
    assert StepTiming(np.empty(0), np.empty(0)).histogram() == []


def test_the_process_is_left_as_it_was(monkeypatch: Any) -> None:
    """Also where it may not go before others, or the system knows nothing of that."""
    before = os.sched_getscheduler(0) if hasattr(os, "sched_getscheduler") else None

    def refuse(*_: Any) -> None:
        raise PermissionError

    with real_time_priority() as told:
        assert told
    monkeypatch.setattr(os, "sched_setscheduler", refuse, raising=False)
    with real_time_priority() as told:
        assert "not allowed" in told or "has no SCHED_FIFO" in told
    assert before is None or os.sched_getscheduler(0) == before


def test_channels_are_sent_while_it_goes_on(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "mass.py"
    path.write_text(MODEL)
    eom = bc.System.read(path).equations()
    given = ["realtime", str(path), "--backend", "python", "--seconds", "0.04"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.settimeout(5.0)
        port = str(listener.getsockname()[1])
        assert cli.main([*given, "--udp", port]) == 0
        rows = [json.loads(listener.recv(65536)) for _ in range(4)]
        assert [*rows[0]] == ["t", *(x.name for x in eom.interface.channels)]
        assert cli.main([*given, "--udp", port, "--udp-every", "20", "--channel", "Q( 1 )"]) == 0
        fewer = [json.loads(listener.recv(65536)) for _ in range(2)]
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.recv(65536)
    stepper = eom.compile(backend="python").stepper()
    name = eom.coordinates[0].name
    for i in range(4):
        stepper.step(10)
        assert rows[i]["t"] == stepper.t == pytest.approx(0.01 * (i + 1))
        assert rows[i][name] == stepper.state[name]
    assert fewer == [{k: rows[i][k] for k in ("t", name)} for i in (1, 3)]
    capsys.readouterr()
    wrongs = {
        "belong to --udp": ["--channel", "x"],
        "'x' is not known": ["--udp", port, "--channel", "x"],
        "ports are 1 to 65535": ["--udp", "0"],
        "must be 1 or more": ["--udp", port, "--udp-every", "0"],
    }
    for why, wrong in wrongs.items():
        assert cli.main([*given, *wrong]) == 1
        assert why in capsys.readouterr().err


def test_the_command(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "mass.py"
    path.write_text(MODEL)
    given = ["realtime", str(path), "--backend", "python", "--seconds", "0.02"]
    assert cli.main(given) == 0
    text = capsys.readouterr().out
    assert "20 of 1 ms, finished" in text and "deadlines missed" in text and "#" in text
    assert cli.main([*given, "--json", "--set", "k=1e9"]) == 4
    found = json.loads(capsys.readouterr().out)
    assert found["steps"] < 20 and "stopped at t = " in found["ended"]
    for wrong, why in (
        (["--step", "-1"], "must be positive"),
        (["--method", "tsit5"], "adapts its steps"),
    ):
        assert cli.main([*given, *wrong]) == 1
        assert why in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main([*given, "--seconds", "soon"])
