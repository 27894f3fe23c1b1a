"""Libraries of a unit for one or several platforms: by the C compiler of the machine, or by zig for
others.

In:  the sources. Out: bytes by their places in the folder `build_binaries`.
"""

from __future__ import annotations

import platform
import struct
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from bellcrank.core.errors import BuildError, ModelError, did_you_mean, issue_warning
from bellcrank.export.fmu.sources import fmi_header, main_file
from bellcrank.simulation.backend.compiler import NO_COMPILER, ZIG, find_compiler
from bellcrank.simulation.backend.processes import ProcessTimeout, compile_time_limit, run_program

TARGETS = {  # what zig calls the platforms of FMI 3
    "x86_64-linux": "x86_64-linux-gnu.2.17",
    "aarch64-linux": "aarch64-linux-gnu.2.17",
    "x86_64-windows": "x86_64-windows-gnu",
    "x86_64-darwin": "x86_64-macos",
    "aarch64-darwin": "aarch64-macos",
}
FMI2 = {
    "x86_64-linux": "linux64",
    "x86_64-windows": "win64",
    "x86_64-darwin": "darwin64",
}  # the others as in FMI 3
ENDINGS = {"linux": ".so", "windows": ".dll", "darwin": ".dylib"}
MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
SYSTEMS = {"linux": "linux", "darwin": "darwin", "win32": "windows"}
# products and sums are rounded one by one, and sines found in one way: the same digits on every
# platform
FLAGS = (
    "-std=c99",
    "-O2",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-DSINCOS_BY_TABLE=0",
    "-shared",
    "-fvisibility=hidden",
)
PROCESSORS = {
    "x86_64-darwin": (0x01000007, 3),
    "aarch64-darwin": (0x0100000C, 0),
}  # of a file for several: type, subtype
PAGE = 1 << 14  # at which its parts begin


def host_platform() -> str:
    """The platform of this machine by its name in FMI 3."""
    machine, system = MACHINES.get(platform.machine().lower()), SYSTEMS.get(sys.platform)
    return f"{machine}-{system}" if machine and system else ""


def platforms_of(requested: str | Sequence[str]) -> tuple[str, ...]:
    """The platforms that are asked for: "host", "all", "sources" for none, or names."""
    if requested == "host":
        return ("host",)
    if requested == "sources":
        return ()
    names = (
        [*TARGETS]
        if requested == "all"
        else requested.split(",")
        if isinstance(requested, str)
        else [*requested]
    )
    listed = tuple(dict.fromkeys(str(x).strip() for x in names))
    for name in listed:
        if name not in ("host", *TARGETS):
            choices = ", ".join(("host", "all", "sources", *TARGETS))
            raise ModelError(
                f"platform {name!r} is not known; platforms are "
                f"{choices}.{did_you_mean(name, TARGETS)}"
            )
    return tuple(x for x in listed if x != host_platform() or "host" not in listed)


def build_binaries(
    files: Mapping[str, str], stem: str, version: int, platforms: Sequence[str]
) -> dict[str, bytes]:
    """The libraries by their places. One that zig cannot make is reported, and the rest
    continues."""
    libraries: dict[str, bytes] = {}
    for name in platforms:
        try:
            libraries[host_platform() if name == "host" else name] = _build_library(
                files, stem, version, name
            )
        except BuildError as error:
            if name == "host":
                raise
            issue_warning(f"the unit is written without {name}: {error}")
    if platforms and not libraries:
        raise BuildError("none of the platforms could be built")
    return _archive_paths(libraries, stem, version, alone=tuple(platforms) == ("host",))


def _archive_paths(
    libraries: Mapping[str, bytes], stem: str, version: int, alone: bool
) -> dict[str, bytes]:
    """Libraries in the folders in which importers look for them."""
    files = {}
    for name, library in libraries.items():
        ending = ENDINGS[name.split("-")[1]]
        files[f"{FMI2.get(name, name) if version == 2 else name}/{stem}{ending}"] = library
    if (
        version == 2 and alone and "aarch64-linux" in libraries
    ):  # where importers on such machines look
        files[f"linux64/{stem}.so"] = libraries["aarch64-linux"]
    if version == 2 and any(
        name in libraries for name in PROCESSORS
    ):  # likewise: one file for both processors
        slices = {name: libraries[name] for name in PROCESSORS if name in libraries}
        files[f"darwin64/{stem}.dylib"] = (
            universal_binary(slices) if len(slices) > 1 else next(iter(slices.values()))
        )
    return dict(sorted(files.items()))


def universal_binary(libraries: Mapping[str, bytes]) -> bytes:
    """Libraries of a Mac for several processors as one file."""
    head, body = struct.pack(">II", 0xCAFEBABE, len(libraries)), b""
    for name, library in libraries.items():
        head += struct.pack(
            ">IIIII", *PROCESSORS[name], PAGE + len(body), len(library), PAGE.bit_length() - 1
        )
        body += library + bytes(-len(library) % PAGE)
    return head + bytes(PAGE - len(head)) + body


def _build_library(files: Mapping[str, str], stem: str, version: int, name: str) -> bytes:
    """The library of a platform."""
    command, target = _compiler_command(name)
    system = target.split("-")[1]
    library = f"{stem}{ENDINGS[system]}"
    bare = (
        ["-s"] if system == "linux" or name != "host" else []
    )  # the linker of a Mac does not know it any more
    flags = [*FLAGS, *(["-fPIC"] if system != "windows" else []), *bare]
    with tempfile.TemporaryDirectory(prefix="bellcrank-") as work:
        folder = Path(work)
        for file, text in (*files.items(), fmi_header(version)):
            (folder / file).write_text(text, encoding="utf-8", newline="\n")
        line = [*command, *flags, main_file(version), "-o", library, "-lm"]
        try:
            process = run_program(line, compile_time_limit(), folder)
        except OSError as error:
            raise BuildError(f"{command[0]} cannot be run: {error.strerror or error}") from None
        except ProcessTimeout:
            raise BuildError(f"{command[0]} was stopped, as it took too long") from None
        if process.code != 0 or not (folder / library).exists():
            messages = (
                (process.errors or process.output or f"exit code {process.code}")
                .strip()
                .splitlines()
            )
            raise BuildError(
                f"{' '.join(command)} could not compile the unit:\n" + "\n".join(messages[:20])
            )
        return (folder / library).read_bytes()


def _compiler_command(name: str) -> tuple[tuple[str, ...], str]:
    """How a compiler for a platform is called, and the name of that."""
    if name == "host":
        compiler = find_compiler()
        if compiler is None:
            raise BuildError(NO_COMPILER)
        if not host_platform():
            raise BuildError(
                f"FMI has no name for {platform.machine()} with {sys.platform}; write "
                f"platforms='sources'"
            )
        return compiler.command, host_platform()
    if find_spec("ziglang") is None:
        raise BuildError(
            "libraries for other platforms are made by the Python package ziglang: pip "
            "install ziglang"
        )
    return (*ZIG, "cc", "-target", TARGETS[name]), name
