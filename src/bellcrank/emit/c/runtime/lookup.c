@CELLS@

static inline void @NAME@(@ARGUMENTS@, double *v)
{
    @OUTSIDE@
    @PLACES@
    const double *a = @NAME@_cells[@CELL@];
    @UNUSED@
    @LINES@
    @RESULTS@
}
