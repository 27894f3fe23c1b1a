// A page without a model: where bodies were, row by row, and channels.
function film(F) {
  const all = new Float32Array(window.bellcrank.numbers), rows = F.time.length, wide = 12*F.bodies;
  const $ = id => document.getElementById(id), poses = new Float32Array(wide);
  const drawn = plots(F, $("plots"), $("channels"));
  const view = scene($("view"), F.scene, poses, Float32Array.from(F.places));
  const put = k => {
    poses.set(all.subarray(wide*k, wide*(k + 1)));
    return poses.slice();
  };
  const run = recorded(F.title, F.time, drawn, put, (c, k) => all[wide*rows + F.channels.indexOf(c)*rows + k]);
  const shown = player(F, [run], view, drawn);
  const go = t => {
    shown.go(t);
    shown.show();
  };
  const {ready, done} = window.bellcrank;
  window.bellcrank = {ready, facts: F, pause: shown.pause, poses, get t() { return run.t; }, go};
  done(window.bellcrank);
}

try {
  film(window.bellcrank.facts);
} catch (error) {
  const told = document.getElementById("told");
  told.textContent = `this browser cannot play the run: ${error}`;
  told.className = "bad";
}
