// What a quantity is called, with its unit where it has one that is known.
const worded = ({label, unit}) => label + (unit && unit !== "-" && unit !== "?" ? ` (${unit})` : "");

// Plots of channels over the last seconds; a menu adds one. All channels are kept: one that is added has a past.
function plots(F, place, menu) {
  const shown = [], rows = [], colour = name => getComputedStyle(document.documentElement).getPropertyValue(name);
  const nice = span => {
    const rough = span/4, power = 10**Math.floor(Math.log10(rough)), q = rough/power;
    return power*(q < 1.5 ? 1 : q < 3.5 ? 2 : q < 7.5 ? 5 : 10);
  };
  const text = (v, step) => {
    const short = +(Math.abs(v) < 1e-9*step ? 0 : v).toPrecision(6), size = Math.abs(short);
    return size && (size < 1e-3 || size >= 1e6) ? short.toExponential() : String(short);
  };
  const add = i => {
    const c = F.channels[i], option = menu.options[i + 1];
    if (option.disabled) return;
    option.disabled = true;
    const box = Object.assign(document.createElement("div"), {className: "shown"});
    const canvas = Object.assign(document.createElement("canvas"), {className: "plot"});
    const close = Object.assign(document.createElement("button"), {textContent: "×"});
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `plot of ${worded(c)} over time`);
    close.setAttribute("aria-label", `remove the plot of ${c.label}`);
    const one = {c, canvas, column: i + 1};
    close.onclick = () => {
      shown.splice(shown.indexOf(one), 1);
      box.remove();
      option.disabled = false;
    };
    box.append(canvas, close);
    place.append(box);
    shown.push(one);
  };
  menu.append(new Option("add a channel …", ""), ...F.channels.map((c, i) => new Option(worded(c), i)));
  menu.onchange = () => {
    if (menu.value !== "") add(Number(menu.value));
    menu.value = "";
  };
  const draw = ({c, canvas, column}, t) => {
    const s = devicePixelRatio || 1, W = canvas.clientWidth, H = canvas.clientHeight, g = canvas.getContext("2d");
    const sizes = [W, H].map(x => Math.round(x*s));
    if (canvas.width !== sizes[0] || canvas.height !== sizes[1]) [canvas.width, canvas.height] = sizes;
    g.setTransform(s, 0, 0, s, 0, 0);
    g.clearRect(0, 0, W, H);
    const t0 = Math.max(0, t - F.window), t1 = Math.max(t, F.window);
    let first = 0, low = Infinity, high = -Infinity;
    while (first < rows.length && rows[first][0] < t0) first++;
    for (let i = first; i < rows.length; i++) {
      const v = rows[i][column];
      if (Number.isFinite(v)) [low, high] = [Math.min(low, v), Math.max(high, v)];
    }
    if (low > high) [low, high] = [0, 0];
    [low, high] = [Math.max(low, -8e307), Math.min(high, 8e307)];  // whose difference is finite
    const least = 1e-9*Math.max(Math.abs(low), Math.abs(high), 1e-3);
    if (!(high - low > least)) {
      const d = Math.abs(high)*0.1 || 1;
      [low, high] = [low - d, high + d];
    }
    const X = v => 62 + (W - 76)*(v - t0)/(t1 - t0), Y = v => H - 20 - (H - 46)*(v - low)/(high - low);
    Object.assign(g, {font: "11px system-ui", fillStyle: colour("--dim"), strokeStyle: colour("--line"), lineWidth: 1});
    const dy = nice(high - low), dx = nice(t1 - t0);
    const from = Math.max(Math.abs(low), Math.abs(high)) > 1e5*dy ? Math.ceil(low/dy)*dy : 0;  // of small changes
    g.textAlign = "right";
    for (let v = Math.ceil(low/dy)*dy; v <= high + 1e-9*dy; v += dy) {
      g.beginPath(), g.moveTo(62, Y(v)), g.lineTo(W - 14, Y(v)), g.stroke();
      g.fillText(text(v - from, dy), 57, Y(v) + 4);
    }
    g.textAlign = "center";
    for (let v = Math.ceil(t0/dx)*dx; v <= t1; v += dx) g.fillText(text(v, dx), X(v), H - 5);
    g.textAlign = "left";
    g.fillStyle = colour("--fg");
    g.fillText(from ? `${worded(c)}, less ${+from.toPrecision(12)}` : worded(c), 62, 14);
    Object.assign(g, {strokeStyle: colour("--a"), lineWidth: 1.6});
    g.beginPath();
    let gap = true;  // where a value is not finite
    for (let i = first; i < rows.length; i++) {
      const v = rows[i][column], bad = !Number.isFinite(v);
      if (!bad) g[gap ? "moveTo" : "lineTo"](X(rows[i][0]), Y(v));
      gap = bad;
    }
    g.stroke();
  };
  return {
    add,
    note: (t, value) => {
      rows.push(Float64Array.of(t, ...F.channels.map(value)));
      if (rows.length > 4000) rows.splice(0, 2000);
    },
    clear: () => { rows.length = 0; },
    draw: t => shown.forEach(one => draw(one, t)),
  };
}
