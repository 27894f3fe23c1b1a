"""Pages run by node: what the functions of their programs give, and whole runs."""

import json
import math
import re
import shutil
import subprocess
import zlib
from base64 import b64encode
from importlib.resources import files

import numpy as np
import pytest

from bellcrank.codegen.memory import PARTS, ROWS

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
_LOAD = (files("bellcrank") / "export/page/templates/engine.js").read_text(encoding="utf-8")
_EVALUATE = """
const given = JSON.parse(require("fs").readFileSync(0));
const number = x => typeof x === "string" ? Number(x) : x;  // JSON has no infinities
(0, eval)(given.engine);
const one = async d => {
  const me = await engine(d.facts, Uint8Array.from(atob(d.module), c => c.charCodeAt(0)));
  const put = (name, values) => me.m.set(values.map(number), me.F.at[name]/8);
  const call = (name, t, to) => {
    const A = me.F.at, given = [t, A.y, A.y + 8*me.F.n_q, A.p, A.c, A.w, to];
    me.e[name](...given, ...(name === "derivatives" ? [to + 8*me.F.n_q] : []), A.externals);
  };
  put("p", d.p);
  call("constants", 0, me.F.at.c);
  const free = me.m.length - 4096;
  return d.points.map(({t, y, w}) => {
    put("y", y), put("w", w);
    return Object.fromEntries(Object.entries(d.sizes).map(([name, n]) => {
      me.m.fill(-77, free, free + n);
      call(name, t, 8*free);
      return [name, Array.from(me.m.subarray(free, free + n), String)];
    }));
  });
};
(async () => {
  const found = [];
  for (const d of given.listed) found.push(await one(d));
  console.log(JSON.stringify(found));
})();
"""


def node(script, given):
    """What a script prints, as JSON, that reads JSON."""
    done = subprocess.run(
        [NODE, "-e", script], input=json.dumps(given), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def evaluated(listed):
    """Results of all functions of programs: for each, for every point, by function.

    In: pairs of a browser program and what it is given: parameters p and points {t, y, w}.
    """
    given = []
    for made, n_q, p, points in listed:
        points = [
            {k: [_plain(x) for x in v] if k != "t" else v for k, v in point.items()}
            for point in points
        ]
        facts = {"kernel": len(made.kernel), "at": made.at, "job": made.fields}
        facts |= {
            "mirrored": made.mirrored,
            "sines": [ROWS, PARTS],
            "n_q": n_q,
            "y": [],
            "parameters": [],
            "signals": [],
            "inputs": [],
            "channels": [],
        }
        given.append(
            {
                "module": b64encode(made.kernel + made.module).decode(),
                "facts": facts,
                "sizes": made.sizes,
                "p": list(map(float, p)),
                "points": points,
            }
        )
    found = node(_EVALUATE, {"engine": _LOAD, "listed": given})
    return [[{f: [float(x) for x in v] for f, v in at.items()} for at in each] for each in found]


def _plain(x):
    return (
        float(x)
        if math.isfinite(x)
        else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(x, "NaN")
    )


_RUN = """
const d = JSON.parse(require("fs").readFileSync(0));
(0, eval)(d.script);
engine(d.facts, Uint8Array.from(atob(d.module), c => c.charCodeAt(0))).then(me => {
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
    small = re.search(r'id="packed">(.*?)</script>', text, re.S)[1].translate(
        str.maketrans("|}~", '"&<')
    )
    digits = np.frombuffer(small.encode(), np.uint8).astype(int).reshape(-1, 2) - 33
    bits = (digits @ [91, 1])[:, None] >> np.arange(13)[::-1] & 1
    length = int(re.search(r"new Uint8Array\((\d+)\)", text)[1])
    all_of_it = zlib.decompress(
        np.packbits(bits.astype(np.uint8)).tobytes()[:length], -zlib.MAX_WBITS
    )
    module, numbers = (
        int(x) for x in re.search(r"numbers:all\.slice\((\d+),(\d+)\)", text).groups()
    )
    facts, style = (
        int(x)
        for x in re.search(r"text\((\d+),(\d+)\)", text[text.index("textContent=") :]).groups()
    )
    return (
        all_of_it[:module],
        all_of_it[module:numbers],
        all_of_it[numbers:facts],
        all_of_it[style:],
    )


_CHANGED = """
const d = JSON.parse(require("fs").readFileSync(0));
(0, eval)(d.script);
engine(d.facts, Uint8Array.from(atob(d.module), c => c.charCodeAt(0))).then(me => {
  d.facts.signals.forEach((q, s) => { me.held[s] = q.held; });
  me.take();
  me.begin();
  me.advance(d.steps);
  const k = d.facts.parameters.findIndex(q => q.name === d.name);
  me.p[k] = d.value*d.facts.parameters[k].factor;
  me.changed();
  me.advance(d.steps);
  console.log(JSON.stringify({problem: me.problem, y: Array.from(me.y)}));
});
"""


def page_changed(page, steps, name, value):
    """The state after some steps, then as many with another value of a parameter."""
    return node(_CHANGED, {**given_by(page), "steps": steps, "name": name, "value": value})


_ROAD = """
const d = JSON.parse(require("fs").readFileSync(0));
(0, eval)(d.script);
engine(d.facts, Uint8Array.from(atob(d.module), c => c.charCodeAt(0))).then(me => {
  const G = d.facts.scene.ground;
  road(G, me.height);
  console.log(JSON.stringify(d.eyes.map(eye => {
    const moved = G.moved(eye);
    return {...G, moved};
  })));
});
"""


def page_ground(page, eyes):
    """The ground that a page draws, from one place to look at to the next."""
    return node(_ROAD, {**given_by(page), "eyes": eyes})


def page_runs(page, *runs):
    """Whole runs as a page computes them, without its window: channels by name for each list of
    arguments, or an error."""
    return node(_RUN, {**given_by(page), "runs": runs})


def given_by(page):
    """What scripts need to run a page without its window."""
    facts, module, script = unpacked(page.text)
    script = script[: script.index("function still")].replace('"use strict";', "")
    return {"facts": facts, "module": b64encode(module).decode(), "script": script}


_JOIN = """
const d = JSON.parse(require("fs").readFileSync(0));
(0, eval)(d.script);
const bytes = Uint8Array.from(atob(d.parts), c => c.charCodeAt(0));
console.log(JSON.stringify(Array.from(joined(bytes, d.sizes))));
"""


def joined(parts, sizes):
    """A module that pages put together from its parts."""
    script = (files("bellcrank") / "export/page/templates/join.js").read_text(encoding="utf-8")
    script = script.replace("function joined", "globalThis.joined = function")
    return bytes(
        node(_JOIN, {"script": script, "parts": b64encode(parts).decode(), "sizes": sizes})
    )


_PULL = """
const d = JSON.parse(require("fs").readFileSync(0));
(0, eval)(d.script);
engine(d.facts, Uint8Array.from(atob(d.module), c => c.charCodeAt(0))).then(me => {
  d.facts.signals.forEach((q, s) => { me.held[s] = q.held; });
  me.take();
  me.begin();
  const hand = pulling(me, null, null), rows = [];
  const note = () => {
    me.outputs();
    const row = Object.fromEntries(d.facts.channels.map(c => [c.name, me.row[c.column]/c.factor]));
    rows.push({...row, t: me.t, work: hand.work, own: hand.energy, loose: me.loose(), problem: me.problem});
  };
  note();
  for (const [held, steps] of d.parts) {
    if (held) hand.hold(...held);
    else hand.drop();
    for (let i = 0; i < steps; i++) {
      hand.push(d.facts.step);
      me.advance(1);
      note();
    }
  }
  console.log(JSON.stringify(rows));
});
"""


def page_pulled(page, *parts):
    """Channels, work of the pointer, kinetic energy of the bodies and gaps of loops, step by step.
    In: a page with
    `drag`, and parts: [body, point of it, target] or None, and steps."""
    return node(_PULL, {**given_by(page), "parts": parts})
