// The interval of x[0] < x[1] < ... that holds v, the first or last one for what lies outside.
function interval(x, v) {
  let low = 0, high = x.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (v >= x[middle]) low = middle; else high = middle;
  }
  return low;
}

// A function of one argument through points, or its d-th derivative: cubic pieces, four coefficients each, lowest power
// first. Outside its points it goes on with the end slope.
function spline_value(x, pieces, d, v) {
  const last = x[x.length - 1], inside = v < x[0] ? x[0] : v > last ? last : v, i = interval(x, inside);
  const s = inside - x[i], a0 = pieces[4*i], a1 = pieces[4*i + 1], a2 = pieces[4*i + 2], a3 = pieces[4*i + 3];
  const slope = a1 + s*(2*a2 + s*(3*a3));
  if (d === 0) return a0 + s*(a1 + s*(a2 + s*a3)) + (v - inside)*slope;
  if (d === 1) return slope;
  return v < inside || v > inside ? 0 : d === 2 ? 2*a2 + 6*a3*s : d === 3 ? 6*a3 : 0;
}
