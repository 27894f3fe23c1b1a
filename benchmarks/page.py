"""Live pages: how long and large they are, and the time of one right-hand side in node beside gcc.

    python benchmarks/page.py [EXAMPLE ...]

For each example: operations of a right-hand side, with those of its routines; kB of the page; CPU s to make it from the
derived equations, without any compiler; ns of a right-hand side as WebAssembly, as the JavaScript that a page makes of
it, and in C (gcc -O3 -march=native; "unfused": without fused operations, which WebAssembly has not), in the same
loop, in which each depends on the one before: the smallest of many short bursts, those of the four in turns. The loop
is of the same language; from JavaScript, a call of WebAssembly takes some 10 ns more.
"""

import ctypes
import json
import subprocess
import sys
import tempfile
import time
import warnings
from base64 import b64encode
from pathlib import Path

import numpy as np

import bellcrank as bc
from bellcrank.emit.arranged import arranged
from bellcrank.emit.browser import OPTIONS, browser_program
from bellcrank.emit.c.source import c_source
from bellcrank.emit.javascript.routines import routine_names
from bellcrank.emit.javascript.runtime_files import runtime
from bellcrank.emit.memory import SIZE
from bellcrank.emit.wasm import binary as b
from bellcrank.emit.wasm.functions import Functions
from bellcrank.run.evaluate import complete
from bellcrank.run.loaded import load

EXAMPLES = Path(__file__).parents[1] / "examples"
TURNS, CALLS = 60, 400
FLAGS = ("-std=gnu99", "-O3", "-march=native", "-fno-math-errno", "-fPIC", "-shared")
LOOP = """
#include <time.h>
double nanoseconds(const double *start, const double *p, const double *w, int calls)
{
    static double c[N_C + 1], y[N_Q + N_U + 1], k[N_Q + N_U + 1];
    struct timespec from, to;
    for (int i = 0; i < N_Q + N_U; i++) y[i] = start[i];
    constants(p, c);
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int n = 0; n < calls; n++) {
        derivatives(0.0, y, y + N_Q, p, c, w, k, k + N_Q, 0);
        y[0] = start[0] + 1e-12*k[N_Q + N_U - 1];
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    return ((to.tv_sec - from.tv_sec)*1e9 + (to.tv_nsec - from.tv_nsec))/calls;
}
"""
NODE = """
const lines = require("readline").createInterface({input: process.stdin}), value = text => (0, eval)(`(${text})`);
let kinds, m, d;
lines.on("line", line => {
  if (!kinds) {
    d = JSON.parse(line);
    const bytes = Uint8Array.from(atob(d.module), c => c.charCodeAt(0));
    const memory = new WebAssembly.Memory({initial: d.pages});
    m = new Float64Array(memory.buffer);
    const r = value(d.routines)(m), imports = {e: {memory}, m: Math, r};
    const looped = Uint8Array.from(atob(d.looped), c => c.charCodeAt(0));
    const wasm = new WebAssembly.Instance(new WebAssembly.Module(looped), imports).exports;
    const text = value(value(d.translate)(bytes))(m, r), {at} = d, first = at.y/8, last = at.k/8 + d.y.length - 1;
    kinds = [[wasm, wasm.loop], [text, (start, calls) => {
      for (let i = 0; i < calls; i++) {
        text.derivatives(0, at.y, at.k);
        m[first] = start + 1e-12*m[last];
      }
    }]];
    m.set(d.p, at.p/8);
  }
  const calls = Number(process.argv[1]);
  console.log(JSON.stringify(kinds.map(([e, loop]) => {
    m.set(d.y, d.at.y/8);
    e.constants();
    const from = process.hrtime.bigint();
    loop(d.y[0], calls);
    return Number(process.hrtime.bigint() - from)/calls;
  })));
});
"""


def operations(eom):
    found = eom.operation_count()
    return found["total"] + sum(r["total"] for r in found.get("routines", {}).values())


def with_loop(program, memory, n):
    """The module of a program of n states with the loop of `nanoseconds`, but for the clock: loop(start, calls)."""
    printed, at = Functions(program, memory, routine_names(program)), memory.at
    functions = printed.all(arranged(program, program.functions_of("minimal"), OPTIONS))
    rates = len(printed.imports) + [f.name for f in functions].index("derivatives")
    code = b"\x03\x40" + b.number(0.0) + b.i32(at["y"]) + b.i32(at["k"]) + b.call(rates)
    step = b.get(0) + b.number(1e-12) + b.i32(0) + b.load(at["k"] + SIZE * (n - 1)) + b.MUL + b.ADD
    code += b.i32(0) + step + b.store(at["y"])
    code += b.get(1) + b.i32(1) + b"\x6b" + b.tee(1) + b"\x0d\x00" + b.END  # i32.sub, br_if
    loop = b.Defined("loop", b.Type((b.F64, b.I32)), b.body([], code))
    return b.module(printed.imports, [*functions, loop], memory.pages, at["numbers"], printed.numbers.values)


def in_c(eom, p, y, folder, *flags):
    """A function that gives the ns of a burst."""
    source, library = folder / "model.c", folder / f"model{len(flags)}.so"
    source.write_text(c_source(eom.program) + LOOP, encoding="utf-8")
    subprocess.run(["gcc", *FLAGS, *flags, str(source), "-o", str(library), "-lm"], check=True)
    call = ctypes.CDLL(str(library)).nanoseconds
    call.restype = ctypes.c_double
    held = [np.array(x, float) for x in (y, p or [0.0], [0.0] * (len(eom.program.inputs) + 1))]
    return lambda: call(*(x.ctypes.data_as(ctypes.c_void_p) for x in held), CALLS)


def main():
    listed = sys.argv[1:] or sorted(x.stem for x in EXAMPLES.glob("*.py") if "def model(" in x.read_text())
    print(f"{'':28}{'operations':>11}{'kB':>8}{'CPU s':>8}{'wasm ns':>9}{'text':>8}{'C':>8}{'wasm/C':>8}{'unfused':>9}")
    for name in listed:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bc.ModelWarning)
            line(name)


def line(name):
    eom = bc.load_model(EXAMPLES / f"{name}.py").equations()
    begun = time.process_time()
    try:
        size = len(eom.page().text.encode()) / 1000
    except bc.ModelError as error:
        print(f"{name:28}{operations(eom):11}  {str(error).splitlines()[-1].strip()}")
        return
    print(f"{name:28}{operations(eom):11}{size:8.1f}{time.process_time() - begun:8.2f}", end="", flush=True)
    if eom.program.externals or eom.program.loops is not None:
        print()  # what they call in C is not in one function
        return
    made = browser_program(eom.program)
    loaded = load(eom.analysis, eom.interface, eom.program, "python", {})
    y, p = np.concatenate(complete(loaded)).tolist(), list(map(float, loaded.parameter_values()))
    given = {"module": b64encode(made.module).decode(), "pages": made.memory.pages, "at": dict(made.memory.at)}
    given |= {"routines": made.routines, "translate": runtime("translate.js"), "p": p, "y": y}
    given["looped"] = b64encode(with_loop(eom.program, made.memory, len(y))).decode()
    node = subprocess.Popen(["node", "-e", NODE, str(CALLS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert node.stdin is not None and node.stdout is not None
    best = [np.inf] * 4
    with tempfile.TemporaryDirectory() as folder, node:
        c, unfused = in_c(eom, p, y, Path(folder)), in_c(eom, p, y, Path(folder), "-ffp-contract=off")
        for i in range(TURNS):
            node.stdin.write((json.dumps(given) if i == 0 else "") + "\n")
            node.stdin.flush()
            best = np.minimum(best, [*json.loads(node.stdout.readline()), c(), unfused()])
        node.stdin.close()
    listed = "".join(f"{x:{w}.0f}" for x, w in zip(best, (9, 8, 8), strict=False))
    print(listed, f"{best[0] / best[2]:7.2f}{best[0] / best[3]:9.2f}")


if __name__ == "__main__":
    main()
