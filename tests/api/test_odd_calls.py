"""Thousands of calls with an odd argument: each gives a result or one clear message, soon."""

import signal

import pytest

from tests.api.odd_calls import odd_calls, tried

pytestmark = pytest.mark.skipif(not hasattr(signal, "ITIMER_PROF"), reason="needs timers of POSIX")


@pytest.mark.parametrize(
    ("every", "first"),
    [(101, 7), *(pytest.param(4, k, marks=pytest.mark.campaign) for k in range(4))],
)
def test_odd_calls(every, first, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    counts, wrong = tried(every, first)
    print(f"\n{dict(counts)}")
    assert not wrong, "\n".join(f"{name}: {found}" for name, found in wrong.items())
    assert sum(counts.values()) >= sum(1 for _ in odd_calls()) // every
    assert counts["accepted"] and counts["refused"]
    assert not [*tmp_path.iterdir()]
