/* ---- rates and rows of a state */

/* Rates of the state y at a time; live: external routines may change what they remember. */
static int rates(GIVEN Job *job, int live, real t, const real *y, real *k, real *w)
{
    if (set_inputs(HERE job, t, w))
        return INPUT_FAILED;
    job->externals->live = live;
    if (MODEL_HAS(WHEELS)) {
        with_ground(HERE job, t, y, w);
        if (job->unknown)
            return INPUT_FAILED;
        job->externals->live = live;
    }
    if (MODEL_HAS(LOOPS) && job->wary)
        return wary_rates(HERE job, t, y, k, w);
    if (MODEL_HAS(CORRECTION) && job->staged)
        return staged_rates(HERE job, t, y, k, w);
#if HAS_DAE
    if (MODEL_HAS(DAE))
        return dae_rates(HERE job, t, y, k, w);
#endif
    derivatives(t, y, y + N_Q, job->p, job->c, w, k, k + N_Q, job->externals);
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

static int record(GIVEN Job *job, int live, real t, const real *y, const real *w)
{
    real *row = job->rows + job->filled*(1 + N_S + N_OUT + (job->with_inputs ? N_W : 0));
    job->filled++;
    row[0] = t;
    memcpy(row + 1, y, N_S*sizeof *y);
    job->externals->live = live;
    outputs(t, y, y + N_Q, job->p, job->c, w, row + 1 + N_S, job->externals);
    if (job->with_inputs)
        memcpy(row + 1 + N_S + N_OUT, w, N_W*sizeof *w);
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

static int all_finite(GIVEN const real *y)
{
    for (int j = 0; j < N_S; j++)
        if (!isfinite(y[j]))
            return 0;
    return 1;
}

#include "unit_size.c"
#include "kept_values.c"
