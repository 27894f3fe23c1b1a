function routine(x, y, z, reach, out) {
  m.set(nearest(x, y, z, reach)[0], out >> 3);
}
routine.height = (x, y) => jet(x, y)[0];
