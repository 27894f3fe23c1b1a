// What a page shows where WebAssembly is refused: the first picture, and why it does not move.
function still(F, error) {
  const told = document.getElementById("told");
  told.textContent = "This browser does not allow WebAssembly here, so the model stands still.";
  told.title = error;
  told.className = "bad";
  document.querySelectorAll("button, label, aside").forEach(x => { x.hidden = true; });
  if (!F.scene) return;
  const [poses, marks] = ["poses", "marks"].map(name => Float64Array.from(F.still[name]));
  const view = scene(document.getElementById("view"), F.scene, poses, marks);
  view.fit([poses]);
  view.draw();
}

// The page of a model: a run that goes on while it is looked at; beside it a recorded run, and modes, if it has them.
async function live(F) {
  const $ = id => document.getElementById(id), {module, numbers} = window.bellcrank;
  addEventListener("error", event => {
    $("told").textContent = `the page failed: ${event.message}`;
    $("told").className = "bad";
  });
  const me = await engine(F, module).catch(error => still(F, error));
  if (!me) return;
  const drawn = plots(F, $("plots"), $("channels"));
  let dead = "", left = 0, late = false, away = null, first = null;
  const look = () => drawn.note(me.t, c => channel(me, c));
  const restart = () => {
    me.begin();
    [left, dead] = [0, me.problem];
    drawn.clear();
    look();
  };
  const changed = () => {  // from the last state that was right, if a step had failed
    me.changed();
    dead = me.problem;
  };
  const panel = controls(me, $("values"), changed), poses = () => F.scene ? me.shown("poses").slice() : [];
  if (F.road) road(F.scene.ground, me.height);
  const view = F.scene ? scene($("view"), F.scene, me.shown("poses"), me.shown("marks"))
    : {fit() {}, draw() {}, seen: () => 0};
  // Takes steps until a time, or until a moment is over.
  const go = (until, moment = Infinity) => {
    const every = Math.max(1, Math.round(F.window/F.step/600)), began = performance.now();
    while (!dead && me.t < until - 1e-9*F.step) {
      const rest = Math.max(1, Math.round((until - me.t)/F.step));
      if (!me.advance(Math.min(every - me.i % every, rest))) {
        dead = me.problem;
        me.outputs();
      }
      if (me.i % every === 0 || dead) look();
      if (performance.now() - began > moment) return true;
    }
    return false;
  };
  // A first quick run: the view shows all of it, plots what varies in it.
  const ahead = () => {
    const kept = me.kept(), samples = [], seen = [], began = performance.now(), every = Math.ceil(F.t_end/F.step/60);
    let last = began;
    do {
      if (me.i % every && performance.now() - last < 10) continue;
      last = performance.now();
      me.poses();
      samples.push(poses());
      seen.push(F.channels.map(c => channel(me, c)));
    } while (me.t < F.t_end && performance.now() - began < 300 && me.advance(Math.min(100, every - me.i % every)));
    me.restore(kept);
    me.poses();
    return {samples, seen};
  };
  const model = {
    label: "the model, live",
    get t() { return me.t; },
    get problem() { return dead; },
    get late() { return late; },
    begin() {
      $("values").inert = false;
      if (away) me.restore(away);
      else restart();
      away = null;
    },
    leave() {
      away = me.kept();
      $("values").inert = true;
    },
    start: restart,
    advance(passed, pace) {
      if (panel.drive(passed)) changed();
      left += passed*pace;
      const until = me.t + Math.floor(left/F.step + 1e-9)*F.step, start = me.t;
      late = go(until, 60);
      left = late ? 0 : Math.max(0, left - (me.t - start));
    },
    go(t) {
      restart();
      late = go(t, 3000);  // ms: a time of an address may be out of reach
    },
    pose: me.poses,
    shown() {
      panel.show();
      if (me.events) me.events.show($("plots"));
    },
    samples: () => first.samples,
  };
  panel.defaults();
  restart();
  first = ahead();
  const varies = i => {
    const of = first.seen.map(row => row[i]), high = Math.max(...of), low = Math.min(...of);
    return high - low > 1e-6*Math.max(Math.abs(high), Math.abs(low));
  };
  const told_apart = F.chosen ? F.plots : F.plots.filter(varies).slice(0, 3);
  (told_apart.length ? told_apart : F.plots.slice(0, 3)).forEach(drawn.add);
  const sources = [model];
  if (F.record) {
    const {title, time} = F.record, all = new Float32Array(numbers), rows = time.length;
    const value = (c, k) => all[F.channels.indexOf(c)*rows + k];
    const states = F.channels.filter(c => c.column <= F.y.length);
    sources.push(recorded(title, time, drawn, k => {
      states.forEach(c => { me.y[c.column - 1] = value(c, k)*c.factor; });
      me.poses();
      return poses();
    }, value));
  }
  if (F.linear) sources.push(...F.linear.modes.map(one => mode(me, F, F.linear, one, poses)));
  const shown = player(F, sources, view, drawn);
  $("back").onclick = () => {
    shown.choose(0);
    panel.defaults();
    restart();
  };
  window.bellcrank = {
    facts: F, exports: me.e, run: (...given) => whole_run(me, ...given), set: panel.set, restart,
    pause: shown.pause, choose: shown.choose, seen: view.seen,
    get t() { return shown.source.t; },
    get problem() { return shown.source.problem; },
    poses: () => {
      shown.source.pose();
      return Array.from(poses());
    },
    loose: me.loose,
    get events() { return me.events ? me.events.happened() : []; },
    values: () => {
      me.outputs();
      return Object.fromEntries(F.channels.map(c => [c.name, channel(me, c)]));
    },
  };
}

live(window.bellcrank.facts).catch(error => {
  const told = document.getElementById("told");
  told.textContent = `this browser cannot run the model: ${error}`;
  told.className = "bad";
});
