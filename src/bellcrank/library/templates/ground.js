const starts = [@STARTS@], pieces = [
@PIECES@
];
const height = (g, x) => {
  const s = x - g[0], h = g[1] + s*(g[2] + s*(g[3] + s*g[4]));
  return g[5] ? h + g[5]*cos(g[6]*s + g[7]) : h;
};
// Height, slope and second derivative.
const jet = (g, x) => {
  const s = x - g[0], a = g[6]*s + g[7], c = g[5] ? g[5]*cos(a) : 0, d = g[5] ? g[5]*g[6]*sin(a) : 0;
  return [g[1] + s*(g[2] + s*(g[3] + s*g[4])) + c, g[2] + s*(2*g[3] + 3*s*g[4]) - d, 2*g[3] + 6*s*g[4] - g[6]*g[6]*c];
};
// The piece that holds x.
const piece = x => {
  let low = 0, high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x < starts[middle]) high = middle; else low = middle + 1;
  }
  return low;
};
const between = (x, a, b) => x < a ? a : x > b ? b : x;
// The foot between two bounds, from a point between them.
function newton(g, x, z, s, low, high) {
  for (let k = 0; k < @FEET@; k++) {
    const [h, h1, h2] = jet(g, s), f = s - x + (h - z)*h1, f1 = 1 + h1*h1 + (h - z)*h2;
    if (f > 0) high = s; else low = s;
    let next = f1 > 0 ? s - f/f1 : Infinity;
    if (!(low <= next && next <= high)) next = 0.5*(low + high);
    const change = abs(next - s);
    s = next;
    if (change <= @FOOT@*(1 + abs(s))) break;
  }
  return s;
}
// Where a piece is nearest between a and b; from each of some points that is nearer than its neighbours, if need be.
function foot(g, x, z, a, b, best) {
  if (!g[3] && !g[4] && !g[5]) return between((x + g[2]*(z - g[1] + g[2]*g[0]))/(1 + g[2]*g[2]), a, b);
  if (g[8]*best < 1) {
    const [h, h1] = jet(g, x);
    return newton(g, x, z, between(x + (z - h)*h1/(1 + h1*h1), a, b), a, b);
  }
  const width = (b - a)/@SAMPLES@, square = [Infinity], away = s => (s - x)**2 + (height(g, s) - z)**2;
  for (let k = 0; k <= @SAMPLES@; k++) square.push(away(a + k*width));
  square.push(Infinity);
  let least = Infinity, found = a;
  for (let k = 0; k <= @SAMPLES@; k++) {
    if (!(square[k + 1] < square[k] && square[k + 1] <= square[k + 2])) continue;
    const at = a + k*width, s = newton(g, x, z, at, k > 0 ? at - width : a, k < @SAMPLES@ ? at + width : b);
    if (away(s) < least) [least, found] = [away(s), s];
  }
  return found;
}
// Distance (negative below ground), normal, foot.
function nearest(x, z, reach) {
  const here = piece(x), below = height(pieces[here], x);
  let best = abs(z - below), fx = x, fz = below;
  if (!(z - below < reach)) [best, fz] = [reach, z - reach];
  const from = x - best, to = x + best, last = piece(to);
  const take = (s, h) => {
    const d = sqrt((s - x)**2 + (h - z)**2);
    if (d < best) [best, fx, fz] = [d, s, h];
  };
  for (let i = piece(from); i <= last; i++) {
    const g = pieces[i], a = i > 0 ? max(starts[i - 1], from) : from;
    const whole = i < starts.length && starts[i] <= to, b = whole ? starts[i] : to;
    if (a <= b) {
      const s = foot(g, x, z, a, b, best);
      take(s, height(g, s));
    }
    if (whole) {
      const one = height(g, b), other = height(pieces[i + 1], b);
      take(b, between(z, min(one, other), max(one, other)));
    }
  }
  if (best === 0) {
    const h1 = jet(pieces[here], x)[1], size = sqrt(1 + h1*h1);
    return [0, -h1/size, 1/size, fx, fz];
  }
  const side = z >= below ? 1 : -1;
  return [side*best, side*(x - fx)/best, side*(z - fz)/best, fx, fz];
}
