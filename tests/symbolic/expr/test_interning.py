"""Equal expressions are one object, also when threads make them at once; what nobody uses goes."""

import gc
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from bellcrank.symbolic.expr import Symbol, add, mul
from bellcrank.symbolic.expr.node import _references

THREADS = 4


def _ladder(name, rungs=200):
    """A deep expression that no other test makes."""
    e = Symbol(f"{name}0", "coordinate")
    for i in range(1, rungs):
        s = Symbol(f"{name}{i}", "coordinate")
        e = add(mul(e, e, s), s)
    return e


def test_what_nobody_uses_goes():
    gc.collect()
    before = len(_references)
    e = _ladder("gone")
    made = len(_references) - before
    del e
    assert made > 400
    assert len(_references) == before


def test_a_node_that_went_can_be_made_again():
    text = str(_ladder("again", 5))
    one, other = _ladder("again", 5), _ladder("again", 5)
    assert one is other
    assert str(one) == text


def test_threads_make_one_object():
    barrier = Barrier(THREADS)

    def make(_):
        barrier.wait()
        return [_ladder(f"shared {i} ", 30) for i in range(20)]

    for _ in range(5):  # what is made goes after each round, and is made again
        with ThreadPoolExecutor(THREADS) as pool:
            made = list(pool.map(make, range(THREADS)))
        assert all(a is b for other in made[1:] for a, b in zip(made[0], other, strict=True))
