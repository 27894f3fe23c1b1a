// Driving: arrow keys for the first two inputs, the space bar for a third; pads to touch, and a gamepad. A value goes
// to its end while a key is held down, and back to where it rests after it.
function driving(me, panel, view) {
  const {F} = me, down = new Set(), used = new Set(), steered = F.signals.slice(0, 3), {boxes} = panel;
  const KEYS = {ArrowLeft: [0, 1], ArrowRight: [0, -1], ArrowUp: [1, 1], ArrowDown: [1, -1], " ": [2, 1]};
  const keys = ["left, right", "up, down", "space bar"], words = q => q.label || q.name;
  const said = steered.map((q, i) => `${keys[i]}: ${words(q)}`).join("; ");
  panel.note(`arrow keys, ${said}; or a gamepad`);
  const press = key => {
    down.add(key);
    used.add(KEYS[key][0]);
  };
  const pads = make("div", {className: "pads"});
  const signs = {ArrowLeft: "◀", ArrowRight: "▶", " ": "■", ArrowDown: "▼", ArrowUp: "▲"};
  for (const [key, sign] of Object.entries(signs)) {
    const [s, way] = KEYS[key];
    if (s >= steered.length || way < 0 && steered[s].range[0] === 0) continue;
    const pad = make("button", {textContent: sign});
    pad.setAttribute("aria-label", `${words(steered[s])}, ${way > 0 ? "more" : "less"}`);
    pad.onpointerdown = event => {
      event.preventDefault();
      pad.setPointerCapture(event.pointerId);
      press(key);
    };
    pad.onpointerup = pad.onpointercancel = () => down.delete(key);
    pads.append(pad);
  }
  view.append(pads);
  const elsewhere = ({target, key}) => target.matches?.("input:not([type=checkbox]), select")
    || key === " " && target.matches?.("input, button, summary");
  addEventListener("keydown", event => {
    const key = KEYS[event.key];
    if (!key || key[0] >= steered.length || elsewhere(event)) return;
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    press(event.key);
    event.preventDefault();
  });
  addEventListener("keyup", event => down.delete(event.key));
  addEventListener("blur", () => down.clear());
  // What the mouse has set gives the keys back to the mechanism.
  let pointed = null;
  const give_back = () => {
    if (pointed && pointed.matches("input, select, button, summary") && !/number|search/.test(pointed.type))
      pointed.blur();
    pointed = null;
  };
  addEventListener("pointerdown", event => { pointed = event.target; });
  addEventListener("pointerup", () => pointed && pointed.tagName === "SELECT" || give_back());
  addEventListener("change", give_back);
  // Left stick and the two triggers, in the order of the inputs: a fraction of the range.
  const stick = () => {
    const pad = [...navigator.getGamepads?.() || []].find(x => x), press = i => pad.buttons[i]?.value || 0;
    if (!pad) return [];
    const found = [-pad.axes[0] || 0, press(7) - (steered.length < 3 ? press(6) : 0), press(6)];
    return found.map(x => Math.abs(x) < 0.06 ? 0 : x);
  };
  const step = (seconds, held) => {
    for (const s of used) {
      const q = F.signals[s], [low, high] = q.range, now = me.held[s] ?? me.signal(s);
      let want = held[s] || 0;
      for (const key of down) if (KEYS[key][0] === s) want += KEYS[key][1];
      const rest = Math.max(low, Math.min(high, q.held ?? 0)), most = (high - low)*seconds;
      const end = want > 0 ? rest + Math.min(want, 1)*(high - rest) : rest + Math.max(want, -1)*(rest - low);
      me.held[s] = now + Math.max(-most, Math.min(most, end - now));
      if (boxes[s]) boxes[s].checked = false;
      if (!want && me.held[s] === rest) used.delete(s);
    }
  };
  return {
    // Moves inputs by what passed; false if none of them moves. In its last turn a value comes to rest.
    move(seconds) {
      const held = stick();
      steered.forEach((_, s) => { if (held[s]) used.add(s); });
      const moves = used.size > 0;
      step(seconds, held);
      return moves;
    },
    get on() { return used.size > 0 || stick().some(x => x); },
    forget: () => used.clear(),
  };
}
