"""Programs for other processors, which run in QEMU where this machine is another one."""

import platform
import shutil

import pytest


def emulator(processor):
    """The words before a program for a processor of Linux; the test is skipped without QEMU."""
    if platform.machine() == processor:
        return []
    found = shutil.which(f"qemu-{processor}") or shutil.which(f"qemu-{processor}-static")
    if found is None:
        pytest.skip(f"there is no qemu-{processor}: it comes with qemu-user, or qemu-user-static")
    return [found]
