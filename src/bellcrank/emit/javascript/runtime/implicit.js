const @NAME@_start = [
  @START@
];
@EQUATIONS@
@BY_INPUT@
@BIAS@
function @NAME@(@GIVEN@, values) {
  let out = values >> 3, settled = false, J;
  const s = [], pivot = [], place = (z - @LOW@)*@PER@;
  if (place >= 0 && place <= @LAST@) {
    const i = Math.min(Math.trunc(place), @LAST@ - 1), t = place - i;
    const n = @SIZE@, v = 1 - t, h = 1/@PER@, low = v*v*v, high = t*t*t;
    const a = low*(1 + t*(3 + 6*t)), b = high*(1 + v*(3 + 6*v)), c = h*t*low*(1 + 3*t), d = -h*v*high*(1 + 3*v);
    const e = 0.5*h*h*t*t*low, f = 0.5*h*h*v*v*high, from = @NAME@_start[i], to = @NAME@_start[i + 1];
    for (let k = 0; k < n; k++) {
      s[k] = a*from[k] + b*to[k] + c*from[n + k] + d*to[n + k] + e*from[2*n + k] + f*to[2*n + k];
      @SECOND@
    }
    @PRESCRIBED@
    @NORMAL@
    for (let turn = 0; turn < @TURNS@ && !settled; turn++) {
      const rows = @NAME@_rows(s, @GIVEN@), g = rows[0];
      J = rows.slice(1);
      if (!implicit_factor(J, pivot)) break;
      implicit_solve(J, pivot, g);
      const largest = g.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
      @UPDATES@
      settled = largest < @SETTLED@;
      if (!(largest < 1)) break;
    }
  }
  if (!settled) {
    m.fill(NaN, out, out + @VALUES@);
    return;
  }
  m.set(s, out);
  out += @SIZE@;
  const y = [];
  @NAME@_by_input(s, @GIVEN@).forEach((g, j) => {
    implicit_solve(J, pivot, g);
    y[j] = Array(@UNKNOWNS@).fill(0);
    @FIRST@
    m.set(y[j], out);
    out += @UNKNOWNS@;
  });
  for (const g of @NAME@_bias(s, @GIVEN@, y)) {
    implicit_solve(J, pivot, g);
    m.fill(0, out, out + @UNKNOWNS@);
    @SCATTER@
    out += @UNKNOWNS@;
  }
}
