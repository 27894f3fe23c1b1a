// Sliders of inputs and parameters. `changed` is called after a change, with what was set.
function controls(me, place, changed) {
  const {F} = me, shows = [], named = {__proto__: null}, entry = {__proto__: null}, reads = {__proto__: null};
  const control = (q, read, write, usual, extra = [], set = read) => {
    const words = worded(q), [low, high] = q.range, ends = q.log ? [0, 1] : q.range, log = Math.log(high/low);
    const at = v => q.log ? Math.log(v/low)/log : v, value = x => q.log ? +(low*Math.exp(x*log)).toPrecision(4) : x;
    const range = make("input", {type: "range", min: ends[0], max: ends[1], step: "any", title: q.name});
    const field = make("input", {type: "number", step: "any", title: q.name});
    range.setAttribute("aria-label", words);
    field.setAttribute("aria-label", `${words}, as a number`);
    const title = make("span", {textContent: words, title: `${q.name}; double click: the value of the model`});
    const box = make("div", {className: "value"}, title, range, field, ...extra);
    const show = () => {
      const v = read();
      range.value = at(v);
      range.setAttribute("aria-valuetext", `${short(v)} ${q.unit || ""}`);
      box.classList.toggle("changed", usual() !== v);
      if (document.activeElement !== field) field.value = short(v, 6);
    };
    const take = v => {
      if (!Number.isFinite(v) || (q.positive && !(v > 0))) {
        show();
        return false;
      }
      write(v);
      changed(`${q.name} = ${short(v)} ${q.unit || ""}`.trim());
      show();
      return true;
    };
    range.oninput = () => take(value(+range.value));
    field.onchange = () => {
      take(field.value === "" ? NaN : +field.value);  // "": no number, or one that is too large
      field.value = short(read(), 6);
    };
    title.ondblclick = () => take(usual());
    shows.push(show);
    named[q.name] = take;
    reads[q.name] = set;
    entry[q.name] = () => usual() === read() ? null : +read().toPrecision(7);
    box.words = `${words} ${q.name}`.toLowerCase();
    return box;
  };
  if (F.signals.length) place.append(make("h2", {textContent: "Inputs"}));
  const of_parts = [], boxes = F.signals.map((q, s) => {
    const box = q.held === null ? make("input", {type: "checkbox", checked: true}) : null;
    const mark = box ? [make("label", {}, box, " as the model has it")] : [];
    const read = () => me.held[s] ?? me.signal(s), write = v => {
      me.held[s] = v;
      if (box) box.checked = false;
    };
    if (box) box.onchange = () => {
      me.held[s] = box.checked ? null : read();
      changed("");
    };
    const usual = () => q.held ?? (me.held[s] === null ? read() : NaN);
    const shown = control(q, read, write, usual, mark, () => me.held[s]);
    if (q.name.includes(".") && F.signals.length > 6) of_parts.push(shown);
    else place.append(shown);
    return box;
  });
  const parts = make("details", {}, make("summary", {textContent: "inputs of parts"}), ...of_parts);
  if (of_parts.length) place.append(parts);
  const slider = q => {
    const i = F.parameters.indexOf(q), write = v => { me.p[i] = v === q.value ? q.value*q.factor : v*q.factor; };
    return control(q, () => me.p[i] === q.value*q.factor ? q.value : me.p[i]/q.factor, write, () => q.value);
  };
  const first = F.parameters.filter(q => q.shown), rest = F.parameters.filter(q => !q.shown);
  if (first.length) place.append(make("h2", {textContent: "Parameters"}), ...first.map(slider));
  const fold = (textContent, listed, open) =>
    make("details", {open}, make("summary", {textContent}), ...listed.map(slider));
  const groups = [...new Set(rest.map(q => q.group))].sort((a, b) => (a === "other") - (b === "other"));
  if (rest.length < 13 || groups.length < 2) {
    const title = first.length ? "More parameters" : "Parameters";
    if (rest.length) place.append(fold(title, rest, !first.length && rest.length < 13));
  } else {
    const find = make("input", {type: "search", placeholder: `find one of ${rest.length} parameters`});
    find.setAttribute("aria-label", "find a parameter");
    const folds = groups.map(group => fold(group, rest.filter(q => q.group === group), false));
    find.oninput = () => folds.forEach(one => {
      const asked = find.value.trim().toLowerCase(), listed = [...one.querySelectorAll(".value")];
      listed.forEach(x => { x.hidden = !x.words.includes(asked); });
      one.hidden = listed.every(x => x.hidden);
      one.open = Boolean(asked) && !one.hidden;
    });
    place.append(make("h2", {textContent: "Parameters"}), find, ...folds);
  }
  const note = text => place.append(make("p", {className: "note", textContent: text}));
  const defaults = () => {
    me.take();
    F.signals.forEach((q, s) => {
      me.held[s] = q.held;
      if (boxes[s]) boxes[s].checked = true;
    });
  };
  const show = () => {
    shows.forEach(show => show());
    place.querySelectorAll("details").forEach(x => x.classList.toggle("changed", x.querySelector(".changed")));
  };
  // What was changed, as text of an address: "k=20000&c=500".
  const address = () => Object.keys(entry).flatMap(name => {
    const v = entry[name]();
    return v === null || Number.isNaN(v) ? [] : [`${encodeURIComponent(name)}=${v}`];
  }).join("&");
  // Values that are set: of parameters, and of inputs that do not follow the model.
  const settings = () => {
    const all = Object.keys(reads).map(name => [name, reads[name]()]);
    return Object.fromEntries(all.filter(([, v]) => Number.isFinite(v)));
  };
  return {show, defaults, address, note, boxes, settings, set: (name, v) => named[name](v), has: name => name in named};
}
