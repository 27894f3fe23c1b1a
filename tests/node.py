"""Programs for browsers, run by node: what their functions give, in WebAssembly and in JavaScript."""

import json
import math
import re
import shutil
import subprocess
import zlib
from base64 import b64decode, b64encode

import pytest

from bellcrank.emit.javascript.runtime_files import runtime

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
_EVALUATE = """
const given = JSON.parse(require("fs").readFileSync(0)), value = text => (0, eval)(`(${text})`);
const number = x => typeof x === "string" ? Number(x) : x;  // JSON has no infinities
const found = given.map(d => {
  const bytes = Uint8Array.from(atob(d.module), c => c.charCodeAt(0));
  if (!WebAssembly.validate(bytes)) return {error: "the module is not valid"};
  const memory = new WebAssembly.Memory({initial: d.pages}), m = new Float64Array(memory.buffer);
  const r = value(d.routines)(m);
  const imports = {e: {memory}, m: Math, r};
  const text = value(d.translate)(bytes);
  const kinds = {wasm: new WebAssembly.Instance(new WebAssembly.Module(bytes), imports).exports, js: value(text)(m, r)};
  const put = (name, values) => m.set(values.map(number), d.at[name]/8);
  for (const [kind, e] of Object.entries(kinds)) {
    put("p", d.p);
    e.constants();
    kinds[kind] = d.points.map(({t, y, w}) => {
      put("y", y), put("stage", y), put("w", w);
      return Object.fromEntries(d.names.map(name => {
        const at = d.at[name === "derivatives" ? "rates" : name];
        m.fill(-77, at/8, at/8 + d.sizes[name]);
        e[name](t, d.at.y, at);  // rates have places of their own
        return [name, Array.from(m.subarray(at/8, at/8 + d.sizes[name]), String)];
      }));
    });
  }
  return kinds;
});
console.log(JSON.stringify(found));
"""


def node(script, given):
    """What a script prints, as JSON, that reads JSON."""
    done = subprocess.run([NODE, "-e", script], input=json.dumps(given), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def evaluated(listed):
    """Results of all functions of programs: for each, by "wasm" and "js", for every point, by function.

    In: pairs of a browser program and what it is given: parameters p and points {t, y, w}.
    """
    given = []
    for made, p, points in listed:
        sizes = {name: made.memory.sizes.get("k" if name == "derivatives" else name, 0) for name in made.names}
        points = [{k: [_plain(x) for x in v] if k != "t" else v for k, v in point.items()} for point in points]
        given.append({
            "module": b64encode(made.module).decode(), "translate": runtime("translate.js"), "routines": made.routines,
            "pages": made.memory.pages, "at": dict(made.memory.at), "sizes": sizes, "names": made.names, "p": list(map(float, p)),
            "points": points,
        })  # fmt: skip
    found = node(_EVALUATE, given)
    return [
        {k: [{f: [float(x) for x in v] for f, v in at.items()} for at in values] for k, values in each.items()}
        for each in found
    ]


def _plain(x):
    return float(x) if math.isfinite(x) else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(x, "NaN")


_RUN = """
const d = JSON.parse(require("fs").readFileSync(0));
(0, eval)(d.script);
engine(d.facts, Uint8Array.from(atob(d.module), c => c.charCodeAt(0))).then(({e, m, r}) => {
  const text = () => (0, eval)(`(${translated(Uint8Array.from(atob(d.module), c => c.charCodeAt(0)))})`)(m, r);
  const me = runner(d.facts, d.text ? text() : e, m, r, d.facts.free.length ? keeper_of : null);
  console.log(JSON.stringify(d.runs.map(given => {
    try {
      return whole_run(me, ...given);
    } catch (error) {
      return {error: error.message};
    }
  })));
});
"""


def unpacked(text):
    """Facts, module and script of a page."""
    module, _, facts, script = _packed(text)
    return json.loads(facts), module, script.decode()


def recorded_numbers(text):
    """The numbers of the run that a page plays."""
    return _packed(text)[1]


def _packed(text):
    """Module, numbers, facts and script of a page."""
    all_of_it = zlib.decompress(b64decode(re.search(r'id="packed">(.*?)</script>', text, re.S)[1]), -zlib.MAX_WBITS)
    module, numbers = (int(x) for x in re.search(r"numbers: all\.slice\((\d+), (\d+)\)", text).groups())
    facts = int(re.search(rf"text\({numbers}, (\d+)\)", text)[1])
    return all_of_it[:module], all_of_it[module:numbers], all_of_it[numbers:facts], all_of_it[facts:]


_CHANGED = """
const d = JSON.parse(require("fs").readFileSync(0));
(0, eval)(d.script);
engine(d.facts, Uint8Array.from(atob(d.module), c => c.charCodeAt(0))).then(({e, m, r}) => {
  const me = runner(d.facts, e, m, r, d.facts.free.length ? keeper_of : null);
  d.facts.signals.forEach((q, s) => { me.held[s] = q.held; });
  start(me);
  me.begin();
  const go = () => { for (let i = 0; i < d.steps; i++) me.step(); };
  go();
  const k = d.facts.parameters.findIndex(q => q.name === d.name);
  me.p[k] = d.value*d.facts.parameters[k].factor;
  me.changed();
  go();
  console.log(JSON.stringify({problem: me.problem, y: Array.from(me.y)}));
});
"""


def page_changed(page, steps, name, value):
    """The state after some steps, then as many with another value of a parameter."""
    return node(_CHANGED, {**_given(page), "steps": steps, "name": name, "value": value})


_ROAD = """
const d = JSON.parse(require("fs").readFileSync(0));
(0, eval)(d.script);
engine(d.facts, Uint8Array.from(atob(d.module), c => c.charCodeAt(0))).then(({r}) => {
  const G = d.facts.scene.ground;
  road(G, r[d.facts.road].height);
  console.log(JSON.stringify(d.eyes.map(eye => {
    const moved = G.moved(eye);
    return {...G, moved};
  })));
});
"""


def page_ground(page, eyes):
    """The ground that a page draws, from one place to look at to the next."""
    return node(_ROAD, {**_given(page), "eyes": eyes})


def page_runs(page, *runs, text=False):
    """Whole runs as a page computes them, without its window: channels by name for each list of arguments, or an error.

    With `text`, they are those of the JavaScript in it, not of the WebAssembly.
    """
    return node(_RUN, {**_given(page), "runs": runs, "text": text})


def _given(page):
    facts, module, script = unpacked(page.text)
    script = script[: script.index("async function live")].replace('"use strict";', "")
    return {"facts": facts, "module": b64encode(module).decode(), "script": script}
