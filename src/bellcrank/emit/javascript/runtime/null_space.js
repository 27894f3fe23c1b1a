// Eliminates the rows of a (n + 1 columns; the last is a right-hand side), the largest pivot first. `order` gets the
// columns in their order; rows whose pivots are not above `least` are left out. Returns how many rows were taken, and
// the ratio of the last pivot to the first, against its usual value.
function pivoted(a, n, rank, usual, least, order) {
  let first = 0, ratio = 1, used = 0;
  for (let j = 0; j < n; j++) order[j] = j;
  for (; used < rank; used++) {
    const k = used;
    let row = k, column = k, largest = 0;
    for (let i = k; i < a.length; i++)
      for (let j = k; j < n; j++)
        if (Math.abs(a[i][j]) > largest) [largest, row, column] = [Math.abs(a[i][j]), i, j];
    if (k === 0) first = largest;
    ratio = first > 0 ? largest/(first*usual) : 0;
    if (!(ratio > least)) break;
    [a[k], a[row]] = [a[row], a[k]];
    if (column !== k) for (const r of a) [r[k], r[column]] = [r[column], r[k]];
    [order[k], order[column]] = [order[column], order[k]];
    const one = 1/a[k][k];
    for (let j = k; j <= n; j++) a[k][j] *= one;
    for (let i = 0; i < a.length; i++) {
      const factor = a[i][k];
      if (i === k || factor === 0) continue;
      for (let j = k; j <= n; j++) a[i][j] -= factor*a[k][j];
    }
  }
  return [used, ratio];
}

// The rows of J, which begin at `rows` in x, brought to entries of about one.
const scaled = (x, rows) => LOOPS.rows.map((r, i) => LOOPS.columns.map((c, j) => x[rows + i*LOOPS.n_u + j]*r*c));

// How near a position is to a singular one: the ratio of pivots of J.
function pivot_ratio(x, rows) {
  const a = scaled(x, rows);
  a.forEach(row => row.push(0));
  return pivoted(a, LOOPS.n_u, LOOPS.rank_v, LOOPS.usual, @SINGULAR@, [])[1];
}

// How far the pivots that the derivatives divide by are from zero.
function steady_ratio(x, rows) {
  const a = scaled(x, rows);
  let least = Infinity;
  for (const [row, column] of LOOPS.order) {
    const pivot = a[row][column];
    least = Math.min(least, Math.abs(pivot));
    if (!(least > @VANISHING@)) return 0;
    a.forEach((other, i) => {
      const factor = other[column]/pivot;
      if (i !== row && factor !== 0) a[row].forEach((entry, j) => { other[j] -= factor*entry; });
    });
  }
  return LOOPS.order.length ? least/LOOPS.usual_order : 1;
}

// x of M x = force + J' lambda with J x = right, and the ratio of pivots. x = T a + c, where J T = 0 and J c = right;
// (T' M T) a = T' (force - M c). M is packed, rows of its lower triangle; without a force x is the smallest in the
// metric of M. Rows with pivots that are not above `least` are left out.
function reduced(M, mass, F, force, J, rows, G, right, least) {
  const n = LOOPS.n_u, a = scaled(J, rows), order = [];
  a.forEach((row, i) => row.push(G[right + i]*LOOPS.rows[i]));
  const [used, ratio] = pivoted(a, n, LOOPS.rank_v, LOOPS.usual, least, order), p = n - used;
  const T = [], x = Array(n).fill(0), rest = [], MT = [], K = Array(p*p).fill(0), b = Array(p).fill(0);
  order.forEach((s, i) => {
    const scale = LOOPS.columns[s];
    T[s] = Array.from({length: p}, (_, j) => scale*(i < used ? -a[i][used + j] : Number(i - used === j)));
    if (i < used) x[s] = scale*a[i][n];
  });
  const entry = (i, k) => M[mass + (i > k ? i*(i + 1)/2 + k : k*(k + 1)/2 + i)];
  for (let i = 0; i < n; i++) {
    rest[i] = F ? F[force + i] : 0;
    MT[i] = Array(p).fill(0);
    for (let k = 0; k < n; k++) {
      const e = entry(i, k);
      if (e === 0) continue;
      rest[i] -= e*x[k];
      for (let j = 0; j < p; j++) MT[i][j] += e*T[k][j];
    }
  }
  for (let i = 0; i < p; i++)
    for (let k = 0; k < n; k++) {
      b[i] += T[k][i]*rest[k];
      for (let j = 0; j <= i; j++) K[i*p + j] += T[k][i]*MT[k][j];
    }
  solve_symmetric(p, K, 0, b, 0);
  for (let i = 0; i < n; i++) for (let j = 0; j < p; j++) x[i] += T[i][j]*b[j];
  return [x, ratio];
}
