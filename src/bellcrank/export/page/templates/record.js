// A run that was recorded, as a source: times, the numbers of every row, put(row), which takes them over, and the value
// of a channel in a row.
function recorded(label, time, drawn, put, value) {
  const last = time.length - 1, first = time[0];
  let at = -1;
  const me = {
    label, t: first, problem: "", span: [first, time[last]], window: Math.max(time[last] - first, 1e-9),
    begin: () => me.start(),
    start() {
      me.go(first);
    },
    // The plots show what has been played.
    go(t) {
      me.t = Math.min(Math.max(t, first), time[last]);
      let k = at >= 0 && time[at] <= me.t ? at : 0;
      while (k < last && time[k + 1] <= me.t + 1e-12) k++;
      if (k < at) {
        drawn.clear();
        at = -1;
      }
      for (let i = at + 1; i <= k; i++) drawn.note(time[i] - first, c => value(c, i));
      at = k;
    },
    advance(passed, pace) {
      const t = me.t + passed*pace;
      me.go(t > time[last] ? first : t);  // again from the start
    },
    pose: () => put(at),
    leave() { at = -1; },
    samples() {
      const few = Math.max(1, Math.floor(time.length/60)), kept = at;
      const found = Array.from(time, (_, k) => k).filter(k => k % few === 0).map(k => put(k));
      put(kept);
      return found;
    },
  };
  return me;
}
