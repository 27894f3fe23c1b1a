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
  let dead = "", left = 0, late = false, away = null, last = "", soon = 0;  // last: the value that was set at last
  let trace = [], past = null;  // poses of this run over time, and of the one that is kept, with its marks
  const look = () => {
    drawn.note(me.t, c => channel(me, c));
    if (!F.scene) return;
    me.poses();
    trace.push([me.t, poses()]);
    if (trace.length > 4000) trace.splice(0, 2000);
  };
  const failed = () => { dead = me.problem && last ? `${last}: ${me.problem}` : me.problem; };
  const restart = () => {
    me.begin();
    if (hand) hand.used = false;
    left = 0;
    failed();
    drawn.clear();
    trace = [];
    look();
  };
  const changed = (what = last) => {  // from the last state that was right, if a step had failed
    last = what;
    me.changed();
    failed();
    clearTimeout(soon);
    soon = setTimeout(() => {
      try {
        history.replaceState(null, "", `#${panel.address()}`);
      } catch {}  // a frame without an address of its own
    }, 300);
  };
  const panel = controls(me, $("values"), changed), poses = () => F.scene ? me.shown("poses").slice() : [];
  const drive = F.signals.length ? driving(me, panel, $("pads")) : null;
  if (F.pace !== 1) panel.note(`shown at ${F.pace} × real time: a run takes ${+F.t_end.toPrecision(4)} s`);
  [...F.notes, `${F.method}, steps of ${F.step} s`].forEach(panel.note);
  if (F.road) road(F.scene.ground, me.height);
  const view = F.scene ? scene($("view"), F.scene, me.shown("poses"), me.shown("marks"))
    : {fit() {}, draw() {}, seen: () => 0};
  const hand = F.drag && pulling(me, $("view"), view, () => shown.running && !dead && shown.source === model);
  // Takes steps until a time, or until a moment is over.
  const go = (until, moment = Infinity) => {
    const every = Math.max(1, Math.round(F.window/F.step/600)), began = performance.now();
    while (!dead && me.t < until - 1e-9*F.step) {
      const rest = Math.max(1, Math.round((until - me.t)/F.step));
      if (!me.advance(Math.min(every - me.i % every, rest))) {
        failed();
        me.outputs();
      }
      if (me.i % every === 0 || dead) look();
      if (performance.now() - began > moment) return true;
    }
    return false;
  };
  // Poses of the run that was taken when the page was made.
  const samples = () => {
    const kept = me.y.slice(), found = [];
    for (const q of F.way) {
      me.y.set(q);
      me.poses();
      found.push(poses());
    }
    me.y.set(kept);
    me.poses();
    return found.length ? found : [poses()];
  };
  const own = () => F.signals.every((q, s) => me.held[s] === q.held) && !hand?.used;  // nobody has moved it
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
      if ($("repeat").checked && me.t >= F.t_end && own()) return restart();
      const parts = hand?.held || drive && drive.on ? Math.ceil(100*passed*pace) : 1;  // inputs move smoothly
      const began = performance.now();
      late = false;
      for (let k = 0; k < parts && !late && !dead; k++) {
        if (drive && drive.move(passed/parts)) changed();
        left += passed*pace/parts;
        const until = me.t + Math.floor(left/F.step + 1e-9)*F.step, start = me.t;
        if (hand && until > start && hand.push(until - start, pace)) failed();
        late = go(until, 60 - (performance.now() - began));
        left = late ? 0 : Math.max(0, left - (me.t - start));
      }
    },
    go(t) {
      restart();
      late = go(t, 3000);  // ms: a time of an address may be out of reach
    },
    pose: me.poses,
    keep(on) { past = on && F.scene ? [trace, me.shown("marks").slice()] : null; },
    ghost() {
      const row = past && past[0].findLast(x => x[0] <= me.t + 1e-9);
      return row ? [row[1], past[1]] : null;
    },
    shown() {
      panel.show();
      if (me.events) me.events.show($("plots"));
      if (hand) hand.show();
    },
    samples,
  };
  panel.defaults();
  restart();
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
  $("repeat").checked = F.signals.every(q => q.held === null) || F.signals.some(q => q.breaks.length);
  const shown = player(F, sources, view, drawn, (name, v) => panel.has(name) && panel.set(name, v));
  $("back").onclick = () => {
    shown.choose(0);
    if (drive) drive.forget();
    panel.defaults();
    changed("");
    restart();
  };
  const {ready, done} = window.bellcrank;
  window.bellcrank = {
    ready, facts: F, exports: me.e, run: (...given) => whole_run(me, ...given), set: panel.set, restart,
    settings: panel.settings,
    pause: shown.pause, choose: shown.choose, seen: view.seen,
    get t() { return shown.source.t; },
    get problem() { return shown.source.problem; },
    poses: () => {
      shown.source.pose();
      return Array.from(poses());
    },
    loose: me.loose, hand,
    get events() { return me.events ? me.events.happened() : []; },
    values: () => {
      me.outputs();
      return Object.fromEntries(F.channels.map(c => [c.name, channel(me, c)]));
    },
    csv: drawn.csv, get address() { return panel.address(); }, get fit() { return view.view; },
  };
  done(window.bellcrank);
}

live(window.bellcrank.facts).catch(error => {
  const told = document.getElementById("told");
  told.textContent = `this browser cannot run the model: ${error}`;
  told.className = "bad";
});
