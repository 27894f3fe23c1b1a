"""A plugin of pytest that writes a line of JSON for each test: its name, seconds, and whether it failed."""

import json
import os
from pathlib import Path

NOTES = "BELLCRANK_TEST_NOTES"  # the file, from the environment


def _note(name, seconds, failed):
    with Path(os.environ[NOTES]).open("a", encoding="utf-8") as file:
        file.write(json.dumps({"test": name, "seconds": seconds, "failed": failed}) + "\n")


def pytest_configure(config):
    if hasattr(config, "workerinput"):  # what a process of xdist reports is noted once, by who started it
        config.pluginmanager.unregister(name=__name__)


def pytest_runtest_logreport(report):
    _note(report.nodeid, report.duration, report.failed)


def pytest_collectreport(report):
    if report.failed:
        _note(report.nodeid, 0.0, True)
