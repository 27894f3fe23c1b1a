// LU factorisation with row pivoting, in place; false if a pivot vanishes.
function implicit_factor(J, pivot) {
  const n = J.length;
  for (let k = 0; k < n; k++) {
    let best = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(J[i][k]) > Math.abs(J[best][k])) best = i;
    pivot[k] = best;
    if (!(Math.abs(J[best][k]) > 0)) return false;
    [J[k], J[best]] = [J[best], J[k]];
    const r = J[k][k] = 1/J[k][k];
    for (let i = k + 1; i < n; i++) {
      const x = J[i][k] *= r;
      for (let j = k + 1; j < n; j++) J[i][j] -= x*J[k][j];
    }
  }
  return true;
}

function implicit_solve(J, pivot, g) {
  const n = J.length;
  for (let k = 0; k < n; k++) [g[k], g[pivot[k]]] = [g[pivot[k]], g[k]];
  for (let i = 1; i < n; i++) for (let j = 0; j < i; j++) g[i] -= J[i][j]*g[j];
  for (let i = n - 1; i >= 0; i--) {
    for (let j = i + 1; j < n; j++) g[i] -= J[i][j]*g[j];
    g[i] *= J[i][i];
  }
}

// Euler parameters s[i] to s[i + 3] after a rotation by a small vector.
function implicit_turn(s, i, a, b, c) {
  const x = 0.25*(a*a + b*b + c*c), r = Math.sqrt(x);
  const f = 0.5*(x < @SMALL@ ? 1 - x/6 + x*x/120 : Math.sin(r)/r), w = Math.cos(r);
  const p = f*a, q = f*b, v = f*c, [e0, e1, e2, e3] = s.slice(i, i + 4);
  const n = [w*e0 - p*e1 - q*e2 - v*e3, w*e1 + p*e0 + q*e3 - v*e2];
  n.push(w*e2 + q*e0 + v*e1 - p*e3, w*e3 + v*e0 + p*e2 - q*e1);
  const size = 1/Math.sqrt(n[0]*n[0] + n[1]*n[1] + n[2]*n[2] + n[3]*n[3]);
  for (let k = 0; k < 4; k++) s[i + k] = n[k]*size;
}
