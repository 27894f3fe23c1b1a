extern "C" void run_on_host(const Batch *b, Job *jobs, Tally *tallies, int64_t first, int64_t to)
{
    batch = *b;
#if !OWN_VALUES
    find_constants(shared_p, shared_c);
#endif
    blockDim.x = THREADS;
    for (blockIdx.x = 0; blockIdx.x*blockDim.x < b->n; blockIdx.x++)
        for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++)
            run_all(jobs, tallies, first, to);
}
