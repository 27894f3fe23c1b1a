@INPUT@
@JOB@
/* The caller's idea of these structures must be that of this file. */
EXPORT void structure_sizes(int64_t *sizes)
{
    sizes[0] = sizeof(Job);
    sizes[1] = sizeof(Input);
    sizes[2] = sizeof(Externals);
}
