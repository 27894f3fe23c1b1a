"""Processes that tests start and end."""

import time

import psutil


def alive(pid):
    """Does a process continue? One that has ended may wait for somebody who asks for its exit
    code."""
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def ends(pid, seconds=5.0):
    """Waits for the end of a process; fails if it does not end."""
    limit = time.monotonic() + seconds
    while alive(pid):
        assert time.monotonic() < limit, f"process {pid} continues"
        time.sleep(0.02)
