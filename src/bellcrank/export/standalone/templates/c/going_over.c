/* The method that goes over to stiff steps does so where a fast mode holds explicit ones; from there on it goes back
   and forth by itself. When that was, s; 0 if it was not. */
static double go_over(Job *job)
{
    const double t = job->t;
    if (settings.method != AUTO || job->status != FINISHED || job->reached == job->total)
        return 0.0;
    memset(job->work, 0, (size_t)work_room()*sizeof *job->work);
    job->method = RADAU5;
    job->begun = AGAIN;
    job->first = job->reached;
@IF LOOPS@
    job->n_past = job->wary = job->near = job->curves = job->portions = 0;
@END@
    run(job);
    return t;
}

