// u' of M u' = force + J' lambda with J u' = right, then the ratio of pivots, stored at `rates`; addresses in bytes.
function constrained_rates(mass, force, rows, right, rates) {
  const [x, ratio] = reduced(m, mass >> 3, m, force >> 3, m, rows >> 3, m, right >> 3, @SINGULAR@);
  m.set(x, rates >> 3);
  m[(rates >> 3) + x.length] = ratio;
}
