"""Makes kernel.wasm, the kernel without a compiler: `python -m bellcrank.emit.wasm.make_kernel`.

It needs clang 14, lld 14 and the C library of WASI (Debian: clang-14, lld-14, wasi-libc), and gives the same bytes
wherever these are the same.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bellcrank.expr.function_table import CALLED
from bellcrank.kernel.text import Kernel

FOLDER = Path(__file__).parents[2] / "kernel"
NAME = "kernel.wasm"
CLANG = "clang-14"
MATH = (  # functions that models call
    "pow",
    *(
        f.name
        for f in CALLED.values()
        if not (f.syntax or f.macro or f.code.get("wasm") or f.text("javascript").helper or f.name == "sign")
    ),
)
FLAGS = (
    "--target=wasm32-wasi", "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-fno-math-errno", "-nostdlib",
    "-mbulk-memory", "-Wl,--no-entry", "-Wl,--export-table", "-Wl,--growable-table", "-Wl,--strip-all",
    "-Wl,--export=__heap_base", "-Wl,--export=kernel_functions", "-Wl,-z,stack-size=131072",
    *(f"-Wl,--export={name}" for name in MATH),
)  # fmt: skip


def missing() -> list[str]:
    """What is not there that it needs."""
    needed = [name for name in (CLANG, "wasm-ld-14") if shutil.which(name) is None]
    return needed if Path("/usr/lib/wasm32-wasi/libc.a").exists() else [*needed, "wasi-libc"]


def digest() -> str:
    """Of the text from which the module is made."""
    return hashlib.sha256(Kernel({"LINKED": 1}).take("web.c").encode()).hexdigest()


def made() -> bytes:
    """The module."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / NAME
        own = f'-DDIGEST="{digest()}"'
        subprocess.run([CLANG, *FLAGS, own, "web.c", "-lc", "-o", str(found)], cwd=FOLDER, check=True)
        return found.read_bytes()


if __name__ == "__main__":
    if missing():
        sys.exit(f"{NAME} is not made: {', '.join(missing())} is not there")
    (FOLDER / NAME).write_bytes(made())
    print(f"{NAME}: {(FOLDER / NAME).stat().st_size} bytes")
