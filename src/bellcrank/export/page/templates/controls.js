// Sliders of inputs and parameters; arrow keys for the first two inputs, the space bar for a third. `changed` is called
// after a change.
function controls(me, place, changed) {
  const {F} = me, shows = [], named = {__proto__: null}, down = new Set(), used = new Set();
  const make = (tag, more, ...inside) => {
    const x = Object.assign(document.createElement(tag), more);
    x.append(...inside);
    return x;
  };
  const text = v => {
    const short = +v.toPrecision(7), size = Math.abs(short);
    return size && (size < 1e-3 || size >= 1e7) ? short.toExponential() : String(short);
  };
  const control = (q, [low, high], read, write, extra) => {
    const words = worded(q), step = (high - low)/400;
    const range = make("input", {type: "range", min: low, max: high, step: "any", title: q.name});
    const field = make("input", {type: "number", step, title: q.name});
    range.setAttribute("aria-label", words);
    field.setAttribute("aria-label", `${words}, as a number`);
    const show = () => {
      const v = read();
      range.value = v;
      if (document.activeElement !== field) field.value = text(v);
    };
    const take = v => {
      if (!Number.isFinite(v) || (q.positive && !(v > 0))) return show();
      write(v);
      changed();
    };
    range.oninput = () => {
      take(+range.value);
      show();
    };
    field.onchange = () => {
      take(+field.value);
      range.value = field.value;
    };
    shows.push(show);
    named[q.name] = v => {
      take(v);
      show();
    };
    return make("div", {className: "value"}, make("span", {textContent: words, title: q.name}), range, field, ...extra);
  };
  if (F.signals.length) place.append(make("h2", {textContent: "Inputs"}));
  const boxes = F.signals.map((q, s) => {
    const box = q.held === null ? make("input", {type: "checkbox", checked: true}) : null;
    const mark = box ? [make("label", {}, box, " as the model has it")] : [];
    const read = () => me.held[s] ?? me.signal(s), write = v => {
      me.held[s] = v;
      used.delete(s);
      if (box) box.checked = false;
    };
    if (box) box.onchange = () => {
      me.held[s] = box.checked ? null : read();
      used.delete(s);
      changed();
    };
    place.append(control(q, q.range, read, write, mark));
    return box;
  });
  const steered = F.signals.slice(0, 3);
  if (steered.length) {
    const keys = ["left, right", "up, down", "space bar"];
    const said = steered.map((q, i) => `${keys[i]}: ${q.label}`).join("; ");
    place.append(make("p", {className: "note", textContent: `arrow keys, ${said}`}));
  }
  const first = F.parameters.filter(q => q.shown), rest = F.parameters.filter(q => !q.shown);
  const slider = q => {
    const i = F.parameters.indexOf(q);
    return control(q, q.range, () => me.p[i]/q.factor, v => { me.p[i] = v*q.factor; }, []);
  };
  if (first.length) place.append(make("h2", {textContent: "Parameters"}), ...first.map(slider));
  if (rest.length) {
    const title = make("summary", {textContent: first.length ? "More parameters" : "Parameters"});
    place.append(make("details", {open: !first.length && rest.length < 13}, title, ...rest.map(slider)));
  }
  const note = text => place.append(make("p", {className: "note", textContent: text}));
  [...F.notes, `${F.method}, steps of ${F.step} s`].forEach(note);
  // Keys: a value goes to its end while one is held down, and back to where it rests after it.
  const KEYS = {ArrowLeft: [0, 1], ArrowRight: [0, -1], ArrowUp: [1, 1], ArrowDown: [1, -1],
    " ": [2, 1]};
  const elsewhere = ({target, key}) => target.matches?.("input:not([type=checkbox]), select")
    || key === " " && target.matches?.("input, button, summary");
  addEventListener("keydown", event => {
    const key = KEYS[event.key];
    if (!key || key[0] >= steered.length || elsewhere(event)) return;
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    down.add(event.key);
    used.add(key[0]);
    event.preventDefault();
  });
  addEventListener("keyup", event => down.delete(event.key));
  addEventListener("blur", () => down.clear());
  // What the mouse has set gives the keys back to the mechanism.
  let pointed = null;
  const give_back = () => {
    if (steered.length && pointed && pointed.matches("input, select, button, summary")
      && pointed.type !== "number") pointed.blur();
    pointed = null;
  };
  addEventListener("pointerdown", event => { pointed = event.target; });
  addEventListener("pointerup", () => pointed && pointed.tagName === "SELECT" || give_back());
  addEventListener("change", give_back);
  const drive = seconds => {
    const moves = used.size > 0;  // in its last turn a value comes to rest
    for (const s of used) {
      const q = F.signals[s], [low, high] = q.range, now = me.held[s] ?? me.signal(s);
      let want = 0;
      for (const key of down) if (KEYS[key][0] === s) want += KEYS[key][1];
      const rest = Math.max(low, Math.min(high, q.held ?? 0)), end = want > 0 ? high : want < 0 ? low : rest;
      const most = (high - low)*seconds;
      me.held[s] = now + Math.max(-most, Math.min(most, end - now));
      if (boxes[s]) boxes[s].checked = false;
      if (!want && me.held[s] === rest) used.delete(s);
    }
    return moves;
  };
  const defaults = () => {
    used.clear();
    me.take();
    F.signals.forEach((q, s) => {
      me.held[s] = q.held;
      if (boxes[s]) boxes[s].checked = true;
    });
  };
  return {show: () => shows.forEach(show => show()), drive, defaults, set: (name, v) => named[name](v)};
}
