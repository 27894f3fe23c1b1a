"""`python -m website`: builds the site."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from website.build import build
from website.gallery import example_files


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m website", description="The documentation as a static site."
    )
    parser.add_argument(
        "--out",
        default="build/site",
        metavar="FOLDER",
        help="where it is built (default build/site)",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="NAME",
        help="examples of the gallery (default: all)",
    )
    args = parser.parse_args()
    problems = build(
        Path(args.out), example_files(args.only), tell=lambda what: print(what, flush=True)
    )
    for sentence in problems:
        print(f"problem: {sentence}", file=sys.stderr)
    if problems:
        return 1
    print(f"open {(Path(args.out) / 'html' / 'index.html').resolve().as_uri()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
