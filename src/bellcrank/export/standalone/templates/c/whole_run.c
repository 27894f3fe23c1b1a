@IF ADAPTIVE@
/* A whole run. The method that goes over to stiff steps does so where a fast mode holds explicit ones; from there on it
   goes back and forth by itself. Returns when that was, s; 0 if it was not. */
static double run_whole(Job *job)
{
    run(job);
    const double t = job->t;
    if (settings.method != AUTO || job->status != FINISHED || job->reached == job->total)
        return 0.0;
    memset(job->work, 0, (size_t)work_room()*sizeof *job->work);
    job->method = RADAU5;
    job->begun = AGAIN;
    job->first = job->reached;
@LOOPS@    run(job);
    return t;
}

@ELSE@
/* A whole run. */
static double run_whole(Job *job)
{
    do {
        job->first = job->reached;
        run(job);
@WHEELS@    } while (!job->status && job->reached < job->total);
    return 0.0;
}

@END@
