"""Code for a Cortex-M7, made by zig and run in an emulator: Unicorn, which is QEMU's processor
without a machine.

Its M profile does not let floating-point units be switched on, so the same instructions run on its
largest ARM core.
"""

import ctypes
import struct
import subprocess
import sys

TARGET = ("-target", "thumb-linux-musleabihf", "-mcpu=cortex_m7+fp_armv8d16")
STACK, RAM, BACK, ROOM = 0x20000000, 0x20200000, 0x08000000, 1 << 20


def built(folder, stem):
    """The model with a C library in one file, whose functions are called by their addresses."""
    calls = "".join(f"    {stem}_{f}(&m);\n" for f in ("defaults", "begin", "tune"))
    main = (
        f'#include "{stem}.h"\nstatic {stem}_model m;\nint '
        f"main(void)\n{{\n{calls}    return {stem}_step(&m);\n}}\n"
    )
    (folder / "board.c").write_text(main, encoding="utf-8")
    compiled(folder, "board.elf", "board.c", f"{stem}.c")
    return folder / "board.elf"


def compiled(folder, program, *sources):
    """Makes a program for the processor, strictly."""
    flags = [
        "-std=c99",
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-ffp-contract=off",
        "-static",
        "-fno-sanitize=all",
    ]
    command = [
        sys.executable,
        "-m",
        "ziglang",
        "cc",
        *TARGET,
        *flags,
        *sources,
        "-o",
        program,
        "-lm",
    ]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=1800)


class Board:
    """A model in the memory of the emulator."""

    def __init__(self, unicorn, file, stem):
        from unicorn import arm_const as arm

        self.arm, self.stem, self.instructions = arm, stem, 0
        listed = subprocess.run(
            ["nm", str(file)], capture_output=True, text=True, check=True
        ).stdout
        self.place = {
            x[2]: int(x[0], 16) for x in map(str.split, listed.splitlines()) if len(x) == 3
        }
        self.core = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB)
        self.core.ctl_set_cpu_model(arm.UC_CPU_ARM_MAX)
        self._load(file.read_bytes())
        for start in (STACK, RAM, BACK):
            self.core.mem_map(start, ROOM)
        access = self.core.reg_read(arm.UC_ARM_REG_C1_C0_2)
        self.core.reg_write(arm.UC_ARM_REG_C1_C0_2, access | 0xF << 20)
        self.core.reg_write(arm.UC_ARM_REG_FPEXC, 1 << 30)
        self.core.hook_add(unicorn.UC_HOOK_CODE, self._counted)

    def _counted(self, *_):
        self.instructions += 1

    def _load(self, elf):
        start, size, count = *struct.unpack_from("<I", elf, 28), *struct.unpack_from("<HH", elf, 42)
        pages = set()
        for i in range(count):
            kind, offset, to, _, length, room, _, _ = struct.unpack_from(
                "<8I", elf, start + i * size
            )
            if kind == 1:  # to be loaded
                for page in {*range(to >> 12, (to + room + 4095) >> 12)} - pages:
                    self.core.mem_map(page << 12, 4096)
                    pages.add(page)
                self.core.mem_write(to, elf[offset : offset + length])

    def call(self, what):
        """Calls a function of the model; what it returns, and how many instructions it took."""
        for register, value in (("SP", STACK + ROOM - 256), ("LR", BACK | 1), ("R0", RAM)):
            self.core.reg_write(getattr(self.arm, f"UC_ARM_REG_{register}"), value)
        self.instructions = 0
        self.core.emu_start(self.place[f"{self.stem}_{what}"] | 1, BACK)
        return self.core.reg_read(self.arm.UC_ARM_REG_R0), self.instructions

    def model(self, structure):
        """The structure as it stands in the memory."""
        return structure.from_buffer_copy(bytes(self.core.mem_read(RAM, ctypes.sizeof(structure))))
