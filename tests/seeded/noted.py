"""A plugin of pytest for seeded faults: it runs chosen tests in a given order and notes what they
did.

It writes a line of JSON for each test: its name, seconds, and whether it failed. With the recorder
in the process, it says which test runs.
"""

import json
import os
import sys
from pathlib import Path

NOTES = "BELLCRANK_TEST_NOTES"  # the file, from the environment
CHOSEN = "BELLCRANK_TEST_CHOSEN"  # a file with names of tests, in their order; all without it
_begin = getattr(sys.modules.get("sitecustomize"), "begin", lambda name: None)


def _note(name, seconds, failed):
    with Path(os.environ[NOTES]).open("a", encoding="utf-8") as file:
        file.write(json.dumps({"test": name, "seconds": seconds, "failed": failed}) + "\n")


def pytest_collectstart(collector):
    if collector.nodeid.endswith(".py"):
        _begin(collector.nodeid)


def pytest_collection_modifyitems(items):
    if CHOSEN in os.environ:
        order = {
            name: k
            for k, name in enumerate(
                json.loads(Path(os.environ[CHOSEN]).read_text(encoding="utf-8"))
            )
        }
        items[:] = sorted((x for x in items if x.nodeid in order), key=lambda x: order[x.nodeid])


def pytest_runtest_logstart(nodeid):
    _begin(nodeid)


def pytest_runtest_logreport(report):
    _note(report.nodeid, report.duration, report.failed)


def pytest_collectreport(report):
    if report.failed:
        _note(report.nodeid, 0.0, True)
