@TABLES@
/* Slopes of the rates at y that the program knows; is each column known? */
static int known_slopes(Job *job, real t, const real *y, int *known, real *w)
{
    Stiff *s = stiff_of(job);
    real found[N_SLOPES + 1];
    memcpy(known, SLOPED, sizeof SLOPED);
@IF SET@
    if (set_inputs(job, t, w))
        return INPUT_FAILED;
@END@
    job->externals->live = 0;
    slopes(t, y, y + N_Q, job->p, job->c, w, found, job->externals);
    memset(s->slopes, 0, sizeof s->slopes);
    for (int i = 0; i < N_SLOPES; i++) {
        s->slopes[SLOPE_PLACE[i]] = found[i];
        if (!isfinite(found[i]))
            known[SLOPE_COLUMN[i]] = 0;
    }
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

