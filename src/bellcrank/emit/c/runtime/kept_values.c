/* Values of external routines that are kept over a run (at its first step) and over a step. */
static int find_kept(Job *job, int first, real t, const real *y, real *w)
{
    real kept[N_W - N_I];
@IF SET@
    if (set_inputs(job, t, w))
        return INPUT_FAILED;
@END@
    if (first) {
@IF START@
        start(t, y, y + N_Q, job->p, job->c, w, kept, job->externals);
        memcpy(w + N_I, kept, @START@*sizeof *kept);
@END@
    }
@IF UPDATE@
    update(t, y, y + N_Q, job->p, job->c, w, kept, job->externals);
    memcpy(w + @PLACE@, kept, @UPDATE@*sizeof *kept);
@END@
    memcpy(job->kept, w + N_I, sizeof kept);
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

/* The same while a run goes on: what these routines remember may change. */
static int keep_values(Job *job, int first, real t, const real *y, real *w)
{
    job->externals->live = 2;
    return find_kept(job, first, t, y, w);
}

