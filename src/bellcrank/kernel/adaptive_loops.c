/* Brings a state onto the constraints. */
static int close_state(GIVEN Job *job, real h, real t, real *y, real *w)
{
    const int open = !MODEL_HAS(CORRECTION) || job->wary ? 1 : correct_dependent(HERE job, h, t, y, w);
    if (open <= 0)
        return -open;
    return project(HERE job, t, y, w, job->wary ? TIGHT : CLOSED);
}

/* Ratios of pivots in the middle of a step. */
static int look_at_middle(GIVEN Job *job, real h, const real *next, const real *end, real *ratio, real *steady, real *w)
{
    const real t = job->t + 0.5*h;
    ARRAY(real, all, N_G*(1 + N_Q) + N_V*(1 + N_U) + 1);
    ARRAY(real, y, N_S);
    const real *J = all + N_G*(1 + N_Q) + N_V;
    for (int j = 0; j < N_S; j++)
        y[j] = 0.5*(job->y[j] + next[j]) + 0.125*h*(job->k[j] - end[j]);
    if (set_inputs(HERE job, t, w))
        return INPUT_FAILED;
    job->externals->live = 0;
    closure(t, y, y + N_Q, job->p, job->c, w, all, job->externals);
    look_at_pivots(HERE J, ratio, steady);
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

/* Closes the loops at the end of a step, `next`, with rates `end` before that. 0: it may be taken; 1: it is to be
   tried again, with care or shorter; negative: the status of a failure, with the other sign. */
static int admit_step(GIVEN Job *job, real h, real t, real *next, const real *end, real *w)
{
    Work *a = (Work *)job->work;
    ARRAY(real, loose, N_S);
    if (!MODEL_HAS(LOOPS))
        return FINISHED;
    memcpy(loose, next, N_S*sizeof *loose);
    int failed = close_state(HERE job, h, t, next, w), divide;
    if (failed)
        return -failed;
    real middle, firm;
    if ((failed = look_at_middle(HERE job, h, loose, end, &middle, &firm, w)))
        return -failed;
    const real ratio = fmin(job->ratio, middle), steady = fmin(job->steady, firm);
    if ((ratio < NEAR && !job->near) || (steady < NEAR && !job->wary)) { /* with care, and a small step first */
        job->near = job->near || ratio < NEAR;
        job->wary = 1;
        job->evaluations++;
        if ((failed = rates(HERE job, 0, job->t, job->y, job->k, w)) || (failed = first_step(HERE job, a->order, w)))
            return -failed;
        return 1;
    }
    divide = job->near && a->halvings < HALVINGS && a->ratio > NEAR_ZONE && ratio < NEAR_SHARE*a->ratio;
    divide = divide || (MODEL_HAS(BRIDGES) && job->near && a->halvings < DIVISIONS
        && too_far(HERE job, h, job->t, t, job->y, next, w));
    const real most = SHARE*h*length(N_U, next + N_Q) + LEAST;
    if (!divide && all_finite(HERE next) && job->residual < OPEN && job->moved <= most)
        return 0;
    if (!divide && a->halvings >= HALVINGS) {
        memcpy(job->bad, next, N_S*sizeof *loose);
        return -NOT_CLOSED;
    }
    ++a->halvings;
    job->rejected++;
    a->rejected = 1;
    a->h = 0.5*h;
    return 1;
}

/* A state within a step brought onto the constraints; what is known of its end stays. */
static int close_within(GIVEN Job *job, real t, real *y, real *w)
{
    const real moved = job->moved, residual = job->residual, ratio = job->ratio, steady = job->steady;
    const int64_t worst = job->worst;
    if (!MODEL_HAS(LOOPS))
        return FINISHED;
    const int failed = close_state(HERE job, HUGE_VAL, t, y, w);
    if (failed)
        return failed;
    job->moved = moved;
    job->residual = residual;
    job->ratio = ratio;
    job->steady = steady;
    job->worst = worst;
    return FINISHED;
}

