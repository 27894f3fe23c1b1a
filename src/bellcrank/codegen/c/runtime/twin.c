/* @NAMES@, two at a time. */
static inline void @CALLED@(@ARGUMENTS@, double *v)
{
    const double @GIVEN@;
#if defined(BOTH) && !defined(ONE_AT_A_TIME)
    double p0[LOOKUP_PLACE], p1[LOOKUP_PLACE];
    const double *const a0 = lookup_cell(&@FIRST@, x0, p0), *const a1 = lookup_cell(&@SECOND@, x1, p1);
    if (a0 != NULL && a1 != NULL) {
        @PLACES@
        @UNUSED@
        @LINES@
        @RESULTS@
        return;
    }
#endif
    double of[2*@COUNT@];
    look_up(&@FIRST@, x0, of);
    look_up(&@SECOND@, x1, of + @COUNT@);
    for (int k = 0; k < @COUNT@; k++) {
        v[2*k] = of[k];
        v[2*k + 1] = of[@COUNT@ + k];
    }
}
