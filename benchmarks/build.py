"""Seconds of the processor until a model can run: derivation, printing of C, and the compiler's, of
chains of links and of a body under a force of 1,500 terms: a Fourier sum, the length of a vector,
and a root of squares, which Python adds one by one.

    python benchmarks/build.py [--quick] [LINKS ...]

Both should grow linearly with the number of links. "first" are the seconds that a chain of 100 once
took, by the clock of an idle machine: derived in 24, compiled in 48. Times are those of this
process and of the compiler, which others on the machine do not change much. --quick has
`compile(speed="quick")`. Libraries are made in a folder of their own, not taken from the cache.
"""

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path
from runpy import run_path

import bellcrank as bc

TERMS = 1500
CHAIN = Path(__file__).parents[1] / "examples" / "n_link_chain.py"
FIRST = {100: (24.0, 48.0)}  # derived, compiled


def children():
    """Seconds of the processor that programs started from here have taken."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def wave(i):
    """A term of a sum, as text."""
    return f"{(i * 37 % 101) / 100 - 0.5}*sin({i}*t + {i / 10})"


EACH = range(1, TERMS + 1)
SUMS = {
    "sum": lambda t: " + ".join(map(wave, EACH)),
    "length": lambda t: f"mag({' + '.join(f'{wave(i)}*[n{i % 3 + 1}]' for i in EACH)})",
    "root": lambda t: bc.sqrt(
        sum((((i * 37 % 101) / 100 - 0.5) * bc.sin(i * t + i / 10)) ** 2 for i in EACH)
    ),
}


def long_sum(magnitude):
    """A body under a force of many terms."""
    s = bc.System("long", units="mks")
    body = s.add_body("body", translate=1, mass=1)
    s.add_force("f", magnitude=magnitude(s.expr("t")), direction=s.inertial[1], at=body.cm)
    return s


def figures(model, speed):
    """Seconds of derivation, printing, compiler; operations."""
    start = time.process_time()
    eom = model().equations()
    derived, before = time.process_time(), children()
    eom.compile(backend="c", speed=speed)
    return (
        derived - start,
        time.process_time() - derived,
        children() - before,
        eom.operation_count()["total"],
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("links", nargs="*", type=int, default=[25, 50, 100, 200])
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    model, speed = run_path(str(CHAIN))["model"], "quick" if given.quick else "fast"
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BELLCRANK_CACHE"] = folder
        model(n=2).equations().compile(
            backend="c", speed=speed
        )  # imports, and a look for the compiler
        print(
            f"{'':>6}{'operations':>12}{'derived':>10}{'first':>7}{'printed':>10}{'compiler':>10}{'first':>7}"
        )
        for links in given.links:
            tell(
                str(links),
                figures(lambda n=links: model(n=n), speed),
                FIRST.get(links, (None, None)),
            )
        for kind, magnitude in SUMS.items():
            tell(kind, figures(lambda m=magnitude: long_sum(m), speed), (None, None))


def tell(what, found, first):
    derived, printed, compiled, operations = found
    told = ["" if x is None else f"{x:.0f}" for x in first]
    print(
        f"{what:>6}{operations:12}{derived:10.2f}{told[0]:>7}{printed:10.2f}{compiled:10.2f}{told[1]:>7}",
        flush=True,
    )


if __name__ == "__main__":
    main()
