/* The correction of regular positions: what depends on the rest is moved. 0: the state is on the constraints; 1: a
   pivot is small, or the correction does not settle, and the state is as before; negative: the status of a failure,
   with the other sign. */
static int correct_dependent(GIVEN Job *job, real h, real t, real *y, real *w)
{
    ARRAY(real, change, 2*N_CORRECTED_U + 1);
    ARRAY(real, state, N_S);
    real *q = state, *u = state + N_Q, size = HUGE_VAL;
    if (CLOSURE_INPUTS && set_inputs(HERE job, t, w))
        return -INPUT_FAILED;
    job->externals->live = 0;
    job->moved = job->residual = 0.0;
    memcpy(state, y, N_S*sizeof *state);
    for (int n = 0; CORRECTION_TURNS(n); n++) {
        correct_q(t, q, u, job->p, job->c, w, change, job->externals);
        for (int i = 0; i < N_CORRECTED_Q; i++)
            q[CORRECTED_Q[i]] -= change[i];
        size = length(N_CORRECTED_Q, change);
        job->moved += size;
    }
    correct_u(t, q, u, job->p, job->c, w, change, job->externals);
    if (job->externals->failed)
        return -EXTERNAL_FAILED;
    job->ratio = 1.0;
    job->steady = HUGE_VAL;
    for (int i = 0; i < N_CORRECTED_U; i++) {
        const real pivot = fabs(change[N_CORRECTED_U + i]*PIVOT_SCALE[i]);
        job->steady = pivot < job->steady ? pivot : job->steady;
        u[CORRECTED_U[i]] -= change[i];
    }
    if (!(size < SETTLED) || !(job->steady > WATCHED) || job->moved > SHARE*h*length(N_U, u) + LEAST)
        return 1;
    memcpy(y, state, N_S*sizeof *state);
    return 0;
}

