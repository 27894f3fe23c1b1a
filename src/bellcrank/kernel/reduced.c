/* ---- closed loops: accelerations on the null space of the constraints */

/* ratio: how near a position is to a singular one, by the pivots of J. steady: how far the pivots that the derivatives
   divide by are from zero. */
static void look_at_pivots(GIVEN const real *restrict rows, real *ratio, real *steady)
{
    PIVOTS(P, N_V, N_U);
    real least = N_ORDER > 0 ? (real)HUGE_VAL : (real)USUAL_ORDER;
    put_rows(HERE &P, N_V, NULL, N_U, NULL, rows, NULL, 0);
    for (int k = 0; k < N_ORDER && least > VANISHING; k++) {
        const int row = ORDER[k][0], column = ORDER[k][1];
        const real pivot = P.filled[row*N_U + column] ? fabs(P.a[row*(N_U + 1) + column]) : 0;
        least = pivot < least ? pivot : least;
        take_pivot(&P, row, column);
    }
    *steady = least > VANISHING ? least/(real)USUAL_ORDER : 0;
    put_rows(HERE &P, N_V, NULL, N_U, NULL, rows, NULL, 0);
    *ratio = eliminate(&P, N_RV, USUAL_RATIO, SINGULAR);
}

/* x of M x = force + J' lambda with J x = right; returns the ratio of pivots. x = T a + c, where J T = 0 and J c =
   right; (T' M T) a = T' (force - M c). force may be NULL for zero: x is then the smallest one in the metric of M.
   `bridged`: rows are those of curves, too. */
static real reduced(GIVEN const real *restrict mass, const real *force, const real *restrict rows,
    const real *restrict right, int bridged, real *restrict x)
{
    PIVOTS(P, N_V, N_U);
    ARRAY(real, T, N_U*N_U);
    ARRAY(real, MT, N_U*N_U);
    ARRAY(real, K, N_U*N_U);
    ARRAY(real, b, N_U);
    ARRAY(real, rest, N_U);
    put_rows(HERE &P, N_V, NULL, N_U, NULL, rows, right, bridged);
    const real ratio = eliminate(&P, N_RV, USUAL_RATIO, bridged ? VANISHING : SINGULAR);
    const int p = null_basis(HERE &P, T, x);
    for (int i = 0; i < N_U; i++)
        rest[i] = force ? force[i] : 0;
    by_inertia(HERE mass, p, T, x, MT, rest);
    memset(K, 0, (size_t)(p*p)*sizeof *K);
    for (int i = 0; i < p; i++)
        b[i] = 0.0;
    for (int k = 0; k < N_U; k++)
        for (int i = 0; i < p; i++) {
            const real t = T[k*p + i];
            if (t == 0)
                continue;
            b[i] += t*rest[k];
            for (int j = 0; j <= i; j++)
                K[i*p + j] += t*MT[k*p + j];
        }
    solve_symmetric(p, K, b);
    for (int i = 0; i < N_U; i++)
        for (int j = 0; j < p; j++)
            x[i] += T[i*p + j]*b[j];
    return ratio;
}
