
/* ---- runs step by step: all calls leave one row, that of the state reached */

/* Takes n more steps of a run; n = 0: its start, or a state after inputs were changed. Returns the status. */
EXPORT int steps_on(GIVEN Job *job, int64_t n)
{
    if (job->begun == AGAIN && !n) {
        ARRAY(real, w, N_W + 1);
        job->externals->failed = 0;
        job->begun = job->events ? AGAIN : BEGUN; /* what was changed may bring events about in the next step */
        memcpy(w + N_I, job->kept, (N_W - N_I)*sizeof *w);
        if ((job->status = take_start(HERE job, 1, w)))
            return job->status;
        job->filled = 0;
        return job->status = record(HERE job, 0, job->t, job->y, w);
    }
    job->first = job->reached;
    job->last = job->total = job->first + n;
    job->filled = 0;
#if HAS_LOOKS
    if (job->events)
        return run_watched(HERE job, 1);
#endif
    return take_steps(HERE job);
}

/* The same for several runs, but those that have failed; how many that are then. */
EXPORT int64_t steps_of_all(GIVEN Job *const *jobs, int64_t count, int64_t n)
{
    int64_t failed = 0;
    for (int64_t i = 0; i < count; i++)
        failed += jobs[i]->status ? 1 : steps_on(HERE jobs[i], n) != FINISHED;
    return failed;
}

/* Gives inputs of several runs that are constant other values, a row of `each` of them for every run. */
EXPORT void set_of_all(Job *const *jobs, int64_t count, int64_t each, const int64_t *places, const real *values)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < each; k++, values++) {
            Input *in = (Input *)jobs[i]->inputs + places[k];
            if (in->a[0] != *values) {
                in->a[0] = *values;
                jobs[i]->begun = AGAIN;
            }
        }
}
