"""Live pages: how long and large they are, and the time of a step in node beside the compiled
program.

    python benchmarks/page.py [EXAMPLE ...]

For each example: operations of a right-hand side, with those of its routines; kB of the page; CPU s
to make it from the derived equations, without any compiler; ns of a step of the page's method in
node, which runs the page as it is, and in C with the same step: the smallest of several runs. Then
their ratio.
"""

import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import bellcrank as bc

EXAMPLES = Path(__file__).parents[1] / "examples"
TURNS, STEPS = 12, 2000
NODE = """
const fs = require("fs"), text = fs.readFileSync(process.argv[1], "utf8"), steps = Number(process.argv[2]);
const element = {packed: {textContent: /id="packed">(.*?)<\\/script>/s.exec(text)[1]}, told: {}, style: {}};
const loader = text.slice(text.lastIndexOf("<script>") + 8, text.lastIndexOf("</script>"));
globalThis.window = globalThis;
globalThis.document = {getElementById: id => element[id], createElement: () => ({}), body: {append: run}};
(0, eval)(loader);
async function run(script) {
  const {facts, module} = window.bellcrank, turns = Number(process.argv[3]);
  const own = script.textContent.replace('"use strict";', "");
  (0, eval)(own.slice(0, own.indexOf("function still")));
  const me = await engine(facts, module);
  facts.signals.forEach((q, s) => { me.held[s] = q.held; });
  let best = Infinity;
  for (let i = 0; i < turns; i++) {
    me.take();
    me.begin();
    const from = process.hrtime.bigint();
    me.advance(steps);
    best = Math.min(best, Number(process.hrtime.bigint() - from)/steps);
  }
  console.log(JSON.stringify({ns: best, step: facts.step, method: facts.method, problem: me.problem}));
}
"""


def operations(eom):
    found = eom.operation_count()
    return found["total"] + sum(r["total"] for r in found.get("routines", {}).values())


def in_c(eom, step, method):
    """The ns of a step, without those that a run takes before and after."""
    sim, best = eom.compile(backend="c", speed="fast"), {}
    for steps in (STEPS, 2 * STEPS) * TURNS:
        begun = time.perf_counter_ns()
        sim.simulate(t_end=steps * step, step=step, method=method, output_every=steps)
        best[steps] = min(best.get(steps, 1e99), time.perf_counter_ns() - begun)
    return (best[2 * STEPS] - best[STEPS]) / STEPS


def line(name):
    eom = bc.System.read(EXAMPLES / f"{name}.py").equations()
    begun = time.process_time()
    try:
        page = eom.export("page")
    except bc.ModelError as error:
        print(f"{name:28}{operations(eom):11}  {str(error).splitlines()[-1].strip()}")
        return
    seconds, size = time.process_time() - begun, len(page.text.encode()) / 1000
    print(f"{name:28}{operations(eom):11}{size:8.1f}{seconds:8.2f}", end="", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = page.save(Path(folder) / "page.html").path
        done = subprocess.run(
            ["node", "-e", NODE, path, str(STEPS), str(TURNS)], capture_output=True, check=True
        )
    found = json.loads(done.stdout)
    c = in_c(eom, found["step"], found["method"])
    print(f"{found['ns']:10.0f}{c:10.0f}{found['ns'] / c:8.2f}  {found['problem']}")


def main():
    listed = sys.argv[1:] or sorted(
        x.stem for x in EXAMPLES.glob("*.py") if "def model(" in x.read_text()
    )
    print(f"{'':28}{'operations':>11}{'kB':>8}{'CPU s':>8}{'page ns':>10}{'C ns':>10}{'ratio':>8}")
    for name in listed:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bc.ModelWarning)
            line(name)


if __name__ == "__main__":
    main()
