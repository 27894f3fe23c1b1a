
/* Continues a run. Returns the status. */
EXPORT int run(GIVEN Job *job)
{
#if HAS_LOOKS
    if (job->events)
        return run_watched(HERE job, 0);
#endif
    return take_steps(HERE job);
}
