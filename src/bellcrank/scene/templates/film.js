// A run that was recorded, played: poses of bodies and channels of every row that was kept.
const channel = (me, c) => me.row(c);

async function film(F) {
  const $ = id => document.getElementById(id), told = $("told"), seek = $("seek");
  const bytes = Uint8Array.from(atob($("numbers").textContent), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const all = new Float32Array(await new Response(stream).arrayBuffer());
  const time = F.time, last = time.length - 1, wide = 12*F.bodies, poses = new Float32Array(wide);
  const view = scene($("view"), F.scene, poses, Float32Array.from(F.places));
  const drawn = plots(F, $("plots"), $("channels"));
  let t = time[0], at = -1, running = true, before = null;
  const values = c => all.subarray(wide*time.length + F.channels.indexOf(c)*time.length);
  // The plots show what has been played.
  const note = upto => {
    for (let k = at < upto ? at + 1 : 0; k <= upto; k++) drawn.note({t: time[k] - time[0], row: c => values(c)[k]});
  };
  const show = () => {
    let k = at >= 0 && time[at] <= t ? at : 0;
    while (k < last && time[k + 1] <= t + 1e-12) k++;
    if (k !== at) {
      if (k < at) drawn.clear();
      note(k);
      at = k;
      poses.set(all.subarray(wide*k, wide*(k + 1)));
    }
    told.textContent = `t = ${t.toFixed(2)} s${running ? "" : " (paused)"}`;
    view.draw();
    drawn.draw(time[at] - time[0]);
    seek.value = t;
  };
  const pause = stop => {
    running = !stop;
    $("go").textContent = running ? "Pause" : "Go on";
  };
  const frame = now => {
    const passed = before === null ? 0 : Math.min(0.1, (now - before)/1000);
    before = now;
    if (running) {
      t += passed*Number($("pace").value);
      if (t > time[last]) t = time[last] > time[0] ? time[0] : time[last];  // again from the start
    }
    show();
    requestAnimationFrame(frame);
  };
  [seek.min, seek.max] = [time[0], time[last]];
  seek.oninput = () => {
    t = Number(seek.value);
    pause(true);
  };
  $("go").onclick = () => pause(running);
  $("again").onclick = () => {
    t = time[0];
    pause(false);
  };
  const few = Math.max(1, Math.floor(time.length/60));
  view.fit(time.map((_, k) => k).filter(k => k % few === 0).map(k => all.slice(wide*k, wide*(k + 1))));
  F.channels.slice(0, 3).forEach((_, i) => drawn.add(i));
  const to = () => {
    const asked = /^#t=([0-9.]+)$/.exec(location.hash);
    if (!asked) return;
    t = Math.min(Number(asked[1]), time[last]);
    pause(true);
  };
  to();
  addEventListener("hashchange", to);
  show();
  window.bellcrank = {facts: F, pause, poses, get t() { return t; }, go: s => {
    t = s;
    pause(true);
    show();
  }};
  requestAnimationFrame(frame);
}

film(JSON.parse(document.getElementById("facts").textContent)).catch(error => {
  const told = document.getElementById("told");
  told.textContent = `this browser cannot play the run: ${error}`;
  told.className = "bad";
});
