// By how much the normal turns per length moved along a nearest point: 1/distance at an edge, nothing at a wall.
function bent(distance, x, z) {
  const i = piece(x);
  if (i > 0 && starts[i - 1] === x) {
    const one = height(pieces[i - 1], x), other = height(pieces[i], x);
    if (min(one, other) < z && z < max(one, other)) return 0;
    return distance ? 1/distance : Infinity;
  }
  const [, h1, h2] = jet(pieces[i], x), curve = h2/(1 + h1*h1)**1.5;
  return -curve/(1 - curve*distance);
}
function routine(x, z, reach, out) {
  const [distance, , , fx, fz] = nearest(x, z, reach), near = distance < reach;
  m.set(near ? [bent(distance, fx, fz), 1] : [0, 0], out >> 3);
}
