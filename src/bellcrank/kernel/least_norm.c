/* The smallest change that meets linear equations. */
#define MOST_ROWS (N_G > N_V ? N_G : N_V)
#define MOST_COLUMNS (N_Q > N_U ? N_Q : N_U)
#define LARGEST_A (N_G*N_Q > N_V*N_U ? N_G*N_Q : N_V*N_U)

/* The x with A x = r that is smallest when each x is divided by its root; A has m rows of n and a known rank. Rows are
   brought to length 1 and orthogonalised, the one with most left first, so that no square of A is formed. Rows that
   vanish against the longest, or of which nothing is left because they repeat others, are left out. What is not finite
   in A or r makes every x NaN. */
static void least_norm(GIVEN int m, int n, int rank, const real *restrict root, const real *restrict rows,
    const real *restrict r, real *restrict x)
{
    ARRAY(real, a, LARGEST_A + 1);
    ARRAY(real, e, MOST_COLUMNS + 1);
    ARRAY(real, y, MOST_ROWS + 1);
    ARRAY(real, left, MOST_ROWS + 1);
    real longest = 0.0, finite = 0.0;
    ARRAY(int, from, MOST_ROWS + 1);
    ARRAY(int, to, MOST_ROWS + 1); /* what is not zero in a row */
    for (int i = 0; i < m; i++) {
        from[i] = n;
        to[i] = 0;
        for (int k = 0; k < n; k++) {
            a[i*n + k] = root[k]*rows[i*n + k];
            if (a[i*n + k] != 0) {
                from[i] = k < from[i] ? k : from[i];
                to[i] = k + 1;
            }
        }
        left[i] = length(n, a + i*n);
        longest = left[i] > longest ? left[i] : longest;
        finite += 0*left[i] + 0*r[i];
    }
    for (int i = 0; i < m; i++) {
        const int counts = left[i] > SHORT*longest;
        for (int k = from[i]; k < to[i]; k++)
            a[i*n + k] = counts ? a[i*n + k]/left[i] : 0;
        y[i] = counts ? r[i]/left[i] : 0;
        left[i] = length(n, a + i*n);
    }
    for (int k = 0; k < n; k++)
        x[k] = finite;
    for (; rank > 0; rank--) {
        int best = 0;
        for (int i = 1; i < m; i++)
            if (left[i] > left[best])
                best = i;
        if (!(left[best] > REPEATED))
            break;
        const int first = from[best], last = to[best];
        const real share = y[best]/left[best];
        for (int k = first; k < last; k++) {
            e[k] = a[best*n + k]/left[best];
            x[k] += share*e[k];
        }
        left[best] = 0.0;
        for (int i = 0; i < m; i++) {
            real along = 0.0;
            for (int k = from[i] > first ? from[i] : first; k < to[i] && k < last && left[i] > 0; k++)
                along += a[i*n + k]*e[k];
            if (along == 0)
                continue;
            for (int k = first; k < last; k++)
                a[i*n + k] -= along*e[k];
            y[i] -= share*along;
            from[i] = first < from[i] ? first : from[i];
            to[i] = last > to[i] ? last : to[i];
            left[i] = length(n, a + i*n);
        }
    }
    for (int k = 0; k < n; k++)
        x[k] *= root[k];
}
