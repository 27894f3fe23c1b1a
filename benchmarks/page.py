"""Live pages: how long and large they are, and the time of one right-hand side in node beside gcc.

    python benchmarks/page.py [EXAMPLE ...]

For each example: operations of a right-hand side, with those of its routines; kB of the page; CPU s to make it from the
derived equations, without any compiler; ns of a right-hand side as WebAssembly, as the JavaScript that a page makes of
it, and in C (gcc -O3 -march=native), all in the same loop of steps of Euler's method, so that nothing can be left out or
computed only once: the smallest of many short bursts, those of all in turns. The loop is of the same language; from
JavaScript, a call of WebAssembly takes some 10 ns more. Then ratios to C, and to C without fused operations, which
WebAssembly has not.
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
from bellcrank.emit.memory import SIZE, memory_of
from bellcrank.emit.wasm import binary as b
from bellcrank.emit.wasm.functions import RATES, Functions
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
        for (int i = 0; i < N_Q + N_U; i++) y[i] += 1e-12*k[i];
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    return ((to.tv_sec - from.tv_sec)*1e9 + (to.tv_nsec - from.tv_nsec))/calls;
}
"""
NODE = """
const lines = require("readline").createInterface({input: process.stdin}), value = text => (0, eval)(`(${text})`);
let kinds, d;
lines.on("line", line => {
  if (!kinds) {
    d = JSON.parse(line);
    const {at} = d, stage = at.stage/8, rates = at.rates/8, n = d.y.length;
    const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
    const made = use => {
      const memory = new WebAssembly.Memory({initial: d.pages}), m = new Float64Array(memory.buffer);
      m.set(d.p, at.p/8);
      return [m, ...use(memory, m, value(d.routines)(m))];
    };
    kinds = d.looped.map(text => made((memory, m, r) => {
      const e = new WebAssembly.Instance(new WebAssembly.Module(bytes(text)), {e: {memory}, m: Math, r}).exports;
      return [e, e.loop];
    }));
    kinds.push(made((_, m, r) => {
      const e = value(value(d.translate)(bytes(d.module)))(m, r);
      return [e, calls => {
        for (let i = 0; i < calls; i++) {
          e.derivatives(0);
          for (let j = 0; j < n; j++) m[stage + j] += 1e-12*m[rates + j];
        }
      }];
    }));
  }
  const calls = Number(process.argv[1]);
  console.log(JSON.stringify(kinds.map(([m, e, loop]) => {
    m.set(d.y, d.at.stage/8);
    e.constants();
    const from = process.hrtime.bigint();
    loop(calls);
    return Number(process.hrtime.bigint() - from)/calls;
  })));
});
"""


def operations(eom):
    found = eom.operation_count()
    return found["total"] + sum(r["total"] for r in found.get("routines", {}).values())


def with_loop(program, n):
    """The module of a program of n states with the loop of `nanoseconds`, but for the clock: loop(calls); its pages."""
    listed = program.functions_of("minimal")
    plans, memory = arranged(program, listed, OPTIONS), memory_of(program, listed)
    printed, at = Functions(program, memory, routine_names(program)), memory.at
    functions = printed.all(plans)
    rates = len(printed.imports) + [f.name for f in functions].index(RATES)
    code = b"\x03\x40" + b.number(0.0) + b.call(rates)
    for y, k in ((at["stage"] + SIZE * i, at["rates"] + SIZE * i) for i in range(n)):
        step = b.number(1e-12) + b.i32(k) + b.load(0) + b.MUL
        code += b.i32(y) + b.i32(y) + b.load(0) + step + b.ADD + b.store(0)
    code += b.get(0) + b.i32(1) + b.MINUS + b.tee(0) + b"\x0d\x00" + b.END  # br_if
    loop = b.Defined("loop", b.Type((b.I32,)), b.body([], code))
    pages = memory.with_numbers(len(printed.numbers.values)).pages
    return b.module(printed.imports, [*functions, loop], pages, at["numbers"], printed.numbers.values), pages


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
    if eom.program.externals:
        print()  # what they call in C is not in one function
        return
    made = browser_program(eom.program)
    loaded = load(eom.analysis, eom.interface, eom.program, "python", {})
    y, p = np.concatenate(complete(loaded)).tolist(), list(map(float, loaded.parameter_values()))
    looped, pages = with_loop(eom.program, len(y))
    given = {"module": b64encode(made.module).decode(), "looped": [b64encode(looped).decode()]}
    given |= {"pages": pages, "at": dict(made.memory.at), "p": p, "y": y}
    given |= {"routines": made.routines, "translate": runtime("translate.js")}
    started = ["node", "--no-liftoff", "-e", NODE, str(CALLS)]  # the code that engines come to after a while
    node = subprocess.Popen(started, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert node.stdin is not None and node.stdout is not None
    best = [np.inf] * 4
    with tempfile.TemporaryDirectory() as folder, node:
        c, unfused = in_c(eom, p, y, Path(folder)), in_c(eom, p, y, Path(folder), "-ffp-contract=off")
        for i in range(TURNS):
            node.stdin.write((json.dumps(given) if i == 0 else "") + "\n")
            node.stdin.flush()
            best = np.minimum(best, [*json.loads(node.stdout.readline()), c(), unfused()])
        node.stdin.close()
    wasm, text, c, unfused = best
    print(f"{wasm:9.1f}{text:8.1f}{c:8.1f}{wasm / c:8.2f}{wasm / unfused:9.2f}")


if __name__ == "__main__":
    main()
