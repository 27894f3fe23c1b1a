"""Locks of open files and folders, where the system has them. A lock ends with the process that
holds it."""

from __future__ import annotations

try:
    import fcntl

    LOCKS = True
except ImportError:  # Windows
    LOCKS = False


def try_lock(descriptor: int, wait: bool = False) -> bool | None:
    """Locks what was opened: False if another has it, None where there are no locks."""
    if not LOCKS:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:  # a disk without locks
        return None
    return True
