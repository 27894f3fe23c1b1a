// Events of a model: the kernel locates them within steps, acts on them and lists them.

// Memory of events, and the function that the kernel calls where parameters were set.
function watch(F, kernel, table, grow) {
  const A = F.at, {memory} = kernel;
  grow(A.end + 16*kernel.room_size(A.model) + 8*kernel.watch(A.events));
  new DataView(memory.buffer).setInt32(A.events + F.events.at.use_values, table.grow(1, kernel.use_values), true);
}

function events(me, kernel, whole, constants) {
  const {F, m, p} = me, A = F.at, {names, values, at} = F.events;
  const fresh = m.slice(A.events/8, A.events_end/8), first = A["events.values"]/8, listed = A["events.happenings"];
  const real = name => (A.events + at[name])/8, int = name => whole[(A.events + at[name])/4];
  const said = ["", ...Array(3).fill("fires repeatedly (chattering)"), "sets a value that is not finite",
    "sets a value that the model does not allow", "sets states against the constraints", "cannot be located"];
  const given = i => p[i] === F.parameters[i].value*F.parameters[i].factor ? F.parameters[i].value
    : p[i]/F.parameters[i].factor;
  let found = [], before = new Map(), line;  // parameters that events have set: what they were, what they are
  const it = {
    stopped: () => int("stopped") >= 0,
    problem() {
      const when = `at t = ${+m[real("when")].toPrecision(6)} s`, why = int("problem");
      return why ? `event '${names[int("culprit")]}' ${said[why]} ${when}: restart with other values`
        : it.stopped() ? `event '${names[int("stopped")]}' stopped the run ${when}: restart to run again` : "";
    },
    // At the start of a run, or after a change: the values that events read.
    set(begun, h, until) {
      if (!begun) {
        found = [];
        m.set(fresh, A.events/8);
        [m[real("h")], m[real("span")], m[real("until")]] = [h, until < Infinity ? until : F.t_end, until];
      }
      values.forEach((i, k) => { m[first + k] = given(i); });
    },
    // Takes n steps; there is room for what happens in some of them.
    go(n) {
      const last = me.i + n;
      let status;
      do {
        status = kernel.go(A.job, last - me.i);
        for (let k = 0; k < int("n_happenings"); k++)
          if (whole[listed/4 + 4*k + 1] < 2) found.push({name: names[whole[listed/4 + 4*k]], t: m[listed/8 + 2*k + 1]});
        whole[(A.events + at.n_happenings)/4] = 0;
        found.splice(0, found.length - 1000);
      } while (!status && !it.problem() && me.i < last);
      return status;
    },
    use_values() {
      for (const [k, i] of values.entries()) {
        const {factor, positive} = F.parameters[i], x = m[first + k];
        if (positive && !(x > 0)) return 1;
        if (x === given(i)) continue;
        before.set(i, [before.has(i) ? before.get(i)[0] : p[i], x*factor]);
        p[i] = x*factor;
      }
      constants();
      return 0;
    },
    // Parameters as they were before events have set them, but for those that were changed since.
    undo() {
      for (const [i, [old, set]] of before) if (p[i] === set) p[i] = old;
      before.clear();
    },
    forget: () => before.clear(),
    happened: () => found.slice(),
    show(below) {
      const last = found.at(-1);
      if (!line) below.before(line = Object.assign(document.createElement("p"), {className: "note"}));
      line.textContent = last ? `event ${last.name} at t = ${+last.t.toPrecision(6)} s` : "";
    },
    kept: () => [found.slice(), new Map(before)],
    restore([listed_before, set]) { [found, before] = [listed_before, new Map(set)]; },
  };
  return it;
}
