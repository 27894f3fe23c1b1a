const nx = @NX@, ny = @NY@, heights = [
@HEIGHTS@
], bends = [  // of cells: where they times the distance are below 1, there is one nearest point
@BENDS@
];
// The cell that u (in spacings) lies in, and weights of four heights for value, slope and second derivative.
const weights = (u, n) => {
  const inside = min(max(u, 0), n - 1), over = u - inside, i = min(inside | 0, n - 2), f = inside - i;
  let w = [f*(f*(1 - 0.5*f) - 0.5), 1 + f*f*(1.5*f - 2.5), f*(0.5 + f*(2 - 1.5*f)), 0.5*f*f*(f - 1)];
  const d = [f*(2 - 1.5*f) - 0.5, f*(4.5*f - 5), 0.5 + f*(4 - 4.5*f), f*(1.5*f - 1)];
  let dd = [2 - 3*f, 9*f - 5, 4 - 9*f, 3*f - 1];
  if (over) [w, dd] = [w.map((a, k) => a + over*d[k]), [0, 0, 0, 0]];
  return [i, [w, d, dd]];
};
// Height, slopes x and y, second derivatives xx, xy, yy.
const jet = (x, y) => {
  const [i, a] = weights((x - @X0@)/@DX@, nx), [j, b] = weights((y - @Y0@)/@DY@, ny);
  const sum = (w, h, at) => w[0]*h[at] + w[1]*h[at + 1] + w[2]*h[at + 2] + w[3]*h[at + 3];
  const across = b.map(w => [0, 1, 2, 3].map(k => sum(w, heights, (i + k)*(ny + 2) + j)));
  const both = (k, m) => sum(a[k], across[m], 0)/(@DX@**k*@DY@**m);
  return [both(0, 0), both(1, 0), both(0, 1), both(2, 0), both(1, 1), both(0, 2)];
};
const away = (x, y, z, s, t, h) => (s - x)**2 + (t - y)**2 + (h - z)**2;
// The foot by Newton's method from a point near it; steps that lead away are halved.
function foot(x, y, z, s, t) {
  let g = jet(s, t), square = away(x, y, z, s, t, g[0]);
  for (let k = 0; k < @FEET@; k++) {
    const dh = g[0] - z, g1 = s - x + dh*g[1], g2 = t - y + dh*g[2];
    const a = 1 + g[1]*g[1], b = g[1]*g[2], c = 1 + g[2]*g[2];
    let h11 = a + dh*g[3], h12 = b + dh*g[4], h22 = c + dh*g[5];
    if (!(h11 > 0 && h11*h22 - h12*h12 > @FLAT@*a*c)) [h11, h12, h22] = [a, b, c];
    const size = h11*h22 - h12*h12;
    let ds = (h12*g2 - h22*g1)/size, dt = (h12*g1 - h11*g2)/size, far = square;
    for (let m = 0; m < @HALVES@; m++) {
      g = jet(s + ds, t + dt);
      far = away(x, y, z, s + ds, t + dt, g[0]);
      if (far <= square*(1 + @ROUNDS@)) break;
      [ds, dt] = [0.5*ds, 0.5*dt];
    }
    [s, t, square] = [s + ds, t + dt, far];
    if (abs(ds) + abs(dt) <= @FOOT@*(1 + abs(s) + abs(t))) break;
  }
  return [s, t, g, square];
}
// The nearest of the feet that are found from points around which are nearer than their neighbours.
function search(x, y, z, best) {
  const n = @SAMPLES@, wide = 2*best/n, square = [], at = (i, j) => [x - best + i*wide, y - best + j*wide];
  for (let i = -1; i <= n + 1; i++) for (let j = -1; j <= n + 1; j++) {
    const [s, t] = at(i, j), out = i < 0 || j < 0 || i > n || j > n;
    square.push(out ? Infinity : away(x, y, z, s, t, jet(s, t)[0]));
  }
  let found = foot(x, y, z, x, y);
  for (let i = 0; i <= n; i++) for (let j = 0; j <= n; j++) {
    const own = (i + 1)*(n + 3) + j + 1, beside = [-1, 0, 1];
    if (!beside.every(k => beside.every(m => square[own] <= square[own + k*(n + 3) + m]))) continue;
    const next = foot(x, y, z, ...at(i, j));
    if (next[3] < found[3]) found = next;
  }
  return found;
}
// Is there one nearest point within a distance?
function is_gentle(x, y, best) {
  const cell = (u, n) => max(0, min(u, n - 2)) | 0;
  const [first, last] = [-best, best].map(d => cell((x + d - @X0@)/@DX@, nx));
  const [right, left] = [-best, best].map(d => cell((y + d - @Y0@)/@DY@, ny));
  for (let i = first; i <= last; i++)
    for (let j = right; j <= left; j++) if (!(bends[i*(ny - 1) + j]*best < 1)) return false;
  return true;
}
// Distance (negative below ground), normal, foot; and the ground there.
function nearest(x, y, z, reach) {
  const below = jet(x, y), up = z - below[0], slope = 1 + below[1]*below[1] + below[2]*below[2];
  const best = min(abs(up), max(reach, -up)), gentle = is_gentle(x, y, best);
  const [s, t, g] = gentle ? foot(x, y, z, x + up*below[1]/slope, y + up*below[2]/slope) : search(x, y, z, best);
  const size = sqrt(1 + g[1]*g[1] + g[2]*g[2]), d = (z - g[0] - g[1]*(x - s) - g[2]*(y - t))/size;
  return [d < reach ? [d, -g[1]/size, -g[2]/size, 1/size, s, t] : [reach, 0, 0, 1, x, y], g];
}
