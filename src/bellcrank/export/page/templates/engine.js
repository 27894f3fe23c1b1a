// The functions of the program over their memory: WebAssembly, or JavaScript where a policy forbids it.
async function engine(F, module) {
  try {
    const memory = new WebAssembly.Memory({initial: F.pages}), m = new Float64Array(memory.buffer), r = routines(m);
    const {instance} = await WebAssembly.instantiate(module, {e: {memory}, m: Math, r});
    return {e: instance.exports, m, r, kind: "WebAssembly"};
  } catch {
    const m = new Float64Array(F.pages*8192), r = routines(m);
    return {e: scripted(translated(module))(m, r), m, r, kind: "JavaScript"};
  }
}

// The value of a text by a script in the page, which policies allow that forbid WebAssembly and `eval`.
function scripted(text) {
  const script = document.createElement("script");
  script.textContent = `window.bellcrank.made = ${text}`;
  document.body.append(script);
  return window.bellcrank.made;
}

// Parameters and states as the page came with them, or as they are given; a sentence if loops cannot be closed.
function start(me, values = {}) {
  const {F} = me;
  F.parameters.forEach((q, i) => { me.p[i] = (Object.hasOwn(values, q.name) ? values[q.name] : q.value)*q.factor; });
  me.y.set(F.y);
  me.t = 0;
  me.e.constants();
  const changed = F.parameters.some((q, i) => me.p[i] !== q.value*q.factor);
  return F.free.length && changed ? assembled(me, F.free) : "";
}

const channel = (me, c) => (c.of === "y" ? me.y : c.of === "out" ? me.out : me.w)[c.place]/c.factor;

// A whole run, apart from the one that is seen: channels by name, in user units. Parameters and inputs may be given.
function whole_run(me, t_end = me.F.t_end, step = me.F.step, every = 1, {parameters = {}, inputs = {}} = {}) {
  const kept = me.kept(), {F} = me, rows = {__proto__: null, t: []};
  for (const [given, listed] of [[parameters, F.parameters], [inputs, F.signals]])
    for (const name in given)
      if (!listed.some(q => q.name === name)) throw Error(`the model has no '${name}' to be given`);
  try {
    F.signals.forEach((s, i) => { me.held[i] = Object.hasOwn(inputs, s.name) ? inputs[s.name] : s.held; });
    const problem = start(me, {...parameters});
    if (problem) throw Error(problem);
    const total = me.begin(step, t_end), note = () => {
      me.outputs();
      rows.t.push(me.t);
      for (const c of F.channels) (rows[c.name] = rows[c.name] || []).push(channel(me, c));
    };
    note();
    while (me.i < total) {
      if (!me.step()) throw Error(me.problem);
      if (me.i % every === 0 || me.i === total) note();
    }
    return rows;
  } finally {
    me.restore(kept);
  }
}
