// Solves A X = B by elimination with full pivoting; unknowns that no row determines are zero.
function solved(A, B) {
  const n = A.length, at = Array(n).fill(null), rows = A.map((a, i) => {
    const most = Math.max(...a.map(Math.abs)) || 1;
    return [...a, ...B[i]].map(x => x/most);
  });
  for (let best = 1; best;) {
    let row, column;
    best = 0;
    for (const r of rows) if (!at.includes(r)) for (let j = 0; j < n; j++)
      if (!at[j] && Math.abs(r[j]) > Math.max(best, 1e-9)) [best, row, column] = [Math.abs(r[j]), r, j];
    if (!best) break;
    at[column] = row;
    const by = row[column];
    row.forEach((x, i) => { row[i] = x/by; });
    for (const r of rows) if (r !== row && r[column]) {
      const times = r[column];
      row.forEach((x, i) => { r[i] -= times*x; });
    }
  }
  return at.map((row, j) => row ? row.slice(n) : B[j].map(() => 0));
}

// Pulls a body at a point by a spring to the pointer, with critical damping. The spring acts by impulses between steps:
// the equations that run are those of the model, and the work of the impulses is the change of kinetic energy.
function pulling(me, canvas, view, may) {
  if (view && !view.tools) return null;  // without WebGL
  const {F, e, y, m} = me, A = F.at, S = F.scene, {omega, bodies, rows, armature} = F.drag;
  const {n_q} = F, n = y.length - n_q;
  const rates = m.subarray(A.k/8, A.k/8 + n_q + n), P = me.shown("poses"), sum = (n, f) => {
    let total = 0;
    for (let i = 0; i < n; i++) total += f(i);
    return total;
  };
  const inertia = me.shown("marks").subarray(-10*bodies - armature.length);
  let held = null, work = 0;  // held: the body, a point of it, and the pointer with its depth, or a fixed target
  // Derivatives of all poses by each speed; the last are those without speeds.
  const partial = () => {
    const state = y.slice(), last = rates.slice(), found = [], small = 1e-5;
    let rest = null;
    for (let j = n; j >= 0; j--) {
      y.set(state);
      y.fill(0, n_q);
      if (j < n) y[n_q + j] = 1;
      e.derivatives(me.t, A.y, A.y + 8*n_q, A.p, A.c, A.w, A.k, A.k + 8*n_q, A.externals);
      const by = rates.slice(0, n_q).map((x, i) => rest ? x - rest[i] : x), [less, more] = [-small, small].map(step => {
        by.forEach((x, i) => { y[i] = state[i] + step*x; });
        me.poses();
        return P.slice();
      });
      rest ??= by;
      found[j] = more.map((x, i) => (x - less[i])/(2*small));
    }
    y.set(state);
    rates.set(last);  // of the last step, which the next one may use
    me.poses();
    return found;
  };
  const places = (b, i) => [12*b + i, 12*b + 3 + 3*i, 12*b + 4 + 3*i, 12*b + 5 + 3*i];
  // Mass matrix, and behind it the rows of constraints.
  const masses = all => {
    const momenta = all.slice(0, n).map(a => {
      const found = new Float64Array(a.length);
      for (let b = 0; b < bodies; b++) for (let i = 0; i < 3; i++) {
        const at = places(b, i);
        [..."0123145625783689"].forEach((k, p) => { found[at[p >> 2]] += inertia[10*b + +k]*a[at[p % 4]]; });
      }
      return found;
    });
    const M = momenta.map(h => all.slice(0, n).map(a => sum(12*bodies, i => h[i]*a[i])));
    armature.forEach((j, i) => { M[j][j] += inertia[10*bodies + i]; });
    if (!rows) return M;
    me.call("closure");
    const from = A.closure/8 + F.n_g*(1 + n_q) + rows;
    for (let r = 0; r < rows; r++) {
      const row = Array.from(m.subarray(from + r*n, from + r*n + n));
      row.forEach((x, j) => M[j].push(x));
      M.push(row);
    }
    M.slice(n).forEach(row => row.push(...Array(rows).fill(0)));
    return M;
  };
  const ray = ([X, Y]) => {  // points by depth, along the directions of the screen
    const box = canvas.getBoundingClientRect(), {numbers: [wide, high, deep]} = view.tools.lens();
    const [x, y] = [2*(X - box.left)/box.width - 1, 1 - 2*(Y - box.top)/box.height];
    return z => [x*(1 - deep*z)/wide, y*(1 - deep*z)/high, z];
  };
  const place = v => view.tools.lens().eye.map((x, i) => x + sum(3, k => v[k]*view.tools.axes[k][i]));
  const from = ({body, at}) => [0, 1, 2].map(i => places(body, i).reduce((x, k, c) => x + P[k]*(c ? at[c - 1] : 1), 0));
  const to = () => held.target || place(ray(held.pointer)(held.depth));
  // The nearest body below the pointer.
  const pick = pointer => {
    const {sub, cross, dot, items, draw_items, lens, axes} = view.tools, {eye} = lens(), line = ray(pointer);
    const start = line(0), along = sub(line(1), start);
    let found = null;
    for (const item of items) {
      const body = S.marks[item.marks[0]];
      if (body < 0 || item.marks.some(k => S.marks[k] !== body)) continue;
      draw_items([item], {hit(numbers, M, d) {
        const corner = i => {
          const p = eye.map((x, r) => d[r] - x + sum(3, c => M[3*c + r]*numbers[i + c]));
          return axes.map(a => dot(a, p));
        };
        for (let i = 0; i < numbers.length; i += 18) {
          const a = corner(i), b = sub(corner(i + 6), a), c = sub(corner(i + 12), a), h = cross(along, c);
          const s = sub(start, a), q = cross(s, b), by = dot(b, h), k = dot(s, h)/by, l = dot(along, q)/by;
          const depth = dot(c, q)/by;
          if (k >= 0 && l >= 0 && k + l <= 1 && !(found && depth <= found.depth)) found = {body, depth, pointer};
        }
      }});
    }
    if (!found) return null;
    const there = place(line(found.depth)), {body} = found;
    found.at = [0, 1, 2].map(c => sum(3, i => P[12*body + 3 + 3*i + c]*(there[i] - P[12*body + i])));
    return found;
  };
  const drop = () => { held = S.pulled = null; };
  const hand = {
    used: false, view,
    get held() { return held; },
    get work() { return work; },
    get energy() {
      const M = masses(partial());
      return sum(n, i => sum(n, j => y[n_q + i]*M[i][j]*y[n_q + j]))/2;
    },
    hold(body, at, target) { held = {body, at, target}; },
    drop,
    show() { S.pulled = held && [from(held), to()]; },
    // The impulse of some time.
    push(h, pace = 1) {
      if (!held) return;
      me.poses();
      const all = partial(), M = masses(all), {body, at} = held, axis = [0, 1, 2], here = from(held), there = to();
      const J = axis.map(i => all.map(a => places(body, i).reduce((x, k, c) => x + a[k]*(c ? at[c - 1] : 1), 0)));
      const X = solved(M, M.map((_, j) => axis.map(i => j < n ? J[i][j] : 0)));
      const W = axis.map(i => axis.map(l => sum(n, j => J[i][j]*X[j][l]))), size = Math.hypot(...W.flat());
      if (!(size > 0)) return;
      const speed = row => row(n) + sum(n, j => row(j)*y[n_q + j]);
      // the view, with the first body
      const moves = axis.map(i => view && view.view.at(-1) ? speed(j => all[j][i]) : 0);
      const v = axis.map(i => speed(j => J[i][j]) - moves[i]), d = axis.map(i => there[i] - here[i]);
      const w = Math.max(omega, 14/pace), stiff = w*w/size, damp = 2*w/size + stiff*h;
      const then = solved(axis.map(i => axis.map(l => (i === l) + damp*h*W[i][l])),
        axis.map(i => [v[i] + h*stiff*sum(3, l => W[i][l]*d[l])])).flat();
      const f = axis.map(i => stiff*d[i] - damp*then[i]);
      for (let j = 0; j < n; j++) y[n_q + j] += h*sum(3, l => X[j][l]*f[l]);
      work += h*sum(3, i => f[i]*(moves[i] + (v[i] + then[i])/2));
      hand.used = true;
      me.changed();
      return me.problem;
    },
  };
  if (!canvas) return hand;
  canvas.title = `drag a body: pull it; elsewhere, with shift or paused: ${canvas.title}`;
  const finger = ({clientX, clientY}) => [clientX, clientY];
  canvas.addEventListener("pointerdown", event => {
    if (held || event.shiftKey || !may()) return;
    const [x, y] = finger(event);
    for (const [a, b] of [[0, 0], [12, 0], [-12, 0], [0, 12], [0, -12]])  // px: a finger is not thin
      held ??= pick([x + a, y + b]);
    if (!held) return;
    held.finger = event.pointerId;
    canvas.setPointerCapture(event.pointerId);
    event.stopImmediatePropagation();
  }, true);
  canvas.addEventListener("pointermove", event => {
    if (held && held.finger === event.pointerId) held.pointer = finger(event);
  });
  for (const end of ["pointerup", "pointercancel"])
    canvas.addEventListener(end, event => { if (held && held.finger === event.pointerId) drop(); });
  return hand;
}
