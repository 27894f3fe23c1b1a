enum { DAE_NEWTON = 10 };       /* most iterations of a projection */
#define DAE_CLOSED 1e-13        /* largest residual of a closed loop, in units of its equations */
#define DAE_REPEATS 1e-09       /* a pivot that means that rows repeat others */
