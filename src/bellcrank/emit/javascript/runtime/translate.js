// The functions of a module as text, for where WebAssembly is forbidden: `function program(m, r)` returns them, over
// the numbers m of a memory and the routines r. It reads what `emit/wasm` writes: straight lines of instructions over
// numbers that the module puts into memory, and blocks for sines and cosines, of which it takes the part that calls
// those of Math, and then leaves them.
function translated(module) {
  const bytes = new Uint8Array(module), view = new DataView(bytes.buffer, bytes.byteOffset);
  const TWO = {0x62: "!==", 0x63: "<", 0x64: ">", 0x65: "<=", 0x66: ">=", 0xa0: "+", 0xa1: "-", 0xa2: "*", 0xa3: "/"};
  const ONE = {0x99: "Math.abs", 0x9a: "-", 0x9b: "Math.ceil", 0x9c: "Math.floor", 0x9f: "Math.sqrt", 0xb7: "+"};
  const CHOSEN = {0xa4: "Math.min", 0xa5: "Math.max"};
  let at = 8, types, own, names, text = "";
  const outside = [], numbers = new Map(), byte = () => bytes[at++];
  const count = () => {
    for (let n = 0, shift = 0;; shift += 7) {
      const part = byte();
      n |= (part & 127) << shift;
      if (part < 128) return n;
    }
  };
  const double = () => {
    const x = view.getFloat64(at, true);
    at += 8;
    return Object.is(x, -0) ? "-0" : String(x);
  };
  const list = item => Array.from({length: count()}, item), word = () => String.fromCharCode(...list(byte));
  const imported = () => {
    const [from, name] = [word(), word()], [is_memory, k] = [byte() === 2, count()];
    if (is_memory) count();
    else outside.push([`${from === "m" ? "Math" : "r"}.${name}`, types[k]]);
  };
  const body = (_, which) => {
    const end = count() + at, [takes] = own[which], stack = [], lines = [];
    const more = list(() => [count(), byte()]).reduce((sum, [n]) => sum + n, 0);
    let held = 0;
    const pop = () => stack.pop(), push = (...those) => stack.push(...those);
    // What waits on the stack is computed before a line that may change what it is made of.
    const line = x => {
      stack.forEach((waits, i) => {
        if (!/[lm(]/.test(waits)) return;
        lines.push(`const h${held} = ${waits};`);
        stack[i] = `h${held++}`;
      });
      lines.push(`${x};`);
    };
    const place = base => {
      const offset = (byte(), count()/8), fixed = base/8 + offset;
      return Number.isNaN(fixed) ? `m[(${base} >> 3) + ${offset}]` : numbers.get(fixed) || `m[${fixed}]`;
    };
    // Instructions up to one that are not taken, and what follows them.
    const skip_to = last => {
      for (let code = byte(); code !== last; code = byte()) {
        if (code === 0x44) at += 8;
        else if (code === 0x2b) byte(), count();
        else if ([0x02, 0x0c, 0x0d, 0x10, 0x20, 0x21, 0x22, 0x41, 0x42].includes(code)) count();
      }
    };
    const one = code => {
      if (code === 0x20) push(`l${count()}`);
      else if (code === 0x21) line(`l${count()} = ${pop()}`);
      else if (code === 0x22) {
        const to = `l${count()}`;
        line(`${to} = ${pop()}`);
        push(to);
      } else if (code === 0x2b) push(place(pop()));
      else if (code === 0x39) {
        const x = pop();
        line(`${place(pop())} = ${x}`);
      } else if (code === 0x41) push(String(count()));
      else if (code === 0x44) push(double());
      else if (code === 0x02) {
        skip_to(0x04);
        byte();
      } else if (code === 0x0c) {
        for (let ends = count() + 1; ends > 0; ends--) skip_to(0x0b);
      } else if (code === 0x1b) {
        const [yes, no, test] = stack.splice(-3);
        push(`(${test} ? ${yes} : ${no})`);
      } else if (code === 0x10) {
        const [name, [given, results]] = outside[count()], all = stack.splice(stack.length - given.length);
        if (results.length) push(`${name}(${all})`);
        else line(`${name}(${all})`);
      } else if (code in TWO) {
        const [a, b] = stack.splice(-2);
        push(`(${a} ${TWO[code]} ${b})`);
      } else if (code in CHOSEN) push(`${CHOSEN[code]}(${stack.splice(-2)})`);
      else if (code in ONE) push(`${ONE[code]}(${pop()})`);
      else if (code !== 0x0b) throw Error(`instruction ${code} is not known`);
    };
    while (at < end - 1) one(byte());
    at = end;
    const locals = Array.from({length: more}, (__, i) => `l${takes.length + i} = 0`);
    const head = `${names[which]}(${takes.map((__, i) => `l${i}`)}) {\n${more ? `let ${locals};` : ""}`;
    text += [head, ...lines, "},\n"].join("\n");
  };
  const placed = () => {
    byte(), byte();
    const start = count()/8;
    byte();
    for (let i = 0, n = count()/8; i < n; i++) numbers.set(start + i, double());
  };
  const sections = new Map();
  while (at < bytes.length) {
    const section = byte(), end = count() + at;
    sections.set(section, at);
    at = end;
  }
  for (const section of [1, 2, 3, 7, 11, 10]) {
    if (!sections.has(section)) continue;
    at = sections.get(section);
    if (section === 1) types = list(() => [byte(), list(byte), list(byte)].slice(1));
    else if (section === 2) list(imported);
    else if (section === 3) own = list(() => types[count()]);
    else if (section === 7) names = list(() => [word(), byte(), count()][0]);
    else list(section === 11 ? placed : body);
  }
  return `function program(m, r) {\nreturn {\n${text}};\n}`;
}
