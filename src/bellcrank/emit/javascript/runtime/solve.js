// Solves A x = b for a symmetric matrix, row by row from a on (lower triangle), by A = L D L'; x replaces b. A pivot
// that vanishes against the largest diagonal entry means a singular matrix: every x is then NaN.
function solve_symmetric(n, A, a, B, b) {
  let largest = 0;
  for (let i = 0; i < n; i++) largest = Math.max(largest, Math.abs(A[a + i*n + i]));
  for (let j = 0; j < n; j++) {
    const row = a + j*n;
    for (let k = 0; k < j; k++) {
      let sum = A[row + k];
      for (let i = 0; i < k; i++) sum -= A[row + i]*A[a + k*n + i];
      A[row + k] = sum;
    }
    for (let k = 0; k < j; k++) {
      const entry = A[row + k]/A[a + k*n + k];
      A[row + j] -= entry*A[row + k];
      B[b + j] -= entry*B[b + k];
      A[row + k] = entry;
    }
    if (!(Math.abs(A[row + j]) > @DEPENDENT@*largest)) {
      B.fill(NaN, b, b + n);
      return;
    }
  }
  for (let j = n - 1; j >= 0; j--) {
    B[b + j] /= A[a + j*n + j];
    for (let i = j + 1; i < n; i++) B[b + j] -= A[a + i*n + j]*B[b + i];
  }
}
