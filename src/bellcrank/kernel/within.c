
/* ---- rows within a step, for who looks for something there */

/* The row at a time within the next step of a job that begins again at job->t: the state is that of a step which ends
   there. What external routines keep and remember stays as it is. `known`: rates at the start of the step, or NULL.
   The job is changed: it is one for this look alone. Returns the status. */
static int look_within(GIVEN Job *job, real until, const real *known)
{
    const real near = GAP*job->h, whole = job->t_start + (real)(job->first + 1)*job->h;
    ARRAY(real, w, N_W + 1);
    ARRAY(real, next, N_S);
    real t = job->t;
    int64_t b = 0;
    int failed;
    job->externals->failed = 0;
    job->filled = 0;
    memcpy(w + N_I, job->kept, (N_W - N_I)*sizeof *w);
    if ((failed = take_start(HERE job, 1, w)))
        return failed;
    if (known)
        memcpy(job->k, known, N_S*sizeof *next);
    while (b < job->n_breaks && job->breaks[b] <= t + near)
        b++;
    const int cut = b < job->n_breaks && job->breaks[b] <= until + near;
    const int regular = !cut && until == whole && fabs(t - (job->t_start + (real)job->first*job->h)) <= near;
    while (t < until) {
        const Part part = next_part(job, &b, until, near);
        const real middle = regular ? job->t_start + ((real)job->first + 0.5)*job->h : 0.5*(t + part.to);
        failed = move_on(HERE job, regular ? job->h : part.to - t, t, middle, part.before, job->y, job->k, next, w);
        if (failed == EXTERNAL_FAILED || failed == INPUT_FAILED)
            return failed;
        memcpy(job->y, next, N_S*sizeof *next);
        t = part.to;
        if (t < until && (failed = rates(HERE job, 0, part.after, job->y, job->k, w)))
            return failed;
    }
    if (set_inputs(HERE job, until, w))
        return INPUT_FAILED;
    return record(HERE job, 0, until, job->y, w);
}
