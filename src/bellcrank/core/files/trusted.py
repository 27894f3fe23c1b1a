"""Files that only this user can have written: what may be loaded as code.

A file is trusted if it, its folder and every folder above belong to this user (folders above: or to
root), and nobody else may write to them. Then nobody else can exchange it between the check and its
use either, so that the path stays good after the check. Where the system has no owners and modes
(Windows), everything is trusted.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

POSIX = os.name == "posix"
_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_OPEN = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC")
)


def folder_access_problem(folder: Path, above: bool = True) -> str:
    """Why others could put files of theirs into a folder, or exchange it; "" if they cannot.

    The folder must be a resolved path: a link on the way could be exchanged. `above`: look at the
    folders above, too.
    """
    if not POSIX:
        return ""
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode):
        return "it is not a folder"
    if status.st_uid != os.geteuid():
        return "it belongs to another user"
    if status.st_mode & _OTHERS:
        return "others can write to it"
    for parent in folder.parents if above else ():
        status = os.lstat(parent)
        if status.st_uid not in (0, os.geteuid()):
            return f"{parent} above it belongs to another user"
        if (
            status.st_mode & _OTHERS
            and not status.st_mode & stat.S_ISVTX
            and not _is_private_group(status)
        ):
            return f"others can write to {parent} above it"
    return ""


def read_trusted(path: Path) -> bytes | None:
    """The content of a file in a folder that `folder_access_problem` found closed; None if it is
    missing or not trusted.

    Owner and mode are those of the file that is read, not of what its name stands for a moment
    before or after.
    """
    try:
        descriptor = os.open(path, _OPEN)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        ours = not POSIX or (status.st_uid == os.geteuid() and not status.st_mode & _OTHERS)
        if not ours or not stat.S_ISREG(status.st_mode):
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            return stream.read()
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _is_private_group(status: os.stat_result) -> bool:
    """Is a folder writable by a group in which nobody is but its owner? Many systems give each user
    one."""
    import grp
    import pwd

    if status.st_mode & stat.S_IWOTH or status.st_uid != os.geteuid():
        return False
    try:
        group, user = grp.getgrgid(status.st_gid), pwd.getpwuid(status.st_uid)
    except KeyError:
        return False
    return (
        group.gr_name == user.pw_name
        and group.gr_gid == user.pw_gid
        and not {*group.gr_mem} - {user.pw_name}
    )
