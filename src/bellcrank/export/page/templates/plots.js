// What a quantity is called: its label, else its name, with its unit where it has one.
const worded = ({name, label = name, unit}) => label + (unit ? ` (${unit})` : "");
const make = (tag, more, ...inside) => {
  const x = Object.assign(document.createElement(tag), more);
  x.append(...inside);
  return x;
};
const short = (v, digits = 6) => {
  const x = +v.toPrecision(digits), size = Math.abs(x);
  return size && (size < 1e-3 || size >= 1e6) ? x.toExponential() : String(x);
};

// Plots of channels over the last seconds, one panel for each unit; a menu adds a channel. All channels are kept: one
// that is added has a past. Curves that are `kept` stay behind those of the next run.
function plots(F, place, menu) {
  const panels = [], rows = [], style = getComputedStyle(document.documentElement);
  const colour = name => style.getPropertyValue(name);
  let past = [], over = null;  // rows of a run that is compared; time under the pointer, as a fraction of the axis
  const nice = span => {
    const rough = span/4, power = 10**Math.floor(Math.log10(rough)), q = rough/power;
    return power*(q < 1.5 ? 1 : q < 3.5 ? 2 : q < 7.5 ? 5 : 10);
  };
  const named = one => {
    const words = one.curves.map(x => worded(x.c)).join(", ");
    one.canvas.setAttribute("aria-label", `plot of ${words} over time`);
  };
  const remove = (one, curve) => {
    curve.key.remove();
    menu.options[curve.i + 1].disabled = false;
    one.curves.splice(one.curves.indexOf(curve), 1);
    named(one);
    if (one.curves.length) return;
    one.box.remove();
    panels.splice(panels.indexOf(one), 1);
  };
  const open = unit => {
    const keys = make("div", {className: "keys"}), canvas = make("canvas", {className: "plot"});
    canvas.setAttribute("role", "img");
    canvas.onpointermove = event => { over = (event.offsetX - 62)/(canvas.clientWidth - 84); };
    canvas.onpointerleave = () => { over = null; };
    const one = {unit, canvas, keys, curves: [], box: make("div", {className: "shown"}, keys, canvas)};
    place.append(one.box);
    panels.push(one);
    return one;
  };
  // A channel by its number, in the panel that is given, or that of its unit.
  const add = (i, given) => {
    const c = F.channels[i], option = menu.options[i + 1];
    if (option.disabled) return;
    option.disabled = true;
    const one = given || panels.find(x => x.unit === c.unit && x.curves.length < 6) || open(c.unit);
    const free = [0, 1, 2, 3, 4, 5].find(k => one.curves.every(x => x.k !== k)), value = make("b");
    const key = make("button", {className: `c${free}`, title: `${c.name}: remove it from the plot`}, worded(c), value);
    const curve = {c, i, k: free, key, value};
    key.onclick = () => remove(one, curve);
    one.keys.append(key);
    one.curves.push(curve);
    named(one);
  };
  menu.append(new Option("add a channel …", ""), ...F.channels.map((c, i) => new Option(worded(c), i)));
  menu.onchange = () => {
    if (menu.value !== "") add(Number(menu.value));
    menu.value = "";
  };
  F.plots.forEach(listed => {
    const one = open(F.channels[listed[0]].unit);
    listed.forEach(i => add(i, one));
  });
  const draw = ({canvas, curves}, t) => {
    const s = devicePixelRatio || 1, W = canvas.clientWidth, H = canvas.clientHeight, g = canvas.getContext("2d");
    const sizes = [W, H].map(x => Math.round(x*s));
    if (canvas.width !== sizes[0] || canvas.height !== sizes[1]) [canvas.width, canvas.height] = sizes;
    g.setTransform(s, 0, 0, s, 0, 0);
    g.clearRect(0, 0, W, H);
    const t0 = Math.max(0, t - F.window), t1 = Math.max(t, F.window), seen = (of, end) => {
      let first = 0;
      while (first < of.length && of[first][0] < t0) first++;
      return of.slice(first).filter(row => row[0] <= end);
    };
    const both = [seen(rows, Infinity), seen(past, t1)];
    let low = Infinity, high = -Infinity;
    for (const row of both.flat()) for (const {i} of curves) {
      const v = row[i + 1];
      if (Number.isFinite(v)) [low, high] = [Math.min(low, v), Math.max(high, v)];
    }
    if (low > high) [low, high] = [0, 0];
    [low, high] = [Math.max(low, -8e307), Math.min(high, 8e307)];  // whose difference is finite
    const size = Math.max(Math.abs(low), Math.abs(high));
    const least = Math.max(1e-9*size, ...curves.map(({i}) => F.least[i] || 0)) || 1;  // what is less is rounding
    if (!(high - low > least)) [low, high] = [(low + high - least)/2, (low + high + least)/2];
    const room = 0.04*(high - low);
    [low, high] = [low - room, high + room];
    const X = v => 62 + (W - 84)*(v - t0)/(t1 - t0), Y = v => H - 20 - (H - 28)*(v - low)/(high - low);
    Object.assign(g, {font: "12px system-ui", fillStyle: colour("--dim"), strokeStyle: colour("--line"), lineWidth: 1});
    const dy = nice(high - low), dx = nice(t1 - t0), text = (v, step) => short(Math.abs(v) < 1e-9*step ? 0 : v);
    const from = size > 1e5*dy ? Math.ceil(low/dy)*dy : 0;  // of small changes
    g.textAlign = "right";
    for (let v = Math.ceil(low/dy)*dy; v <= high + 1e-9*dy; v += dy) {
      g.beginPath(), g.moveTo(62, Y(v)), g.lineTo(W - 22, Y(v)), g.stroke();
      g.fillText(text(v - from, dy), 57, Y(v) + 4);
    }
    g.textAlign = "center";
    for (let v = Math.ceil(t0/dx)*dx; v <= t1; v += dx) g.fillText(`${text(v, dx)} s`, X(v), H - 5);
    if (from) {
      g.textAlign = "left";
      g.fillText(`less ${+from.toPrecision(12)}`, 66, 12);
    }
    both.forEach((of, old) => curves.forEach(({i, k}) => {
      Object.assign(g, {strokeStyle: colour(`--c${k}`), lineWidth: 1.6, globalAlpha: old ? 0.5 : 1});
      g.setLineDash(old ? [5, 4] : []);
      g.beginPath();
      let gap = true;  // where a value is not finite
      for (const row of of) {
        const v = row[i + 1], bad = !Number.isFinite(v);
        if (!bad) g[gap ? "moveTo" : "lineTo"](X(row[0]), Y(v));
        gap = bad;
      }
      g.stroke();
    }));
    g.globalAlpha = 1;
    g.setLineDash([]);
    const when = over === null ? Infinity : t0 + over*(t1 - t0);
    const row = both[0].findLast(x => x[0] <= when) || both[0][0];
    if (over !== null && row) {
      Object.assign(g, {strokeStyle: colour("--dim"), lineWidth: 1});
      g.beginPath(), g.moveTo(X(row[0]), 8), g.lineTo(X(row[0]), H - 20), g.stroke();
    }
    for (const {i, value} of curves) {
      const said = row ? ` ${short(Math.abs(row[i + 1]) < 1e-3*least ? 0 : row[i + 1], 4)}` : "";
      if (value.textContent !== said) value.textContent = said;
    }
  };
  return {
    add,
    note: (t, value) => {
      rows.push(Float64Array.of(t, ...F.channels.map(value)));
      if (rows.length > 4000) rows.splice(0, 2000);
    },
    clear: () => { rows.length = 0; },
    keep: on => { past = on ? rows.slice() : []; },
    draw: t => panels.forEach(one => draw(one, t)),
    csv: () => {
      const cells = [["t", "s", "time"], ...F.channels.map(c => [c.name, c.unit || "", c.label || c.name])];
      const quoted = k => cells.map(x => `"${x[k].replaceAll("\"", "\"\"")}"`);
      return [quoted(0), quoted(1), quoted(2), ...rows.map(row => Array.from(row))].join("\n");
    },
  };
}
