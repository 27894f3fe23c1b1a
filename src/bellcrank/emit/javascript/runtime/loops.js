// What keeps closed loops closed in a run, through the package's rules: regular positions are corrected once per step;
// near singular ones rates come from the redundant equations, and all stages are brought onto the constraints.
function keeper_of(me) {
  const {F, e, m, r, y, k} = me, L = r.LOOPS, {n_q, n_u, n_g, n_v, correction} = L, n = n_q + n_u;
  const probe = me.slot(6), next = me.numbers(0), probed = me.numbers(6);
  const largest = x => x.reduce((most, v) => Math.max(most, Math.abs(v)), 0), length = x => Math.hypot(...x);
  const keeper = {wary: false, near: false};
  let past = [], weights = null;

  const results = (name, t, state, count) => {
    probed.set(state);
    me.inputs(t);
    e[name](t, probe, F.at[name]);
    return Array.from(m.subarray(F.at[name]/8, F.at[name]/8 + count));
  };
  const evaluate = (t, state) => {
    const flat = results("closure", t, state, n_g*(1 + n_q) + n_v*(1 + n_u)), cut = count => flat.splice(0, count);
    return {g: cut(n_g), G: cut(n_g*n_q), v: cut(n_v), J: flat};
  };
  const system = (t, state) => {
    const packed = n_u*(n_u + 1)/2, flat = results("system", t, state, n_q + packed + n_u + n_v*n_u + n_v + n_g + n_v);
    const cut = count => flat.splice(0, count);
    const found = {qd: cut(n_q), M: cut(packed), f: cut(n_u), J: cut(n_v*n_u), gamma: cut(n_v), g: cut(n_g), v: flat};
    found.g = found.v.map((_, i) => i < L.paired ? found.g[i] : 0);
    return found;
  };
  const solve = (at, force, right, least) => r.reduced(at.M, 0, force, 0, at.J, 0, right, 0, least);
  const shift = (t, state, x) => {
    const moved = u => results("coordinate_rates", t, [...state.slice(0, n_q), ...u], n_q);
    const with_x = moved(x), without = moved(Array(n_u).fill(0));
    return with_x.map((v, i) => v - without[i]);
  };
  // Inverse inertias of coordinates and speeds at the start: corrections move what is light.
  const inertia_weights = t => {
    const state = Array.from(y), {M} = system(t, state), inertia = L.columns.map((_, i) => M[i*(i + 3)/2]);
    const most = Math.max(0, ...inertia) || 1, w_u = inertia.map(x => 1/Math.max(x, @LIGHT@*most));
    const columns = w_u.map((_, j) => shift(t, state, w_u.map((_, i) => Number(i === j))));
    const w_q = state.slice(0, n_q).map((_, i) => w_u.reduce((sum, w, j) => sum + columns[j][i]**2*w, 0));
    return [w_q.map(w => w > 0 ? w : Math.min(...w_u)), w_u];
  };

  const small = (state, h) => state.moved <= @SHARE@*h*length(state.y.slice(n_q)) + @LEAST@;
  const regular = (t, given) => {
    const state = Float64Array.from(given);
    let moved = 0, size = Infinity;
    for (let turn = 0; turn < @CORRECTIONS@ && !(size < @SETTLED@); turn++) {
      const change = results("correct_q", t, state, correction.q.length);
      correction.q.forEach((i, j) => { state[i] -= change[j]; });
      size = length(change);
      moved += size;
    }
    if (!(size < @SETTLED@)) return null;
    const count = correction.u.length, change = results("correct_u", t, state, 2*count);
    const steady = correction.scales.reduce((least, s, i) => Math.min(least, Math.abs(change[count + i]*s)), Infinity);
    if (!(steady > @WATCHED@)) return null;
    correction.u.forEach((i, j) => { state[n_q + i] -= change[j]; });
    return {y: state, moved, residual: 0, ratio: 1, steady};
  };
  // The nearest state that satisfies the constraints. In a singular position nothing is moved.
  const admitted = (t, given, tight) => {
    const state = Float64Array.from(given), [w_q, w_u] = weights = weights || inertia_weights(t);
    let moved = 0, at = evaluate(t, state);
    const ratio = r.pivot_ratio(at.J, 0);
    if (!(ratio > @SINGULAR@)) return {y: state, moved, residual: 0, ratio, steady: r.steady_ratio(at.J, 0)};
    for (let turn = 0; turn < @CORRECTIONS@ && !(largest(at.g) < (tight ? @TIGHT@ : @CLOSED@)); turn++) {
      const step = least_norm(at.G, at.g, w_q, L.rank_g);
      step.forEach((x, i) => { state[i] -= x; });
      moved += length(step);
      at = evaluate(t, state);
    }
    least_norm(at.J, at.v, w_u, L.rank_v).forEach((x, i) => { state[n_q + i] -= x; });
    const found = {ratio: r.pivot_ratio(at.J, 0), steady: r.steady_ratio(at.J, 0)};
    return {y: state, moved, residual: largest(at.g), ...found};
  };
  const of_unit_size = (t, state) => {
    if (L.paired === n_g) return state;
    const {g, G} = evaluate(t, state), moved = Float64Array.from(state);
    for (let i = L.paired; i < n_g; i++) {
      const row = G.slice(i*n_q, (i + 1)*n_q), square = row.reduce((sum, x) => sum + x*x, 0);
      row.forEach((x, j) => { moved[j] -= x*g[i]/square; });
    }
    return moved;
  };
@BRIDGES@
  // The nearest state on the constraints and curves in the metric of M.
  const close = (t, given, limit) => {
    let state = of_unit_size(t, given), at = system(t, state);
    bridges.build(t, state, at);
    let ratio = r.pivot_ratio(at.J, 0), steady = r.steady_ratio(at.J, 0);
    if (!(ratio > @SINGULAR@) && !bridges.within(state).length && !bridges.missed.size)
      return {y: state, moved: 0, residual: 0, ratio, steady};
    let bridged = bridges.look(at, state), moved = 0, before = Infinity;
    state = Float64Array.from(state);
    for (let turn = 0; turn < @CORRECTIONS@; turn++) {
      const size = largest(at.g);
      if (size < limit || (size >= before && size < @CLOSED@)) break;
      before = size;
      const change = shift(t, state, solve(at, null, at.g, bridges.least(bridged))[0]);
      moved += length(change);
      change.forEach((x, i) => { state[i] -= x; });
      at = system(t, state);
      [ratio, steady] = [r.pivot_ratio(at.J, 0), r.steady_ratio(at.J, 0)];
      bridged = bridges.look(at, state);
    }
    solve(at, null, at.v, bridges.least(bridged))[0].forEach((x, i) => { state[n_q + i] -= x; });
    return {y: state, moved, residual: largest(at.g), ratio, steady};
  };
  const extrapolated = t => past[0][1].map((_, i) => past.reduce((sum, [at, value]) => sum + value[i]
    *past.reduce((product, [other]) => other === at ? product : product*(t - other)/(at - other), 1), 0));

  keeper.rates = (t, at, to) => {
    let state = Float64Array.from(m.subarray(at/8, at/8 + n));
    if (keeper.near) state = close(t, state, @TIGHT@).y;
    const found = system(t, state), bridged = bridges.look(found, state);
    let [ud, ratio] = solve(found, found.f, found.gamma, bridges.least(bridged));
    if (!bridged && !bridges.missed.size && !(ratio > @SINGULAR@) && past.length) ud = extrapolated(t);
    m.set([...found.qd, ...ud], to/8);
  };
  const set = ({ratio, steady}) => {
    keeper.near = ratio < @WATCHED@;
    keeper.wary = keeper.near || steady < @WATCHED@;
  };
  keeper.begin = t => {
    const {J} = evaluate(t, y), found = {ratio: r.pivot_ratio(J, 0), steady: r.steady_ratio(J, 0)};
    bridges.start(t, y);
    set(found);
    if (keeper.near) {
      bridges.build(t, y, system(t, y));
      if (bridges.within(y).length) y.set(close(t, y, @TIGHT@).y);
    }
    bridges.note(found.ratio);
  };
  keeper.remember = t => { past = [...past.slice(-2), [t, Array.from(k.subarray(n_q))]]; };
  keeper.accept = (t, state) => {
    if (state.ratio > @SINGULAR@) keeper.remember(t);
    set(state);
    bridges.start(t, y);
    bridges.note(state.ratio);
  };
  // From y with rates k to `next` on the constraints; taken again with care near singular positions, halved if it needs
  // a correction that is large. What it returns tells how near that was; nothing, where numbers are not finite.
  keeper.step = (times, h, depth) => {
    const [start, middle, end] = times;
    bridges.begin(depth, y);
    if (depth || keeper.near) me.old = null;
    me.advance(times, h);
    if (!next.every(Number.isFinite)) return null;
    let state = correction && !keeper.wary ? regular(end, next) : null;
    if (!state || !small(state, h)) state = keeper.near ? close(end, next, @TIGHT@) : admitted(end, next, keeper.wary);
    const near = keeper.near || state.ratio < @NEAR@, wary = keeper.wary || near || state.steady < @NEAR@;
    if (near !== keeper.near || wary !== keeper.wary) {
      [keeper.near, keeper.wary] = [near, wary];
      return keeper.step(times, h, depth);
    }
    const divide = bridges.too_far(end, y, state.y, h, depth);
    next.set(state.y);
    if (!divide && small(state, h) && state.residual < @OPEN@) return state;
    if (!divide && depth >= @HALVINGS@) {
      me.problem = "a loop cannot be kept closed here: choose other values, or restart";
      return null;
    }
    const from = [y.slice(), k.slice()];
    try {
      const between = keeper.step([start, (start + middle)/2, middle], h/2, depth + 1);
      if (!between) return null;
      keeper.wary = keeper.wary || Math.min(between.ratio, between.steady) < @WATCHED@;
      keeper.near = keeper.near || between.ratio < @WATCHED@;
      bridges.from(next);
      y.set(next);
      me.rates(middle, F.at.y, F.at.k);
      return keeper.step([middle, (middle + end)/2, end], h/2, depth + 1);
    } finally {
      y.set(from[0]);
      k.set(from[1]);
    }
  };
  return keeper;
}

// The x with A x = r (A row by row) that is smallest in the metric of inverse weights; A has a known rank. Rows are
// brought to length 1 and orthogonalised, the one with most left first; rows that vanish or repeat others are left out.
function least_norm(A, right, weights, rank) {
  const columns = weights.length, root = weights.map(Math.sqrt);
  const length = row => Math.sqrt(row.reduce((sum, x) => sum + x*x, 0));
  const B = right.map((_, i) => root.map((w, j) => A[i*columns + j]*w)), size = B.map(length);
  if (![...size, ...right].every(Number.isFinite)) return Array(columns).fill(NaN);
  const most = Math.max(0, ...size), x = Array(columns).fill(0);
  const scale = size.map(s => s > @SHORT@*most ? s : Infinity), rest = right.map((v, i) => v/scale[i]);
  B.forEach((row, i) => row.forEach((v, j) => { row[j] = v/scale[i]; }));
  for (let turn = 0; turn < rank; turn++) {
    const left = B.map(length), best = left.indexOf(Math.max(...left));
    if (!(left[best] > @REPEATED@)) break;
    const one = B[best].map(v => v/left[best]), share = rest[best]/left[best];
    one.forEach((v, j) => { x[j] += share*v; });
    B.forEach((row, i) => {
      const along = row.reduce((sum, v, j) => sum + v*one[j], 0);
      rest[i] -= share*along;
      row.forEach((v, j) => { row[j] = i === best ? 0 : v - along*one[j]; });
    });
  }
  return x.map((v, j) => v*root[j]);
}
