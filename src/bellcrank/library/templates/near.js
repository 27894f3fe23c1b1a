function routine(x, z, reach, out) {
  m.set(nearest(x, z, reach).slice(0, 4), out >> 3);
}
