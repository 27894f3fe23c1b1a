"""Ctrl-C ends what continues, at once, with one line and exit code 130; none is lost, and nothing
is half done."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from bellcrank.simulation.backend.processes import run_program
from tests.models import needs_compiler, pendulum
from tests.processes import ends

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "pthread_kill"), reason="needs signals of POSIX"
)
TIMES = 10


def with_routine(load=lambda q, u: -3 * q - u):
    """A compiled run that calls a routine in Python at every evaluation."""
    system = pendulum(
        "m0*load(q(rod), u(rod))",
        lambda s: s.add_external("load", arguments=("q", "u"), python=load),
        m0=1.0,
    )
    sim = system.equations().compile(backend="c")
    return lambda t_end=1e9: sim.simulate(t_end=t_end, step=0.01, output_every=10**9)


def with_function():
    """A compiled run whose input is a function in Python."""
    system = pendulum("drive_moment", lambda s: s.add_input("drive_moment", units="Nm"))
    sim = system.equations().compile(backend="c")
    return lambda t_end=1e9: sim.simulate(
        t_end=t_end,
        step=0.01,
        output_every=10**9,
        inputs={"drive_moment": lambda t: 0.1 * np.sin(t)},
    )


def plain():
    sim = pendulum().equations().compile(backend="c")
    return lambda t_end=1e9: sim.simulate(t_end=t_end, step=0.01, output_every=10**9)


@contextmanager
def signalled(after, number=signal.SIGINT, when=lambda: True):
    """Somebody presses Ctrl-C after some seconds, and not before something is there."""
    main = threading.main_thread().ident

    def press():
        while not when():
            time.sleep(0.01)
        signal.pthread_kill(main, number)

    timer = threading.Timer(after, press)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


@needs_compiler
@pytest.mark.parametrize("make", [with_routine, with_function, plain])
def test_no_interrupt_of_a_run_is_lost(make):
    """66 of 68 interrupts came at the door of a callback and were dropped; the run ended as not
    finite, or finished."""
    run = make()
    expected = run(1.0)
    rng = np.random.default_rng(1)
    for _ in range(TIMES):
        began = time.perf_counter()
        with pytest.raises(KeyboardInterrupt), signalled(rng.uniform(0.001, 0.02)):
            run()
        assert time.perf_counter() - began < 5
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    again = run(1.0)
    assert again.ended == expected.ended == "finished" and np.array_equal(again.time, expected.time)
    assert all(np.array_equal(again[name], expected[name]) for name in expected)


@needs_compiler
def test_other_handlers_are_heard_too():
    """A time limit that somebody sets by a signal is not lost either; one that does not raise lets
    the run continue."""

    class TooLong(Exception):
        pass

    def ring(*_):
        raise TooLong

    run, heard = with_routine(), []
    before = signal.signal(signal.SIGALRM, ring)
    try:
        for _ in range(5):
            with pytest.raises(TooLong), signalled(0.01, signal.SIGALRM):
                run()
        signal.signal(signal.SIGALRM, lambda *_: heard.append(1))
        with signalled(0.01, signal.SIGALRM):
            assert run(200.0).ended == "finished"
        assert heard
    finally:
        signal.signal(signal.SIGALRM, before)


@needs_compiler
def test_a_routine_that_a_signal_ends_has_not_failed():
    """What the handler raised within the routine comes out, and not a message about the routine."""

    def slow(q, u):
        time.sleep(0.05)
        return -3 * q - u

    def ring(*_):
        raise TimeoutError

    run = with_routine(slow)
    before = signal.signal(signal.SIGALRM, ring)
    try:
        with pytest.raises(TimeoutError), signalled(0.12, signal.SIGALRM):
            run()
    finally:
        signal.signal(signal.SIGALRM, before)


@needs_compiler
def test_what_a_function_raises_comes_out_as_it_is():
    system = pendulum("drive_moment", lambda s: s.add_input("drive_moment", units="Nm"))
    sim = system.equations().compile(backend="c")

    def broken(t):
        if t > 0.2:
            raise LookupError("no such road")
        return 0.0

    with pytest.raises(LookupError, match="no such road"):
        sim.simulate(inputs={"drive_moment": broken})
    with pytest.raises(SystemExit):
        sim.simulate(inputs={"drive_moment": lambda t: sys.exit(3) if t > 0.2 else 0.0})
    assert sim.simulate(inputs={"drive_moment": 0.0}).ended == "finished"


@needs_compiler
def test_a_routine_that_waits_is_interrupted():
    system = pendulum(
        "m0*load(q(rod))",
        lambda s: s.add_external("load", arguments=("q",), python=lambda q: time.sleep(60) or 0.0),
        m0=1.0,
    )
    sim = system.equations().compile(backend="c")
    began = time.perf_counter()
    with pytest.raises(KeyboardInterrupt), signalled(0.1):
        sim.simulate()
    assert time.perf_counter() - began < 10


EARLY = """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Finder())
sys.argv = ["bellcrank", "describe", "nothing.py"]
from bellcrank.cli import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("name", "words"), [("bellcrank.cli.codes", ""), ("bellcrank.cli.describe", "interrupted\n")]
)
def test_an_interrupt_while_the_command_is_imported(name, words):
    """It ended in a traceback of imports."""
    done = subprocess.run(
        [sys.executable, "-c", EARLY.format(name=name)], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (130, words)


def test_an_interrupt_that_was_made_an_error_is_one(monkeypatch, capsys):
    """Extension modules answer an interrupt with an error of their own: it ended in a traceback."""

    def translated(_):
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    command = import_module("bellcrank.cli.main")
    monkeypatch.setattr(command, "make_parser", translated)
    assert command.main(["count", "model.py"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


LOST = """
import signal, sys, weakref
from bellcrank.cli import process_signals
class Thing: pass
def drop(_):
    signal.raise_signal(signal.SIGINT)
    signal.getsignal(signal.SIGINT)
with process_signals.signal_handling():
    try:
        things = [Thing()]
        kept = weakref.ref(things[0], drop)
        things.clear()
        for _ in range(10**9):
            pass
    except KeyboardInterrupt:
        print("heard")
"""


def test_an_interrupt_while_objects_are_cleared_away_is_heard():
    """What is raised in the callback of a weak reference is dropped by Python, and so was the
    interrupt."""
    done = subprocess.run([sys.executable, "-c", LOST], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("heard\n", "")


def test_an_interrupt_at_the_start_of_a_program_ends_it(monkeypatch):
    """One that came before the program was known left it running."""
    started, start = [], subprocess.Popen

    def interrupted(*given, **options):
        started.append(start(*given, **options))
        signal.raise_signal(signal.SIGINT)
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_program(["sleep", "1000"], None)
    ends(started[0].pid)


@needs_compiler
def test_an_interrupt_ends_a_compiler_with_what_it_started(tmp_path, monkeypatch):
    hangs = tmp_path / "hangs"
    hangs.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo "hanging cc 1.0" && exit 0\nsleep 1000 & '
        f"echo $! > {tmp_path}/pid; wait\n"
    )
    hangs.chmod(0o755)
    monkeypatch.setenv("CC", str(hangs))
    monkeypatch.setenv("BELLCRANK_CACHE", str(tmp_path / "cache"))
    equations, written = pendulum().equations(), tmp_path / "pid"
    with (
        pytest.raises(KeyboardInterrupt),
        signalled(0, when=lambda: written.exists() and written.read_text()),
    ):
        equations.compile(backend="c")
    ends(int(written.read_text()))
    assert os.listdir(tmp_path / "cache") == []


COMPILER = """#!/bin/sh
[ "$1" = --version ] && echo "slow cc 1.0" && exit 0
sh -c 'echo $$ > PIDS; exec sleep 1000' &
wait
"""


@pytest.mark.parametrize(
    ("number", "code", "last"),
    [
        (signal.SIGTERM, 143, ["terminated"]),
        pytest.param(signal.SIGHUP, 129, ["the terminal was closed"], marks=pytest.mark.campaign),
        pytest.param(signal.SIGINT, 130, ["interrupted"], marks=pytest.mark.campaign),
        pytest.param(signal.SIGKILL, -9, [], marks=pytest.mark.campaign),
    ],
)
def test_compilers_end_with_the_command(number, code, last, tmp_path):
    """A compiler is a session of processes: those it had started lived on after SIGTERM and
    SIGKILL. Batch systems end jobs by SIGTERM, which left hidden files."""
    pids, compiler = tmp_path / "pids", tmp_path / "slow-cc"
    compiler.write_text(COMPILER.replace("PIDS", str(pids)))
    compiler.chmod(0o755)
    model = Path(__file__).parents[3] / "examples" / "cart.py"
    env = {**os.environ, "CC": str(compiler), "BELLCRANK_CACHE": str(tmp_path / "cache")}
    process = subprocess.Popen(
        [sys.executable, "-m", "bellcrank", "run", str(model), "--out", str(tmp_path / "r.csv")],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(
            signal.SIGHUP, signal.SIG_DFL
        ),  # tests may run under nohup
    )
    while not (pids.exists() and pids.read_text().strip()):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    _, told = process.communicate(timeout=120)
    assert process.returncode == code
    assert told.splitlines()[-1:] == last
    ends(int(pids.read_text()))
    if (
        number != signal.SIGKILL
    ):  # equations that were derived are kept; of the library nothing is left
        assert [
            name for name in os.listdir(tmp_path / "cache") if not name.startswith("model-")
        ] == []
    assert {p.name for p in tmp_path.iterdir()} == {"pids", "slow-cc", "cache"}
