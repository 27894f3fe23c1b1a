// Value or d-th derivative of a0 + a1 s + a2 s^2 + a3 s^3.
function cubic(a0, a1, a2, a3, d, s) {
  if (d === 0) return a0 + s*(a1 + s*(a2 + s*a3));
  return d === 1 ? a1 + s*(2*a2 + s*(3*a3)) : d === 2 ? 2*a2 + s*(6*a3) : d === 3 ? 6*a3 : 0;
}

// A function of two arguments over a grid, or a derivative of it: bicubic pieces of 4 by 4 coefficients in coordinates
// that go from 0 to 1 in each cell. Outside the grid it keeps the value of the nearest edge.
function surface_value(x, y, pieces, dx, dy, v, w) {
  const inside = (axis, at) => Math.min(Math.max(at, axis[0]), axis[axis.length - 1]);
  const a = inside(x, v), b = inside(y, w), i = interval(x, a), j = interval(y, b);
  const hx = x[i + 1] - x[i], hy = y[j + 1] - y[j], cell = 16*(i*(y.length - 1) + j);
  const along = [0, 4, 8, 12].map(k => cubic(...pieces.slice(cell + k, cell + k + 4), dy, (b - y[j])/hy));
  let value = cubic(...along, dx, (a - x[i])/hx);
  for (let k = 0; k < dx; k++) value /= hx;
  for (let k = 0; k < dy; k++) value /= hy;
  return value;
}
