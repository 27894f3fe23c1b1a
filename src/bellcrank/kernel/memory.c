/* The memory itself while it may change, else a copy. */
static double *memory_of(Externals *x, int when, int offset, int size, double *copy)
{
    if (x->live & when)
        return x->memory + offset;
    memcpy(copy, x->memory + offset, (size_t)size*sizeof *copy);
    return copy;
}
