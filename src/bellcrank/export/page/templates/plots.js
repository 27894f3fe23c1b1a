// Plots of channels over the last seconds; a menu adds one.
function plots(F, place, menu) {
  const shown = [], colour = name => getComputedStyle(document.documentElement).getPropertyValue(name);
  const words = c => c.label + (c.unit && c.unit !== "-" ? ` (${c.unit})` : "");
  const nice = span => {
    const rough = span/4, power = 10**Math.floor(Math.log10(rough)), q = rough/power;
    return power*(q < 1.5 ? 1 : q < 3.5 ? 2 : q < 7.5 ? 5 : 10);
  };
  const text = (v, step) => String(+(Math.abs(v) < 1e-9*step ? 0 : v).toPrecision(6));
  const add = c => {
    const box = Object.assign(document.createElement("div"), {className: "shown"});
    const canvas = Object.assign(document.createElement("canvas"), {className: "plot"});
    const close = Object.assign(document.createElement("button"), {textContent: "×"});
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `plot of ${words(c)} over time`);
    close.setAttribute("aria-label", `remove the plot of ${c.label}`);
    const one = {c, canvas, points: []};
    close.onclick = () => {
      shown.splice(shown.indexOf(one), 1);
      box.remove();
    };
    box.append(canvas, close);
    place.append(box);
    shown.push(one);
  };
  menu.append(new Option("add a channel …", ""), ...F.channels.map((c, i) => new Option(words(c), i)));
  menu.onchange = () => {
    if (menu.value !== "") add(F.channels[menu.value]);
    menu.value = "";
  };
  const draw = ({c, canvas, points}, t) => {
    const s = devicePixelRatio || 1, W = canvas.clientWidth, H = canvas.clientHeight, g = canvas.getContext("2d");
    if (canvas.width !== Math.round(W*s)) [canvas.width, canvas.height] = [Math.round(W*s), Math.round(H*s)];
    g.setTransform(s, 0, 0, s, 0, 0);
    g.clearRect(0, 0, W, H);
    const t0 = Math.max(0, t - F.window), t1 = Math.max(t, F.window);
    let first = 0, low = Infinity, high = -Infinity;
    while (first < points.length && points[first] < t0) first += 2;
    for (let i = first; i < points.length; i += 2) {
      low = Math.min(low, points[i + 1]);
      high = Math.max(high, points[i + 1]);
    }
    if (!Number.isFinite(low + high)) [low, high] = [0, 0];
    const least = 1e-9*Math.max(Math.abs(low), Math.abs(high), 1e-3);
    if (!(high - low > least)) {
      const d = Math.abs(high)*0.1 || 1;
      [low, high] = [low - d, high + d];
    }
    const X = v => 62 + (W - 76)*(v - t0)/(t1 - t0), Y = v => H - 20 - (H - 46)*(v - low)/(high - low);
    Object.assign(g, {font: "11px system-ui", fillStyle: colour("--dim"), strokeStyle: colour("--line"), lineWidth: 1});
    const dy = nice(high - low), dx = nice(t1 - t0);
    g.textAlign = "right";
    for (let v = Math.ceil(low/dy)*dy; v <= high + 1e-9*dy; v += dy) {
      g.beginPath(), g.moveTo(62, Y(v)), g.lineTo(W - 14, Y(v)), g.stroke();
      g.fillText(text(v, dy), 57, Y(v) + 4);
    }
    g.textAlign = "center";
    for (let v = Math.ceil(t0/dx)*dx; v <= t1; v += dx) g.fillText(text(v, dx), X(v), H - 5);
    g.textAlign = "left";
    g.fillStyle = colour("--fg");
    g.fillText(words(c), 62, 14);
    Object.assign(g, {strokeStyle: colour("--a"), lineWidth: 1.6});
    g.beginPath();
    for (let i = first; i < points.length; i += 2) g.lineTo(X(points[i]), Y(points[i + 1]));
    g.stroke();
  };
  return {
    add: i => add(F.channels[i]),
    note: (t, value) => shown.forEach(({c, points}) => {
      points.push(t, value(c));
      if (points.length > 8000) points.splice(0, 4000);
    }),
    clear: () => shown.forEach(({points}) => { points.length = 0; }),
    draw: t => shown.forEach(one => draw(one, t)),
  };
}
