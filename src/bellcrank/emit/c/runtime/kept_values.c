/* Values of external routines that are kept over a run (at its first step) and over a step. */
static int keep_values(Job *job, int first, real t, const real *y, real *w)
{
    real kept[N_W - N_I];
@SET@    job->externals->live = 2;
    if (first) {
@START@    }
@UPDATE@    memcpy(job->kept, w + N_I, sizeof kept);
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

