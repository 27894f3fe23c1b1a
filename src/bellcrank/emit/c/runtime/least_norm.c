/* The smallest change that meets linear equations. */
enum {
    MOST_ROWS = N_G > N_V ? N_G : N_V,
    LARGEST_A = N_G*N_Q > N_V*N_U ? N_G*N_Q : N_V*N_U
};

static real length(int n, const real *x)
{
    real sum = 0.0;
    for (int j = 0; j < n; j++)
        sum += x[j]*x[j];
    return sqrt(sum);
}

/* The x with A x = r that is smallest when each x is divided by its root; A has m rows of n and a known rank. Rows are brought to
   length 1 first: x = root A' y, where A A' y = r is solved by A A' = L D L' with the largest pivot first. Rows that vanish against
   the longest, or whose pivot vanishes because they repeat others, are left out. What is not finite in A or r makes every x NaN. */
static void least_norm(int m, int n, int rank_known, const real *restrict root, const real *restrict rows,
    const real *restrict r, real *restrict x)
{
    real a[LARGEST_A + 1], s[MOST_ROWS*MOST_ROWS + 1], y[MOST_ROWS + 1], scale[MOST_ROWS + 1];
    real longest = 0.0, most = 0.0, finite = 0.0;
    int order[MOST_ROWS + 1], from[MOST_ROWS + 1], to[MOST_ROWS + 1], rank = 0;
    for (int i = 0; i < m; i++) {
        order[i] = i;
        from[i] = n;
        to[i] = 0;
        for (int k = 0; k < n; k++) {
            a[i*n + k] = root[k]*rows[i*n + k];
            if (a[i*n + k] != 0.0) {
                from[i] = k < from[i] ? k : from[i];
                to[i] = k + 1;
            }
        }
        scale[i] = length(n, a + i*n);
        longest = scale[i] > longest ? scale[i] : longest;
        finite += 0.0*scale[i] + 0.0*r[i];
    }
    for (int i = 0; i < m; i++) {
        scale[i] = scale[i] > SHORT*longest ? 1.0/scale[i] : 0.0;
        y[i] = scale[i]*r[i];
        for (int j = 0; j <= i; j++) {
            real sum = 0.0;
            for (int k = from[i] > from[j] ? from[i] : from[j]; k < to[i] && k < to[j]; k++)
                sum += a[i*n + k]*a[j*n + k];
            s[i*m + j] = s[j*m + i] = scale[i]*scale[j]*sum;
        }
    }
    for (; rank < rank_known; rank++) {
        int best = rank;
        for (int i = rank + 1; i < m; i++)
            if (s[order[i]*(m + 1)] > s[order[best]*(m + 1)])
                best = i;
        const int pivot = order[best];
        const real d = s[pivot*(m + 1)];
        if (rank == 0)
            most = d;
        if (!(d > REPEATED*most))
            break;
        order[best] = order[rank];
        order[rank] = pivot;
        for (int i = rank + 1; i < m; i++) {
            const int row = order[i];
            const real entry = s[row*m + pivot]/d;
            if (entry == 0.0)
                continue;
            y[row] -= entry*y[pivot];
            for (int j = rank + 1; j < m; j++)
                s[row*m + order[j]] -= entry*s[pivot*m + order[j]];
        }
    }
    for (int j = 0; j < n; j++)
        x[j] = finite;
    for (int i = rank - 1; i >= 0; i--) {
        const int row = order[i];
        for (int j = i + 1; j < rank; j++)
            y[row] -= s[row*m + order[j]]*y[order[j]];
        y[row] /= s[row*(m + 1)];
        for (int j = 0; j < n; j++)
            x[j] += root[j]*scale[row]*y[row]*a[row*n + j];
    }
}
