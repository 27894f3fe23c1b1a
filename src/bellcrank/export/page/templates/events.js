// Events of a model, and what rigid wheels do: the kernel locates them within steps, acts on them and lists them.

// Memory of events, and the function that the kernel calls where parameters were set.
function watch(F, kernel, table, grow) {
  const A = F.at, {memory} = kernel;
  grow(A.end + 16*kernel.room_size(A.model) + 8*kernel.watch(A.events));
  new DataView(memory.buffer).setInt32(A.events + F.events.at.use_values, table.grow(1, kernel.use_values), true);
}

function events(me, kernel, whole, constants) {
  const {F, m, p} = me, A = F.at, {names, values, at, wheels} = F.events;
  const fresh = m.slice(A.events/8, A.events_end/8), first = A["events.values"]/8, listed = A["events.happenings"];
  const real = name => (A.events + at[name])/8, int = name => whole[(A.events + at[name])/4];
  const said = ["", ...Array(3).fill("fires repeatedly (chattering)"), "sets a value that is not finite",
    "sets a value that the model does not allow", "sets states against the constraints", "cannot be located"];
  const given = i => p[i] === F.parameters[i].value*F.parameters[i].factor ? F.parameters[i].value
    : p[i]/F.parameters[i].factor;
  const modes = wheels.length ? m.slice(A.modes/8, A.modes/8 + F.events.modes) : [], told = (A.job + F.job.n_told)/4;
  let found = [], before = new Map(), below = "", line;  // before: parameters that events have set, and what they set
  const raise_wheels = () => {
    m.set(modes, A.modes/8);
    kernel.raise_wheels(A.job);
    const deep = wheels.find(([, strict], i) => strict && m[A.depths/8 + i] > 0);
    below = deep ? `${deep[0]} starts below the ground: choose other values, and restart` : "";
  };
  const it = {
    stopped: () => int("stopped") >= 0,
    problem() {
      const when = `at t = ${+m[real("when")].toPrecision(6)} s`, why = int("problem");
      return why ? `event '${names[int("culprit")]}' ${said[why]} ${when}: restart with other values`
        : it.stopped() ? `event '${names[int("stopped")]}' stopped the run ${when}: restart to run again` : below;
    },
    // At the start of a run, or after a change: the values that events read.
    set(begun, h, until) {
      if (!begun) {
        found = [];
        m.set(fresh, A.events/8);
        if (wheels.length) raise_wheels();
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
        const more = [];
        for (let k = 0; k < int("n_happenings"); k++)
          if (whole[listed/4 + 4*k + 1] < 2) more.push({name: names[whole[listed/4 + 4*k]], t: m[listed/8 + 2*k + 1]});
        for (let k = 0; k < whole[told]; k++) {
          const [t, wheel, kind] = m.subarray(A.told/8 + 3*k, A.told/8 + 3*k + 3);
          more.push({name: `${wheels[wheel][0]} ${F.events.does[kind]}`, t});
        }
        whole[(A.events + at.n_happenings)/4] = whole[told] = 0;
        found.push(...more.sort((one, other) => one.t - other.t));
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
    kept: () => [found.slice(), new Map(before), below],
    restore([happened, set, deep]) { [found, before, below] = [happened.slice(), new Map(set), deep]; },
  };
  return it;
}
