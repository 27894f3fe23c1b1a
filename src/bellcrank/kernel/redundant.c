/* q += scale times the change of coordinates with speeds x: q' is linear in them. */
static void shift(GIVEN Job *job, real t, const real *restrict q, const real *restrict x, real scale, real *restrict to,
    real *w)
{
    ARRAY(real, still, N_U);
    ARRAY(real, with_x, N_Q);
    ARRAY(real, without, N_Q);
    if (SPEEDS_ARE_RATES) {
        for (int j = 0; j < N_Q; j++)
            to[j] += scale*x[j];
        return;
    }
    memset(still, 0, N_U*sizeof *still);
    coordinate_rates(t, q, x, job->p, job->c, w, with_x, job->externals);
    coordinate_rates(t, q, still, job->p, job->c, w, without, job->externals);
    for (int j = 0; j < N_Q; j++)
        to[j] += scale*(with_x[j] - without[j]);
}

static real residual(GIVEN const real *all)
{
    real largest = 0.0;
    for (int i = 0; i < N_PAIRED; i++)
        largest = fabs(all[AT_G + i]) > largest ? fabs(all[AT_G + i]) : largest;
    return largest;
}

/* g in the rows of v that are its rates, zero in the others, times a scale; added to sum. */
static void add_g(GIVEN const real *all, real scale, real *sum)
{
    for (int i = 0; i < N_PAIRED; i++)
        sum[i] += scale*all[AT_G + i];
}

/* What brings Euler parameters to unit size. */
static void unit_sizes(GIVEN Job *job, real t, real *y, real *w)
{
    ARRAY(real, all, N_G*(1 + N_Q) + N_V*(1 + N_U));
    if ((int)N_PAIRED == (int)N_G)
        return;
    closure(t, y, y + N_Q, job->p, job->c, w, all, job->externals);
    for (int i = N_PAIRED; i < (int)N_G; i++) {
        const real *G = all + N_G + i*N_Q;
        real size = 0.0;
        for (int j = 0; j < N_Q; j++)
            size += G[j]*G[j];
        for (int j = 0; j < N_Q; j++)
            y[j] -= G[j]*all[i]/size;
    }
}

