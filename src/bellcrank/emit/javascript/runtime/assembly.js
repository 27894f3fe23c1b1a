// Brings y onto the constraints with its loops closed, changing what is free (places of coordinates and speeds), in a
// few attempts of which each frees more; a sentence if that cannot be.
function assembled(me, attempts) {
  const {F, e, m, r, y} = me, L = r.LOOPS, {n_q, n_u, n_g, n_v} = L, probed = me.numbers(6);
  const largest = x => x.reduce((most, v) => Math.max(most, Math.abs(v)), 0), length = x => Math.hypot(...x);
  const results = (name, q, u, count) => {
    probed.set(q), probed.set(u, n_q);
    me.inputs(me.t);
    e[name](me.t, me.slot(6), F.at[name]);
    return Array.from(m.subarray(F.at[name]/8, F.at[name]/8 + count));
  };
  const drawn = L.sided.length ? Math.max(...L.sided) + 1 : 0;
  const sides = (q, u) => results("sides", q, u, drawn*(1 + n_q));
  const reversed = (q, u) => {
    const h = drawn ? sides(q, u) : [];
    return h.slice(0, drawn).some(x => !(x > 0));
  };
  // Rows g with slopes G; weighed by their sides, they have one zero, where directions point as drawn.
  const rows = (q, u, weighed) => {
    const flat = results("closure", q, u, n_g*(1 + n_q)), g = flat.slice(0, n_g), G = flat.slice(n_g);
    const H = weighed ? sides(q, u) : [], size = largest(g);
    L.sided.forEach((s, i) => {
      if (!weighed || s < 0) return;
      const d = Math.max(1 + H[s], @OPPOSITE@);
      for (let j = 0; j < n_q; j++) G[i*n_q + j] = (G[i*n_q + j] - g[i]/d*H[drawn + s*n_q + j])/d;
      g[i] /= d;
    });
    return {g, G, size};
  };
  const of_free = (A, count, width, free) =>
    Array.from({length: count}, (_, i) => free.map(j => A[i*width + j])).flat();
  const newton = (start, u, free, weighed) => {
    let q = start.slice(), at = rows(q, u, weighed);
    for (let turn = 0; turn < @TRIES@ && !(at.size < @CLOSED@); turn++) {
      let trial, next = at;
      for (const rank of new Set([L.rank_g, n_g])) { // the usual one first: redundant rows move an assembly far
        const step = least_norm(of_free(at.G, n_g, n_q, free), at.g, free.map(() => 1), rank), whole = length(step);
        let scale = whole > 0 ? Math.min(1, @STRIDE@/whole) : 1;
        for (let cut = 0; cut < @CUTS@; cut++, scale /= 2) {
          trial = q.slice();
          free.forEach((j, i) => { trial[j] -= scale*step[i]; });
          next = rows(trial, u, weighed);
          if (length(next.g) < length(at.g) || scale < @CRUMB@) break;
        }
        if (length(next.g) < length(at.g)) break;
      }
      if (!(length(next.g) < length(at.g))) break;
      [q, at] = [trial, next];
    }
    return at.size < @ASSEMBLED@ ? q : null;
  };
  const close = (q, u, free) => {
    for (let nudge = 0; nudge <= @NUDGES@; nudge++) {
      const start = q.map((x, j) => free.includes(j) ? x + @NUDGE@*nudge*Math.sin(j + nudge) : x);
      const found = newton(start, u, free, drawn > 0) || newton(start, u, free, false);
      if (found && !reversed(found, u)) return found;
      if (!drawn) return null;
    }
    return null;
  };
  const given = Array.from(y), u = given.slice(n_q);
  for (const {q: free_q, u: free_u} of attempts) {
    const q = close(given.slice(0, n_q), u, free_q);
    if (!q) continue;
    const first = n_g*(1 + n_q), speeds = u.slice();
    const of_speeds = () => results("closure", q, speeds, first + n_v*(1 + n_u)).slice(first);
    const at = of_speeds(), J = of_free(at.slice(n_v), n_v, n_u, free_u);
    const change = least_norm(J, at.slice(0, n_v), free_u.map(() => 1), n_v);
    free_u.forEach((j, i) => { speeds[j] -= change[i]; });
    if (largest(of_speeds().slice(0, n_v)) > @CARRIED@*Math.max(1, largest(speeds))) continue;
    y.set(q), y.set(speeds, n_q);
    return "";
  }
  return "the loops cannot be closed with these values";
}
