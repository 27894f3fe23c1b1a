"""The modules of the kernel in WebAssembly, kernel.wasm and those of pages: read, and compared with
the text of the kernel.

A module carries the digest of the text that it was made of. `make_kernel` makes them again.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from bellcrank.codegen.c.kernel_tables import require_current_tables
from bellcrank.core.errors import BellcrankError
from bellcrank.kernel.text import Kernel

COMMAND = "python -m bellcrank.codegen.wasm.make_kernel"
TOOLS = "clang-14, lld-14 and wasi-libc"


@cache
def source_digest() -> str:
    """Of the text from which the modules are made."""
    return hashlib.sha256(Kernel({"LINKED": 1}).take("page.c").encode()).hexdigest()[:16]


@cache
def kernel_module(name: str) -> bytes:
    """The file NAME.wasm; complains if it was made of an older text than that of the kernel now."""
    require_current_tables()
    module = files("bellcrank.kernel").joinpath(f"{name}.wasm").read_bytes()
    if source_digest().encode() not in module:
        raise BellcrankError(
            f"{name}.wasm is older than the source of the kernel: run {COMMAND}, which needs "
            f"{TOOLS}"
        )
    return module
