// A model that runs with fixed steps, as the package runs it. F: its facts; e: functions of its program; m: the numbers
// of their memory; r: what they call; keeper_of: what keeps closed loops closed, if there are any.
function runner(F, e, m, r, keeper_of) {
  const n = F.at.n, view = (name, count) => m.subarray(F.at[name]/8, F.at[name]/8 + count);
  const slot = i => F.at.spare + 8*n*i, numbers = i => m.subarray(slot(i)/8, slot(i)/8 + n);
  const p = view("p", F.parameters.length), y = view("y", n), k = view("k", n), w = view("w", F.inputs.length);
  const out = view("outputs", F.outputs), method = F.method, next = numbers(0), stage = view("stage", n);
  const all = [k, ...method.stages.map((_, i) => numbers(1 + i))];  // rates of the stages
  const held = F.signals.map(() => null);  // in place of a signal: its value in user units
  const me = {F, e, m, r, p, y, k, w, out, held, slot, numbers, t: 0, i: 0, problem: "", keeper: null};
  me.old = null;  // rates at the beginning of the step before, if it was a whole one and nothing was changed since
  let breaks = [], h = F.step, total = Infinity, end_time = 0;

  const value = (s, rate, t) => {
    if (held[s] !== null) return rate ? 0 : held[s];
    const {kind, numbers: a, points, pieces} = F.signals[s];
    return points ? spline_value(points, pieces, rate, t) : KINDS[kind].value(rate, t, a);
  };
  const inputs = me.inputs = t => {
    for (let j = 0; j < w.length; j++) w[j] = value(F.inputs[j][0], F.inputs[j][1], t)*F.inputs[j][2];
  };
  me.rates = (t, at, to) => {
    if (me.keeper && me.keeper.wary) return me.keeper.rates(t, at, to);
    inputs(t);
    if (at !== F.at.stage) m.copyWithin(F.at.stage/8, at/8, at/8 + n);
    e.derivatives(t);
    m.copyWithin(to/8, F.at.rates/8, F.at.rates/8 + n);
  };
  const added = (into, sum, all) => {  // y + h/by*(w1*k1 + w2*k2 + ...), in this order
    const weight = sum.by === 1 ? me.h : me.h/sum.by, terms = sum.terms;
    for (let j = 0; j < n; j++) {
      let total = terms[0][1]*all[terms[0][0]][j];
      for (let i = 1; i < terms.length; i++) total += terms[i][1]*all[terms[i][0]][j];
      into[j] = y[j] + weight*total;
    }
  };
  // Euler parameters of `next` brought to unit size: F.unit has the places of the first of each four.
  const unitSize = () => F.unit.forEach(i => {
    let size = next[i]*next[i];
    for (let j = 1; j < 4; j++) size += next[i + j]*next[i + j];
    size = 1/Math.sqrt(size);
    for (let j = 0; j < 4; j++) next[i + j] *= size;
  });
  // From y with rates k to `next`, over a time h; times: of the start, the middle and the end.
  me.advance = (times, h) => {
    step(times, h);
    unitSize();
  };
  const step = (times, h) => {
    me.h = h;
    if (method.semi_implicit) {
      next.set(y);
      for (let j = F.n_q; j < n; j++) next[j] = y[j] + h*k[j];
      me.rates(times[0], slot(0), slot(1));
      const moved = numbers(1);
      for (let j = 0; j < F.n_q; j++) next[j] = y[j] + h*moved[j];
      return;
    }
    if (method.two_step && me.old) return added(next, method.two_step, [k, me.old]);
    method.stages.forEach(({node, sum}, i) => {
      const t = node === 0 ? times[0] : node === 0.5 ? times[1] : node === 1 ? times[2] : times[0] + node*h;
      added(stage, sum, all);
      me.rates(t, F.at.stage, slot(1 + i));
    });
    added(next, method.result, all);
  };
  // The step i in the parts it is taken in: at times at which inputs jump or have a kink it is split.
  function parts(i) {
    const near = @GAP@*h, whole = i*h, found = [];
    let t = (i - 1)*h, end = i === total && end_time > 0 ? end_time : whole;
    if (Math.abs(end - whole) <= near) end = whole;
    const inner = breaks.filter(b => b > t + near && b <= end + near);
    if (!inner.length && end === whole) return [{h, times: [t, (i - 0.5)*h, end], end, after: end, whole: true}];
    while (t < end) {
      let to = end, before = end, after = end;
      if (inner.length) {
        const at = inner.shift();
        let last = at;
        while (inner.length && inner[0] <= last + near) last = inner.shift();
        to = at < end - near ? at : end;
        [before, after] = [below(Math.min(at, to)), Math.max(last, to)];
      }
      found.push({h: to - t, times: [t, 0.5*(t + to), before], end: to, after});
      t = to;
    }
    return found;
  }
  // Begins at y. `step`, and the end of the run if it is known: it may end within a step.
  me.begin = (step = F.step, t_end = 0) => {
    [me.t, me.i, me.problem, h, end_time] = [0, 0, "", step, t_end];
    const steps = t_end/h, nearest = Math.round(steps);
    total = !t_end ? Infinity : Math.abs(nearest*h - t_end) < @AT_END@*t_end ? nearest : Math.ceil(steps);
    const times = F.inputs.flatMap(([s]) => {
      const {kind, numbers: a, bends} = F.signals[s];
      return held[s] !== null ? [] : bends || KINDS[kind].breaks(a);
    });
    const last = t_end ? t_end + @GAP@*h : Infinity;
    breaks = [...new Set(times)].filter(b => b > 0 && b <= last).sort((a, b) => a - b);
    e.constants();
    me.old = null;
    me.keeper = keeper_of ? keeper_of(me) : null;
    if (me.keeper) me.keeper.begin(0);
    me.rates(0, F.at.y, F.at.k);
    if (me.keeper) me.keeper.remember(0);
    return total;
  };
  // Parameters or inputs were changed: what follows from them is found again, and loops are closed.
  me.changed = () => {
    e.constants();
    me.old = null;
    if (keeper_of) {
      me.problem = assembled(me, F.free);
      me.keeper = keeper_of(me);
      me.keeper.begin(me.t);
    }
    me.rates(me.t, F.at.y, F.at.k);
    if (me.keeper) me.keeper.remember(me.t);
  };
  // All that a run changes, and how it is put back.
  me.kept = () => [[me.t, me.i, me.problem, me.keeper, me.old, breaks, h, total, end_time], m.slice(), held.slice()];
  me.restore = ([course, numbers, signals]) => {
    [me.t, me.i, me.problem, me.keeper, me.old, breaks, h, total, end_time] = course;
    m.set(numbers);
    signals.forEach((x, s) => { held[s] = x; });
  };
  // Takes a step; false if it cannot be taken, which `problem` tells.
  me.step = () => {
    for (const part of parts(++me.i)) {
      let state = null;
      if (!part.whole) me.old = null;
      if (me.keeper) {
        state = me.keeper.step(part.times, part.h, 0);
        if (me.problem) return false;
      } else me.advance(part.times, part.h);
      if (!next.every(Number.isFinite)) {
        me.problem = "the state is no longer finite: choose other values, or restart";
        return false;
      }
      const old = method.two_step && part.whole ? k.slice() : null;
      me.rates(part.after, slot(0), F.at.k);
      y.set(next);
      me.t = part.end;
      if (me.keeper && state) me.keeper.accept(part.end, state);
      me.old = me.keeper && me.keeper.near ? null : old;
    }
    return true;
  };
  me.outputs = () => {
    inputs(me.t);
    e.outputs(me.t, F.at.y, F.at.outputs);
  };
  me.poses = () => {
    if (!e.poses) return;
    inputs(me.t);
    e.marks(me.t, F.at.y, F.at.marks);
    e.poses(me.t, F.at.y, F.at.poses);
  };
  return me;
}

// The next smaller number.
const bits = new BigInt64Array(1), number = new Float64Array(bits.buffer);
function below(x) {
  if (x === 0) return -5e-324;
  number[0] = x;
  bits[0] += x > 0 ? -1n : 1n;
  return number[0];
}
