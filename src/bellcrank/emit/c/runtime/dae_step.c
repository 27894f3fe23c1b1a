/* A step of a method, with the correction that belongs to it. */
static int dae_step(Job *job, double h, double t, double middle, double end, const double *y, const double *k,
    double *next, double *w)
{
    int failed = job->dae == HALF_EXPLICIT ? half_explicit(job, h, t, middle, end, y, next, w)
                                           : advance(job, h, t, middle, end, y, k, next, w);
    if (!failed && all_finite(next))
        failed = correct(job, end, next, w);
    job->fresh = 1;
    return failed;
}

