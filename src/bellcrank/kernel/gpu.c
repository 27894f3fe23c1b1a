/* One thread per run. `jobs` and `tallies` keep what goes on from one launch to the next: the first one begins runs,
   each goes on to step `to`, and the last one ends them. */
extern "C" {
__constant__ Batch batch;
}

/* Bytes of a job, of a figure, and of the cells of every kind of figure. */
extern "C" __global__ void sizes(int64_t *found)
{
    found[0] = sizeof(Job);
    found[1] = sizeof(Tally);
    for (int32_t kind = 0; kind < N_KINDS; kind++)
        found[2 + kind] = cells_of(kind)*(int64_t)sizeof(int32_t);
}

#if !OWN_VALUES
/* Parameters and constants of all runs, as they are to be put in their places. */
extern "C" __global__ void find_constants(lanes *p, lanes *c)
{
    double found[N_C + 1];
    constants(batch.p, found);
    for (int i = 0; i < N_P; i++)
        p[i] = (lanes)batch.p[i];
    for (int i = 0; i < N_C; i++)
        c[i] = (lanes)found[i];
}

#endif
RARE static void begin_job(Job *job, int64_t run, Tally *tallies)
{
    job->batch = &batch;
    job->run = run;
    job->used = 1;
    job->tallies = tallies + run*batch.n_figures;
    give_cells(&batch, job->tallies, (int32_t *)(tallies + batch.n*batch.n_figures) + run*all_cells(&batch));
    if (!begin_runs(job))
        begin_rows(job);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
run_all(Job *jobs, Tally *tallies, int64_t first, int64_t to)
{
    const int64_t run = blockIdx.x*(int64_t)blockDim.x + threadIdx.x;
    if (run >= batch.n)
        return;
    Job job;
    if (first)
        begin_job(&job, run, tallies);
    else
        job = jobs[run];
    go_on(&job, to);
    if (to >= batch.total)
        end_runs(&job);
    jobs[run] = job;
}
