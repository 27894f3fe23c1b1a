EXPORT int64_t lane_count(void)
{
    return N_LANES;
}

/* Runs from number `first` to before `last`, as long as nobody stops them. */
EXPORT void run_lanes(const Batch *b, int64_t first, int64_t last)
{
    Job job;
    job.batch = b;
    job.tallies = new_tallies(b, N_LANES);
    for (job.run = first; job.tallies && job.run < last && !STOPPED(b); job.run += N_LANES) {
        job.used = last - job.run < N_LANES ? last - job.run : N_LANES;
        if (begin_runs(&job))
            continue;
        begin_rows(&job);
        go_on(&job, b->total);
        end_runs(&job);
    }
    free(job.tallies);
}
