/* @NAMES@, two at a time. */
static inline void @CALLED@(@ARGUMENTS@, double *v)
{
#if defined(BOTH) && !defined(ONE_AT_A_TIME)
    Pair @PAIRS@;
    const double *a0, *a1;
    int inside = 1;
    {
        const double @FIRST@;
        @PLACES@
        @SET_0@
        a0 = @CELLS_0@[@CELL@];
        inside &= @WITHIN@;
    }
    {
        const double @SECOND@;
        @PLACES@
        @SET_1@
        a1 = @CELLS_1@[@CELL@];
        inside &= @WITHIN@;
    }
    if (inside) {
        @NAMED@
        @UNUSED@
        @LINES@
        @RESULTS@
        return;
    }
#endif
    double of[2*@COUNT@];
    @MEMBER_0@
    @MEMBER_1@
    for (int k = 0; k < @COUNT@; k++) {
        v[2*k] = of[k];
        v[2*k + 1] = of[@COUNT@ + k];
    }
}
