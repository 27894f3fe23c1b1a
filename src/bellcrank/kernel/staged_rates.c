/* Rates where dependent coordinates and speeds follow from the others: those of a state with its loops closed. */
static int staged_rates(GIVEN Job *job, real t, const real *y, real *k, real *w)
{
    const real moved = job->moved, residual = job->residual, ratio = job->ratio, steady = job->steady;
    const int live = job->externals->live;
    ARRAY(real, state, N_S);
    memcpy(state, y, N_S*sizeof *state);
    const int open = correct_dependent(HERE job, HUGE_VAL, t, state, w);
    job->moved = moved;
    job->residual = residual;
    job->ratio = ratio;
    job->steady = steady;
    job->externals->live = live;
    if (open < 0)
        return -open;
    derivatives(t, state, state + N_Q, job->p, job->c, w, k, k + N_Q, job->externals);
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

