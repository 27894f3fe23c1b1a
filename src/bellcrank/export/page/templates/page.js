// The page: a run that goes on while it is looked at.
async function live(F) {
  const $ = id => document.getElementById(id), told = $("told");
  const say = (text, bad) => {
    told.textContent = text;
    told.className = bad ? "bad" : "";
  };
  addEventListener("error", event => say(`the page failed: ${event.message}`, true));
  const {e, m, r, kind} = await engine(F, window.bellcrank.module);
  const me = runner(F, e, m, r, F.free.length ? keeper_of : null);
  F.signals.forEach((q, s) => {
    q.value = t => q.points ? spline_value(q.points, q.pieces, 0, t) : KINDS[q.kind].value(0, t, q.numbers);
    me.held[s] = q.held;
  });
  $("pace").append(...F.paces.map(x => new Option(`${x} ×`, x, x === F.pace, x === F.pace)));
  const digits = Math.max(0, Math.min(6, 3 - Math.floor(Math.log10(F.t_end))));
  const drawn = plots(F, $("plots"), $("channels"));
  let running = true, dead = "", left = 0, before = null, late = false;
  const look = () => {
    me.outputs();
    drawn.note(me);
  };
  const restart = () => {
    me.y.set(F.y);
    [me.t, left, dead] = [0, 0, ""];
    e.constants();
    const moved = F.parameters.some((q, i) => me.p[i] !== q.value*q.factor);
    if (F.free.length && moved) dead = assembled(me, F.free);
    drawn.clear();
    if (!dead) me.begin();
    look();
  };
  const panel = controls(me, $("values"), () => {
    if (dead) return;
    me.changed();
    dead = me.problem;
  });
  const poses = () => F.scene ? m.slice(F.at.poses/8, F.at.marks/8) : m.slice(0, 0);
  const view = F.scene ? scene($("view"), F.scene, m.subarray(F.at.poses/8), m.subarray(F.at.marks/8))
    : {fit() {}, draw() {}};
  // Takes steps until a time, or until a moment is over.
  const go = (until, moment = Infinity) => {
    const every = Math.max(1, Math.round(F.window/F.step/600)), began = performance.now();
    while (!dead && me.t < until - 1e-9*F.step) {
      if (!me.step()) dead = me.problem;
      if (me.i % every === 0 || dead) look();
      if (performance.now() - began > moment) return true;
    }
    return false;
  };
  const show = () => {
    const about = late ? " (slower than real time)" : running ? "" : " (paused)";
    say(dead || `t = ${me.t.toFixed(digits)} s${about}`, dead);
    me.poses();
    view.draw();
    drawn.draw(me.t);
    panel.show();
  };
  const frame = now => {
    const passed = before === null ? 0 : Math.min(0.1, (now - before)/1000);
    before = now;
    if (running && !dead) {
      if (panel.drive(passed)) me.changed();
      left += passed*Number($("pace").value);
      const until = me.t + Math.floor(left/F.step + 1e-9)*F.step, start = me.t;
      late = go(until, 60);
      left = late ? 0 : Math.max(0, left - (me.t - start));
    }
    show();
    requestAnimationFrame(frame);
  };
  const pause = stop => {
    running = !stop;
    $("go").textContent = running ? "Pause" : "Go on";
  };
  $("go").onclick = () => pause(running);
  $("again").onclick = () => restart();
  $("back").onclick = () => {
    panel.defaults();
    restart();
  };
  panel.defaults();
  restart();
  // The view shows all of a first quick run, plots what varies in it.
  const kept = me.kept(), samples = [], seen = [], began = performance.now(), every = Math.ceil(F.t_end/F.step/60);
  let last = began;
  do {
    if (me.i % every && performance.now() - last < 10) continue;
    last = performance.now();
    me.poses();
    me.outputs();
    samples.push(poses());
    seen.push(F.channels.map(c => channel(me, c)));
  } while (me.t < F.t_end && performance.now() - began < 300 && me.step());
  me.restore(kept);
  me.poses();
  view.fit(samples);
  const varies = i => {
    const of = seen.map(row => row[i]), high = Math.max(...of), low = Math.min(...of);
    return high - low > 1e-6*Math.max(Math.abs(high), Math.abs(low));
  };
  const told_apart = F.chosen ? F.plots : F.plots.filter(varies).slice(0, 3);
  (told_apart.length ? told_apart : F.plots.slice(0, 3)).forEach(drawn.add);
  look();
  const to = () => {
    const asked = /^#t=([0-9.]+)$/.exec(location.hash);
    if (!asked) return;
    restart();
    go(Number(asked[1]));
    pause(true);
  };
  to();
  addEventListener("hashchange", to);
  window.bellcrank = {
    facts: F, exports: e, kind, run: (...given) => whole_run(me, ...given), set: panel.set, pause, restart,
    get t() { return me.t; },
    get problem() { return dead; },
    values: () => {
      me.outputs();
      return Object.fromEntries(F.channels.map(c => [c.name, channel(me, c)]));
    },
  };
  requestAnimationFrame(frame);
}

live(JSON.parse(document.getElementById("facts").textContent)).catch(error => {
  const told = document.getElementById("told");
  told.textContent = `this browser cannot run the model: ${error}`;
  told.className = "bad";
});
