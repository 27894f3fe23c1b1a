// A model that runs with fixed steps: the kernel and the functions of the model in WebAssembly, over one memory. F: its
// facts; bytes: the kernel, then the model.
async function engine(F, bytes) {
  for (const q of [...F.parameters, ...F.signals, ...F.channels]) q.factor ??= 1;
  const made = async (part, given) => (await WebAssembly.instantiate(part, given)).instance.exports;
  const A = F.at, env = {__proto__: Math, fmod: (a, b) => a % b, values_set: () => me.events.use_values()};
  const kernel = await made(bytes.slice(0, F.kernel), {env}), {memory} = kernel;
  const grow = end => memory.grow(Math.max(0, Math.ceil((end - memory.buffer.byteLength)/65536)));
  grow(A.end);
  const model = new Uint8Array(bytes.slice(F.kernel));
  const e = await made(F.apart ? joined(model, F.apart) : model, {e: kernel, k: {__proto__: Math, modulo, ...kernel}});
  grow(A.end + 16*kernel.room_size(A.model));
  const table = kernel.__indirect_function_table;
  for (const name in e) table.grow(1, e[name]);  // in the order of the program
  kernel.use_model(A.model, A.end);
  if (F.events) watch(F, kernel, table, grow);
  kernel.fill_sines(A.sines, ...F.sines);
  const m = new Float64Array(memory.buffer);
  for (const [to, from, n, signs] of F.mirrored)  // linkages on the other side
    for (let i = 0; i < n; i++) m[to/8 + i] = signs[i % signs.length]*m[from/8 + i];
  const me = runner(F, kernel, e, m, new Int32Array(memory.buffer));
  return me;
}

// What is left of a beside whole b, with the sign of b.
function modulo(a, b) {
  const rest = a % b;
  return rest === 0 ? (b < 0 ? -0 : 0) : rest < 0 !== b < 0 ? rest + b : rest;
}

function runner(F, kernel, e, m, whole) {
  const A = F.at, view = (name, count) => m.subarray(A[name]/8, A[name]/8 + count), {length: n} = F.y;
  const p = view("p", F.parameters.length), y = view("y", n), w = view("w", F.inputs.length);
  const row = view("rows", 1 + n + F.outputs + w.length);  // time, states, outputs, inputs
  const held = F.signals.map(() => null);  // in place of a signal: its value in user units
  const inputs = m.slice(A.inputs/8, A.signals/8), fresh = m.slice(A.job/8, A.job_end/8);  // as the page came with them
  const real = name => (A.job + F.job[name])/8, place = Object.fromEntries(Object.keys(F.job).map(x => [x, real(x)]));
  const me = {F, e, m, p, y, row, held, problem: ""};
  let h = F.step, breaks = [], until = Infinity, closed = [];  // closed: parameters with which loops were
  Object.defineProperty(me, "t", {get: () => m[place.t]});
  Object.defineProperty(me, "i", {get: () => whole[2*place.reached]});
  const call = me.call = (name, to = A[name]) => e[name](me.t, A.y, A.y + 8*F.n_q, A.p, A.c, A.w, to, A.externals);
  // Inputs as they are held, a job at a time that has not begun (0) or goes on from a changed state (2).
  const set = (t, begun) => {
    const [size, first] = F.input;
    m.set(inputs, A.inputs/8);
    F.inputs.forEach(([s], j) => {
      if (held[s] == null) return;  // those of the ground under rigid wheels have no slider
      whole[A.inputs/4 + 2*size*j] = 0;
      m[A.inputs/8 + size*j + first] = held[s];
    });
    m.set(fresh, A.job/8);
    [m[place.t], m[place.h]] = [t, h];
    [whole[2*place.reached], whole[2*place.begun], whole[2*place.n_breaks]] = [Math.round(t/h), begun, breaks.length];
    m.set(breaks, A.breaks/8);
    call("constants", A.c);
    if (me.events) me.events.set(begun, h, until);
  };
  // Closes the loops, in a few attempts of which each moves more.
  me.assemble = () => {
    const given = y.slice();
    me.problem = F.free.length && !F.free.some(free => {
      y.set(given);
      whole.fill(0, A.may/4, A.may/4 + n);
      for (const j of free) whole[A.may/4 + j] = 1;
      return kernel.close(A.job, A.may);
    }) ? "the loops cannot be closed with these values" : "";
    if (me.problem) y.set(given);
  };
  // Closes the loops with changed parameters; if they are far from those with which they were closed, in small steps.
  const follow = from => {
    const want = p.slice(), given = y.slice(), parts = 32;
    me.assemble();
    for (let k = 1; k <= parts && (k === 1 ? me.problem : !me.problem); k++) {
      for (let i = 0; i < p.length; i++) p[i] = k === parts ? want[i] : from[i] + (want[i] - from[i])*k/parts;
      call("constants", A.c);
      me.assemble();
    }
    if (me.problem) {
      p.set(want);
      y.set(given);
      call("constants", A.c);
    } else closed = want;
  };
  // Parameters and the state as the page came with them, or as they are given.
  me.take = (values = {}) => {
    F.parameters.forEach((q, i) => { p[i] = (Object.hasOwn(values, q.name) ? values[q.name] : q.value)*q.factor; });
    if (me.events) me.events.forget();
    me.place();
  };
  // The state as the page came with it, with the present parameters.
  me.place = () => {
    y.set(F.y);
    if (me.events) me.events.undo();
    set(0, 0);
    me.problem = "";
    const own = Float64Array.from(F.parameters, q => q.value*q.factor);
    closed = own;
    if (own.some((x, i) => p[i] !== x)) follow(own);
  };
  const begin = () => {
    if (me.problem) return me.outputs();
    if (F.free.length) kernel.metric(A.job);
    me.advance(0);
  };
  // Begins with the present parameters, as the page came with the state.
  me.begin = (step = F.step, end = Infinity) => {
    [h, until] = [step, end];
    const times = F.signals.flatMap((q, s) => held[s] === null ? q.breaks : []);
    breaks = [...new Set(times)].sort((a, b) => a - b);
    me.place();
    begin();
  };
  // Parameters or inputs were changed: what follows from them is found again, and loops are closed.
  me.changed = () => {
    set(me.t, 2);
    follow(closed);
    begin();
  };
  // Takes n steps, up to the end of a run if it is given; false if it cannot, which `problem` tells.
  me.advance = (n, end = 0) => {
    m[place.t_end] = end;
    const status = me.events ? me.events.go(n) : kernel.go(A.job, n);
    const what = status === 4 ? "a loop cannot be kept closed here" : "the state is no longer finite";
    const why = F.guided ? " (a linkage may be at the end of its reach)" : "";
    me.problem = status ? `${what}: choose other values, or restart${why}` : me.events ? me.events.problem() : "";
    return !me.problem;
  };
  // The row of the present state.
  me.outputs = () => {
    kernel.inputs(A.job, A.w);
    row.set([me.t, ...y]);
    call("outputs", A.rows + 8*(1 + n));
    row.set(w, 1 + n + F.outputs);
  };
  me.poses = () => {
    if (!e.poses) return;
    kernel.inputs(A.job, A.w);
    call("marks");
    call("poses");
  };
  me.shown = name => view(name, F.results[name]);
  me.signal = s => kernel.signal(A.signals + 8*F.input[0]*s, me.t);
  me.height = (x, y) => F.scene.ground.across ? kernel.grid_height(F.road, x, y) : kernel.ground_height(F.road, x);
  me.loose = () => {  // how far loops are open
    if (!F.free.length) return 0;
    call("closure");
    return Math.max(0, ...view("closure", F.n_g).map(Math.abs));
  };
  // All that a run changes, and how it is put back.
  me.kept = () => [[h, breaks, until, me.problem], m.slice(), held.slice(), me.events && me.events.kept()];
  me.restore = ([course, numbers, signals, events]) => {
    [h, breaks, until, me.problem] = course;
    if (events) me.events.restore(events);
    m.set(numbers);
    signals.forEach((x, s) => { held[s] = x; });
  };
  if (F.events) me.events = events(me, kernel, whole, () => call("constants", A.c));
  return me;
}

const channel = (me, c) => me.row[c.column]/c.factor;

// A whole run, apart from the one that is seen: channels by name, in user units. Parameters and inputs may be given.
function whole_run(me, t_end = me.F.t_end, step = me.F.step, every = 1, {parameters = {}, inputs = {}} = {}) {
  const kept = me.kept(), {F} = me, rows = {__proto__: null, t: []}, nearest = Math.round(t_end/step);
  const total = Math.abs(nearest*step - t_end) < F.at_end*t_end ? nearest : Math.ceil(t_end/step);
  for (const [given, listed] of [[parameters, F.parameters], [inputs, F.signals]])
    for (const name in given)
      if (!listed.some(q => q.name === name)) throw Error(`the model has no '${name}' to be given`);
  try {
    F.signals.forEach((s, i) => { me.held[i] = Object.hasOwn(inputs, s.name) ? inputs[s.name] : s.held; });
    me.take({...parameters});
    me.begin(step, t_end);
    for (let n = 0;; n = Math.min(every - me.i % every, total - me.i)) {
      if (n) me.advance(n, me.i + n === total ? t_end : 0);
      const stopped = me.events && me.events.stopped();
      if (me.problem && !stopped) throw Error(me.problem);
      rows.t.push(me.row[0]);
      for (const c of F.channels) (rows[c.name] = rows[c.name] || []).push(channel(me, c));
      if (me.i >= total || stopped) return rows;
    }
  } finally {
    me.restore(kept);
  }
}
