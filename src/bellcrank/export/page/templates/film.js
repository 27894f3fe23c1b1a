// A page without a model: where bodies were, row by row, and channels.
function film(F) {
  const rows = F.time.length, wide = 12*F.bodies, count = wide + F.channels.length, {numbers} = window.bellcrank;
  const steps = new Float32Array(numbers.slice(0, 8*count)), bytes = new Uint8Array(numbers, 8*count);
  const all = new Float32Array(count*rows);  // column by column: by how much each differs from that before
  for (let c = 0, i = 0; c < count; c++) for (let k = 0, at = 0; k < rows; k++, i++) {
    let folded = 0;
    for (let p = 0; p < F.bytes; p++) folded = 256*folded + bytes[p*count*rows + i];
    at += folded % 2 ? -(folded + 1)/2 : folded/2;
    all[i] = steps[c] + steps[count + c]*at;
  }
  const $ = id => document.getElementById(id), poses = new Float32Array(wide);
  const drawn = plots(F, $("plots"), $("channels"));
  const view = scene($("view"), F.scene, poses, Float32Array.from(F.places));
  const put = k => {
    for (let c = 0; c < wide; c++) poses[c] = all[c*rows + k];
    return poses.slice();
  };
  const run = recorded(F.title, F.time, drawn, put, (c, k) => all[(wide + F.channels.indexOf(c))*rows + k]);
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
