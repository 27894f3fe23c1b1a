EXPORT int64_t lane_count(void)
{
    return N_RUNS;
}

/* Runs from number `first` to before `last`, as long as nobody stops them. */
EXPORT void run_lanes(const Batch *b, int64_t first, int64_t last)
{
    Job job;
    job.batch = b;
    job.tallies = new_tallies(b, N_RUNS);
    for (job.run = first; job.tallies && job.run < last && !STOPPED(b); job.run += N_RUNS) {
        job.used = last - job.run < N_RUNS ? last - job.run : N_RUNS;
        if (begin_runs(&job))
            continue;
        begin_rows(&job);
        go_on(&job, b->total);
        end_runs(&job);
    }
    free(job.tallies);
}
