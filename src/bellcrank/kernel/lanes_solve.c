/* Solves A x = b for a symmetric matrix, row by row in a (lower triangle), by A = L D L'; x replaces b. A pivot that
   vanishes against the largest diagonal entry means a singular matrix: every x of that lane is then NaN. */
static void solve_symmetric(int n, lanes *restrict a, lanes *restrict b)
{
    lanes largest = SAME(0);
    masks singular = {0};
    for (int i = 0; i < n; i++)
        largest = lanes_max(largest, lanes_abs(a[i*n + i]));
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++) { /* row j: L D so far */
            lanes sum = a[j*n + k];
            for (int m = 0; m < k; m++)
                sum -= a[j*n + m]*a[k*n + m];
            a[j*n + k] = sum;
        }
        for (int k = 0; k < j; k++) { /* row j: L, and the pivot */
            const lanes entry = a[j*n + k]/a[k*n + k];
            a[j*n + j] -= entry*a[j*n + k];
            b[j] -= entry*b[k];
            a[j*n + k] = entry;
        }
        singular |= ~(masks)(lanes_abs(a[j*n + j]) > SAME(DEPENDENT)*largest);
    }
    for (int j = n - 1; j >= 0; j--) {
        b[j] /= a[j*n + j];
        for (int i = j + 1; i < n; i++)
            b[j] -= a[i*n + j]*b[i];
    }
    for (int j = 0; j < n; j++)
        b[j] = choose(singular, SAME(NAN), b[j]);
}
