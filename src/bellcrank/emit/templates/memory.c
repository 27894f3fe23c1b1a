/* The memory itself while it may change, else a copy. */
static double *memory_of(Externals *x, int offset, int size, double *copy)
{
    if (x->live)
        return x->memory + offset;
    memcpy(copy, x->memory + offset, (size_t)size*sizeof *copy);
    return copy;
}
