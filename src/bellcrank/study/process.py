"""A worker process of this machine: `python -m bellcrank.study.process ADDRESS`, started and watched over by `local`.

It ends as soon as the process that started it ends, however that came about: its standard input is then closed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


async def _serve(address: str) -> None:
    from distributed import Worker

    async with Worker(
        address, nthreads=1, host="127.0.0.1", dashboard=False, dashboard_address="127.0.0.1:0", memory_limit=0,
        death_timeout=60
    ) as worker:  # fmt: skip
        await worker.finished()


def main() -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    import distributed  # noqa: F401  which sets up its own logging

    import bellcrank.study.worker  # noqa: F401  so that the first task need not wait for it

    for name in ("distributed", "distributed.worker", "distributed.core"):
        logging.getLogger(name).setLevel(logging.ERROR)

    asyncio.run(_serve(sys.argv[1]))


if __name__ == "__main__":
    main()
