"""Makes kernel.wasm, the kernel without a compiler, and those of pages: `python -m
bellcrank.codegen.wasm.make_kernel`.

Those of pages are small: fixed steps alone, of closed loops, linkages and events what a model
needs, and mathematical functions of the browser but for sines and those that browsers lack. It
needs clang 14, lld 14 and the C library of WASI (Debian: clang-14, lld-14, wasi-libc), and gives
the same bytes wherever these are the same.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bellcrank.codegen.browser import PAGE_KERNELS
from bellcrank.codegen.c.kernel_tables import require_current_tables
from bellcrank.codegen.wasm.kernel_module import source_digest
from bellcrank.symbolic.expr.function_table import BROWSER_MATH, CALLED

FOLDER = Path(__file__).parents[2] / "kernel"
CLANG = "clang-14"
MATH = (  # functions that models call
    "pow",
    *(
        f.name
        for f in CALLED.values()
        if not (
            f.syntax
            or f.macro
            or f.code.get("wasm")
            or f.translation("javascript").helper
            or f.name == "sign"
        )
    ),
)
FLAGS = (
    "--target=wasm32-wasi",
    "-std=c99",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-fno-math-errno",
    "-nostdlib",
    "-mbulk-memory",
    "-Wl,--no-entry",
    "-Wl,--export-table",
    "-Wl,--growable-table",
    "-Wl,--strip-all",
)


def _from_library(names: Sequence[str]) -> tuple[str, ...]:
    """Flags that bring functions of the C library into a module, for models that call them."""
    return ("-lc", *(f"-Wl,--export={name}" for name in names)) if names else ()


WHOLE = (
    "web.c",
    "-O2",
    "-Wl,--export=__heap_base",
    "-Wl,--export=kernel_functions",
    "-Wl,-z,stack-size=131072",
    *_from_library(MATH),
)
PAGE = (
    "page.c",
    "-DPAGE",
    "-Oz",
    "-mllvm",
    "-disable-lsr",
    "-fno-strict-aliasing",
    "-Wno-unused-function",
    "-Wl,--allow-undefined",
    "-Wl,-z,stack-size=32768",
    "-Wl,--initial-memory=65536",
    *_from_library([name for name in MATH if name not in BROWSER_MATH]),
)
PARTS = ("LOOPS", "BRIDGES", "LINKAGES", "GROUND", "LOOKS", "WHEELS")
KERNELS = {
    "kernel.wasm": WHOLE,
    **{
        f"{name}.wasm": (*PAGE, *(f"-DHAS_{part}={int(part in parts)}" for part in PARTS))
        for name, parts in PAGE_KERNELS.items()
    },
}


def missing_tools() -> list[str]:
    """What is not there that it needs."""
    missing_tools = [name for name in (CLANG, "wasm-ld-14") if shutil.which(name) is None]
    return (
        missing_tools
        if Path("/usr/lib/wasm32-wasi/libc.a").exists()
        else [*missing_tools, "wasi-libc"]
    )


def build_module(name: str) -> bytes:
    """A module."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / name
        digest_flag = f'-DDIGEST="{source_digest()}"'
        subprocess.run(
            [CLANG, *FLAGS, digest_flag, *KERNELS[name], "-o", str(output)], cwd=FOLDER, check=True
        )
        return output.read_bytes()


if __name__ == "__main__":
    if missing_tools():
        sys.exit(f"the kernel is not made: {', '.join(missing_tools())} is not there")
    require_current_tables()
    for each in KERNELS:
        (FOLDER / each).write_bytes(build_module(each))
        print(f"{each}: {(FOLDER / each).stat().st_size} bytes")
