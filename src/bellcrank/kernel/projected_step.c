/* A step that ends on the constraints. It is taken again with care if it ends near a singular position, and halved if
   it needs a correction that is large against what it moves, or if branches ask for it that miss each other. */
static int projected_step(GIVEN Job *job, real h, real t, real middle, real end, const real *y, const real *k,
    real *next, real *w, int depth)
{
    ARRAY(real, half, N_S);
    ARRAY(real, rate, N_S);
    job->from = y;
    job->portions = depth ? job->portions + 1 : 0;
    if (depth || job->near)
        job->behind = 0.0;
    int failed = advance(HERE job, h, t, middle, end, y, k, next, w), divide = 0;
    if (failed)
        return failed;
    if (MODEL_HAS(CORRECTION) && !job->wary && (failed = correct_dependent(HERE job, h, end, next, w)) <= 0)
        return -failed;
    if ((failed = project(HERE job, end, next, w, job->wary ? TIGHT : CLOSED)))
        return failed;
    if ((job->ratio < NEAR && !job->near) || (job->steady < NEAR && !job->wary)) {
        job->near = job->near || job->ratio < NEAR;
        job->wary = 1;
        return projected_step(HERE job, h, t, middle, end, y, k, next, w, depth);
    }
    if (!all_finite(HERE next))
        return NOT_FINITE;
    divide = MODEL_HAS(BRIDGES) && job->near && depth < DIVISIONS && job->portions < PORTIONS
        && too_far(HERE job, h, t, end, y, next, w);
    if (!divide && job->moved <= SHARE*h*length(N_U, next + N_Q) + LEAST && job->residual < OPEN)
        return FINISHED;
    if (!divide && depth >= HALVINGS)
        return NOT_CLOSED;
    if (!divide && depth == 0)
        book(job, (real[N_VISIT]){t, DIVIDED});
    if ((failed = projected_step(HERE job, h/2, t, 0.5*(t + middle), middle, y, k, half, w, depth + 1))) {
        memcpy(next, half, N_S*sizeof *half);
        return failed;
    }
    job->near = job->near || job->ratio < WATCHED;
    job->wary = job->wary || job->near || job->steady < WATCHED;
    job->from = half;
    if ((failed = rates(HERE job, 0, middle, half, rate, w)))
        return failed;
    failed = projected_step(HERE job, h/2, middle, 0.5*(middle + end), end, half, rate, next, w, depth + 1);
    job->from = y;
    return failed;
}

