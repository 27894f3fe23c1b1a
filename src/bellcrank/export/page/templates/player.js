const plain = text => {  // of an address
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

// The window around what moves: buttons, speed, time, plots. `sources` are what can be shown, each with its `label`,
// the time `t`, a `problem` in words or "", begin(), start(), advance(seconds that passed, speed), go(time), pose(),
// which says where bodies are, and samples(), poses of several times; if it has an end, the `span` of its time. One
// that is `unplotted` has no channels. `asked` takes what an address says of other than the time: was it taken?
function player(F, sources, view, drawn, asked = () => false) {
  const $ = id => document.getElementById(id), seek = $("seek"), what = $("what");
  let source = null, running = true, before = null, kept = false;
  const paces = F.paces.filter(x => x > F.pace/20 && x < F.pace*20);
  $("pace").append(...paces.map(x => new Option(`${x} ×`, x, x === F.pace, x === F.pace)));
  what.append(...sources.map((s, i) => new Option(s.label, i)));
  what.hidden = sources.length < 2;
  const show = () => {
    const {t, problem, late} = source, slow = late ? ` (slower than ${$("pace").value} ×)` : "";
    const about = running ? slow : " (paused)";
    const digits = Math.max(0, Math.min(6, 3 - Math.floor(Math.log10(source.window || F.window))));
    $("told").textContent = problem || `t = ${t.toFixed(digits)} s${about}`;
    $("told").className = problem ? "bad" : "";
    source.pose();
    view.draw(source.ghost ? source.ghost() : null);
    drawn.draw(t - (source.span ? source.span[0] : 0));
    if (source.shown) source.shown();
    if (source.span) seek.value = t;
  };
  const pause = stop => {
    running = !stop;
    $("go").textContent = running ? "Pause" : "Continue";
  };
  const choose = i => {
    if (source && source.leave) source.leave();
    source = sources[i];
    what.value = i;
    drawn.clear();
    source.begin();
    seek.hidden = !source.span;
    $("plots").hidden = $("more").hidden = Boolean(source.unplotted);
    if (source.span) [seek.min, seek.max] = source.span;
    view.fit(source.samples());
  };
  const go = t => {
    source.go(t);
    pause(true);
  };
  const frame = now => {
    const passed = before === null ? 0 : Math.min(0.1, (now - before)/1000);
    before = now;
    if (running && !source.problem) source.advance(passed, Number($("pace").value));
    show();
    requestAnimationFrame(frame);
  };
  what.onchange = () => choose(Number(what.value));
  seek.oninput = () => go(Number(seek.value));
  $("go").onclick = () => pause(running);
  $("again").onclick = () => source.start();
  $("keep").onclick = () => {
    kept = !kept;
    drawn.keep(kept);
    if (source.keep) source.keep(kept);
    $("keep").textContent = kept ? "Drop baseline" : "Keep as baseline";
  };
  $("csv").onclick = () => {
    const address = URL.createObjectURL(new Blob([drawn.csv()], {type: "text/csv"}));
    make("a", {href: address, download: `${F.title}.csv`}).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };
  choose(0);
  const to = address => {  // as it was asked for: a changed value may have replaced it since
    const refused = [];
    let time = null;
    for (const said of new URL(address).hash.slice(1).split("&").filter(x => x.includes("="))) {
      const [, name, number] = /^([^=]+)=([-+.0-9e]+)$/i.exec(plain(said)) || [];
      if (name === "t" && /^([0-9]+[.]?[0-9]*|[.][0-9]+)$/.test(number)) time = Number(number);
      else if (!name || name === "t" || !asked(name, Number(number))) refused.push(plain(said));
    }
    $("refused").textContent = refused.length ? `Not used: ${refused.join(", ")}` : "";
    if (time !== null) go(time);
  };
  to(location.href);
  addEventListener("hashchange", event => to(event.newURL));
  show();
  requestAnimationFrame(frame);
  return {pause, choose, show, go, get source() { return source; }, get running() { return running; }};
}
