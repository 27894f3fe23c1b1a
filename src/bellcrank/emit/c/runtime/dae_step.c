/* A step of a method, with the correction that belongs to it. */
static int dae_step(Job *job, real h, real t, real middle, real end, const real *y, const real *k,
    real *next, real *w)
{
    int failed = job->dae == HALF_EXPLICIT ? half_explicit(job, h, t, middle, end, y, next, w)
                                           : advance(job, h, t, middle, end, y, k, next, w);
    if (!failed && all_finite(next))
        failed = correct(job, end, next, w);
    job->fresh = 1;
    return failed;
}

