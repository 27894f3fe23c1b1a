/* Four Euler parameters brought to unit size, as every step does that is taken. */
static inline void unit_size(real *e)
{
    real size = e[0]*e[0];
    size += e[1]*e[1];
    size += e[2]*e[2];
    size += e[3]*e[3];
    size = ONE_BY_ROOT(size);
    for (int i = 0; i < 4; i++)
        e[i] *= size;
}

/* The same for all Euler parameters of a state. */
static inline void unit_sizes_of(GIVEN real *y)
{
    for (int i = 0; i < N_UNIT; i++)
        unit_size(y + UNIT_AT[i]);
}
