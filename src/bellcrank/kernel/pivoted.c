/* ---- closed loops: accelerations on the null space of the constraints, pivoted as the position asks for */

/* Eliminates the rows of a (m rows of n + 1; the last column is a right-hand side), the largest pivot first, and the
   first of those that differ by rounding: the ratio must not jump with it where mechanisms are symmetric. Columns
   are left in the given order, `used` rows were taken, as many as the rank; rows whose pivots are not above `least`
   are left out. Returns the ratio of the last pivot to the first, against its usual value. */
static real pivoted(int m, int n, int rank, real usual, real least, real *restrict a, int *restrict order,
    int *restrict used)
{
    const int W = n + 1;
    real first = 0.0, ratio = 1.0;
    for (int j = 0; j < n; j++)
        order[j] = j;
    for (*used = 0; *used < rank; ++*used) {
        const int k = *used;
        int row = k, column = k;
        real largest = 0.0;
        for (int i = k; i < m; i++)
            for (int j = k; j < n; j++)
                if (fabs(a[i*W + j]) > TIED*largest) {
                    largest = fabs(a[i*W + j]);
                    row = i;
                    column = j;
                }
        if (k == 0)
            first = largest;
        ratio = first > 0 ? largest/(first*usual) : 0;
        if (!(ratio > least))
            break;
        for (int j = 0; j < W && row != k; j++) {
            const real old = a[k*W + j];
            a[k*W + j] = a[row*W + j];
            a[row*W + j] = old;
        }
        for (int i = 0; i < m && column != k; i++) {
            const real old = a[i*W + k];
            a[i*W + k] = a[i*W + column];
            a[i*W + column] = old;
        }
        const int old = order[k];
        order[k] = order[column];
        order[column] = old;
        const real one = 1/a[k*W + k];
        for (int j = k; j < W; j++)
            a[k*W + j] *= one;
        for (int i = 0; i < m; i++) {
            const real factor = a[i*W + k];
            if (i == k || factor == 0)
                continue;
            for (int j = k; j < W; j++)
                a[i*W + j] -= factor*a[k*W + j];
        }
    }
    return ratio;
}

