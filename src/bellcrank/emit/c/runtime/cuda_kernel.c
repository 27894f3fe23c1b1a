/* One thread per run. `jobs` and `tallies` keep what goes on from one launch to the next: the first one begins runs,
   each goes on to step `to`, and the last one ends them. */
typedef char tally_has_56_bytes[sizeof(Tally) == 56 ? 1 : -1];

extern "C" __global__ void job_size(int64_t *size)
{
    *size = sizeof(Job);
}

extern "C" __global__ void run_all(const Batch *b, Job *jobs, Tally *tallies, int64_t first, int64_t to)
{
    const int64_t run = blockIdx.x*(int64_t)blockDim.x + threadIdx.x;
    if (run >= b->n)
        return;
    Job job;
    if (first) {
        job.batch = b;
        job.run = run;
        job.used = 1;
        job.tallies = tallies + run*b->n_figures;
        if (!begin_runs(&job))
            begin_rows(&job);
    } else {
        job = jobs[run];
    }
    job.method = @METHOD@;
    go_on(&job, to);
    if (to >= b->total)
        end_runs(&job);
    jobs[run] = job;
}
