/* Solves A x = b for a symmetric matrix, row by row in a (lower triangle), by A = L D L'; x replaces b. A pivot that
   vanishes against the largest diagonal entry means a singular matrix: every x is then NaN. */
static void solve_symmetric(int n, real *restrict a, real *restrict b)
{
    real largest = 0.0;
    for (int i = 0; i < n; i++)
        largest = fabs(a[i*n + i]) > largest ? fabs(a[i*n + i]) : largest;
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++) { /* row j: L D so far */
            real sum = a[j*n + k];
            for (int m = 0; m < k; m++)
                sum -= a[j*n + m]*a[k*n + m];
            a[j*n + k] = sum;
        }
        for (int k = 0; k < j; k++) { /* row j: L, and the pivot */
            const real entry = a[j*n + k]/a[k*n + k];
            a[j*n + j] -= entry*a[j*n + k];
            b[j] -= entry*b[k];
            a[j*n + k] = entry;
        }
        if (!(fabs(a[j*n + j]) > DEPENDENT*largest)) {
            for (int i = 0; i < n; i++)
                b[i] = NAN;
            return;
        }
    }
    for (int j = n - 1; j >= 0; j--) {
        b[j] /= a[j*n + j];
        for (int i = j + 1; i < n; i++)
            b[j] -= a[i*n + j]*b[i];
    }
}
