// A module of WebAssembly from its parts, of these sizes: what `split_module.py` took apart.
function joined(bytes, sizes) {
  let end = 0;
  const [before, heads, ops, ago, fresh, places, floats, others, behind] = sizes.map(n => {
    const b = bytes.subarray(end, end += n);
    return {b, i: 0, next() { return b[this.i++]; }};
  });
  const number = s => {
    let value = 0, scale = 1, byte;
    do {
      byte = s.next();
      value += (byte & 127)*scale;
      scale *= 128;
    } while (byte > 127);
    return value;
  };
  const signed = s => {
    const n = number(s);
    return n % 2 ? -(n + 1)/2 : n/2;
  };
  const put = (out, n) => {
    for (; n > 127; n = Math.floor(n/128)) out.push(n % 128 + 128);
    out.push(n);
  };
  let address = 0;
  const body = () => {
    const out = [], used = [];
    let depth = 1, last = 0;
    const copy = (s = others) => {  // as it is: it may have a sign
      let byte;
      do out.push(byte = s.next()); while (byte > 127);
    };
    const kinds = number(heads);
    put(out, kinds);
    for (let k = 0; k < kinds; k++) copy(heads), out.push(heads.next());
    while (depth) {
      const op = ops.next();
      out.push(op);
      if (op === 11) depth--;
      if (op > 1 && op < 5) depth++;
      if (op > 31 && op < 35) {
        const back = number(ago), local = back ? used.splice(-back, 1)[0] : last += signed(fresh);
        used.push(local);
        put(out, local);
      } else if (op > 39 && op < 63) {
        copy();
        put(out, address += signed(places));
      } else if (op === 68) for (let k = 0; k < 8; k++) out.push(floats.next());
      else if (op > 1 && op < 5 || op > 11 && op < 14 || op === 16 || op === 17 || op > 34 && op < 67) copy();
      if (op === 17) copy();
    }
    return out;
  };
  const code = [], whole = [];
  const count = number(heads);
  put(code, count);
  for (let k = 0; k < count; k++) {
    const one = body();
    put(code, one.length);
    for (const byte of one) code.push(byte);
  }
  put(whole, 10);
  put(whole, code.length);
  return Uint8Array.from([...before.b, ...whole, ...code, ...behind.b]);
}
