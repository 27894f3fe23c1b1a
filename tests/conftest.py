"""Compiled models of the tests: plain arithmetic that agrees to the last digits, kept beside pytest's own cache."""

import os


def pytest_configure(config):
    os.environ.setdefault("BELLCRANK_CFLAGS", "-O1 -ffp-contract=off")
    cache = getattr(config, "cache", None)
    if cache is not None:
        folder = cache.mkdir("bellcrank")
        folder.chmod(0o700)  # whatever the mask of this user: others may not write to a cache
        os.environ.setdefault("BELLCRANK_CACHE", str(folder))
