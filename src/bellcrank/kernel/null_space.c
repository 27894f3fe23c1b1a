/* How near a position is to a singular one: the ratio of pivots of J. */
static real pivot_ratio(GIVEN const real *restrict rows)
{
    ARRAY(real, a, N_V*(N_U + 1));
    ARRAY(int, order, N_U);
    int used;
    for (int i = 0; i < N_V; i++) {
        for (int j = 0; j < N_U; j++)
            a[i*(N_U + 1) + j] = rows[i*N_U + j]*ROW_SCALE[i]*COLUMN_SCALE[j];
        a[i*(N_U + 1) + N_U] = 0.0;
    }
    return pivoted(N_V, N_U, N_RV, USUAL_RATIO, SINGULAR, a, order, &used);
}

/* How far the pivots that the derivatives divide by are from zero. */
static real steady_ratio(GIVEN const real *restrict rows)
{
    ARRAY(real, a, N_V*N_U);
    real least = HUGE_VAL;
    for (int i = 0; i < N_V; i++)
        for (int j = 0; j < N_U; j++)
            a[i*N_U + j] = rows[i*N_U + j]*ROW_SCALE[i]*COLUMN_SCALE[j];
    for (int k = 0; k < N_ORDER; k++) {
        const int row = ORDER[k][0], column = ORDER[k][1];
        const real pivot = a[row*N_U + column];
        least = fabs(pivot) < least ? fabs(pivot) : least;
        if (!(least > VANISHING))
            return 0.0;
        for (int i = 0; i < N_V; i++) {
            const real factor = a[i*N_U + column]/pivot;
            if (i == row || factor == 0)
                continue;
            for (int j = 0; j < N_U; j++)
                a[i*N_U + j] -= factor*a[row*N_U + j];
        }
    }
    return N_ORDER > 0 ? least/(real)USUAL_ORDER : 1;
}

/* x of M x = force + J' lambda with J x = right; returns the ratio of pivots. x = T a + c, where J T = 0 and J c =
   right; (T' M T) a = T' (force - M c). mass: rows of the lower triangle of M, packed. force may be NULL for zero: x
   is then the smallest one in the metric of M. Rows with pivots that are not above `least` are left out. */
static real reduced(GIVEN const real *restrict mass, const real *force, const real *restrict rows,
    const real *restrict right, real least, real *restrict x)
{
    const int W = N_U + 1;
    ARRAY(real, a, N_V*(N_U + 1));
    ARRAY(real, T, N_U*N_U);
    ARRAY(real, M, N_U*N_U);
    ARRAY(real, MT, N_U*N_U);
    ARRAY(real, K, N_U*N_U);
    ARRAY(real, b, N_U);
    ARRAY(real, rest, N_U);
    ARRAY(int, order, N_U);
    int used;
    for (int i = 0; i < N_V; i++) {
        for (int j = 0; j < N_U; j++)
            a[i*W + j] = rows[i*N_U + j]*ROW_SCALE[i]*COLUMN_SCALE[j];
        a[i*W + N_U] = right[i]*ROW_SCALE[i];
    }
    const real ratio = pivoted(N_V, N_U, N_RV, USUAL_RATIO, least, a, order, &used);
    const int p = N_U - used;
    for (int i = 0; i < N_U; i++) {
        const int s = order[i];
        for (int j = 0; j < p; j++)
            T[s*p + j] = COLUMN_SCALE[s]*(i < used ? -a[i*W + used + j] : (real)(i - used == j));
        x[s] = i < used ? COLUMN_SCALE[s]*a[i*W + N_U] : 0;
        for (int j = 0; j <= i; j++)
            M[i*N_U + j] = M[j*N_U + i] = mass[i*(i + 1)/2 + j];
    }
    for (int i = 0; i < N_U; i++) {
        rest[i] = force ? force[i] : 0;
        for (int j = 0; j < p; j++)
            MT[i*p + j] = 0.0;
        for (int k = 0; k < N_U; k++) {
            const real m = M[i*N_U + k];
            if (m == 0)
                continue;
            rest[i] -= m*x[k];
            for (int j = 0; j < p; j++)
                MT[i*p + j] += m*T[k*p + j];
        }
    }
    for (int i = 0; i < p; i++) {
        b[i] = 0.0;
        for (int k = 0; k < N_U; k++)
            b[i] += T[k*p + i]*rest[k];
        for (int j = 0; j <= i; j++) {
            K[i*p + j] = 0.0;
            for (int k = 0; k < N_U; k++)
                K[i*p + j] += T[k*p + i]*MT[k*p + j];
        }
    }
    solve_symmetric(p, K, b);
    for (int i = 0; i < N_U; i++)
        for (int j = 0; j < p; j++)
            x[i] += T[i*p + j]*b[j];
    return ratio;
}
