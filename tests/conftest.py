"""Derived and compiled models of the tests: plain arithmetic that agrees to the last digits, kept
in pytest's own cache.

Failures are reported when they happen, in a word, next to all that is reported at the end.
"""

import gc
import os
import signal
import sys
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from bellcrank.core.errors import BellcrankError
from bellcrank.simulation.backend.compiler import NO_COMPILER, find_compiler

# The same examples everywhere, and no limit of time: how long one takes says something of the
# machine.
settings.register_profile(
    "same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("same")

WANTED = (NO_COMPILER, "is given in C or Fortran alone", "have no address for programs in C")
COMPILERS = ("cc", "gcc", "clang", "g++", "gfortran")

# Neither numbers found in the text of whatever modules are imported: others elsewhere, and five
# seconds of reading.
providers.is_local_module_file = lambda path: False

# Modules are translated once, whatever the shell says: rewriting every test takes six seconds a
# process.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(trylast=True)  # there is a reporter then
def pytest_configure(config):
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # processes of the background are born deaf to it
    level = (
        "-O1" if config.option.markexpr == "campaign" else "-O0"
    )  # short runs: compiling takes longest
    os.environ.setdefault("BELLCRANK_CFLAGS", f"{level} -ffp-contract=off")
    if find_compiler() is None:  # models run in WebAssembly then, with a warning each
        config.addinivalue_line("filterwarnings", "ignore:.*there is no C compiler")
    cache = getattr(config, "cache", None)
    if cache is not None:
        folder = cache.mkdir("bellcrank")
        folder.chmod(0o700)  # whatever the mask of this user: others may not write to a cache
        os.environ.setdefault("BELLCRANK_CACHE", str(folder))
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(AtOnce(reporter))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    # what is collected stays to the end: a sixth of the time goes into looking at it again and
    # again
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        # old, not frozen for good: `no_collection` leaves what others have frozen alone
        gc.unfreeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    from bellcrank.api.system import System

    # Many tests derive the same model; long ones thousands that are their own. A test that replaces
    # parts of the package must neither find nor leave one.
    System._caches_equations = (
        "monkeypatch" not in item.fixturenames and item.get_closest_marker("campaign") is None
    )
    with _compilers():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    with _compilers():
        return (yield)


@contextmanager
def _compilers():
    """Skips what asks for a compiler on a machine that has none."""
    try:
        yield
    except (BellcrankError, FileNotFoundError, AttributeError) as error:
        missing = (
            any(x in str(error) for x in WANTED) or getattr(error, "filename", None) in COMPILERS
        )
        of_none = (
            isinstance(error, AttributeError)
            and error.obj is None
            and error.name in ("command", "fast", "gnu")
        )
        if (missing or of_none) and find_compiler() is None:
            pytest.skip("there is no C compiler")
        raise


class AtOnce:
    """Reports failures while other tests still run."""

    def __init__(self, reporter):
        self.reporter = reporter

    def pytest_runtest_logreport(self, report):
        if report.failed:
            said = [line for line in report.longreprtext.splitlines() if line.startswith("E ")]
            self.reporter.ensure_newline()
            self.reporter.write_line("\n".join([f"FAILED {report.nodeid}", *said[:12]]), red=True)
